import {
  defaultRangeExtractor,
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
} from '@tanstack/virtual-core'
import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef, useState } from 'preact/hooks'

export interface VirtualLinesProps {
  keys: readonly string[]
  /** What a line is like: lines of one kind are mostly of one height. */
  kind(index: number): string
  line(index: number): ComponentChildren
  /** These stay even when they are out of sight: something in them has the focus. */
  kept: readonly number[]
  /** This line is to be seen, at the top if told; another number for each wish. */
  seek: { index: number; wish: number; align?: 'auto' | 'start' } | null
}

type Lines = Virtualizer<HTMLElement, HTMLElement>

const FIRST_GUESS_PX = 50

/** Lines of a long list, of which only those near the visible part are there. The page's own scroller moves them. */
export function VirtualLines({ keys, kind, line, kept, seek }: VirtualLinesProps) {
  const root = useRef<HTMLDivElement>(null)
  const lines = useLines(root, { keys, kind, kept })
  useLayoutEffect(() => {
    if (seek && seek.index >= 0) lines.scrollToIndex(seek.index, { align: seek.align ?? 'auto' })
  }, [seek?.wish])
  const margin = lines.options.scrollMargin
  return (
    <div class="virtual-list" ref={root} style={{ height: `${lines.getTotalSize()}px` }}>
      {lines.getVirtualItems().map(({ key, index, start }) => (
        <div
          key={key}
          class="virtual-list-line"
          data-index={index}
          ref={lines.measureElement}
          style={{ transform: `translateY(${start - margin}px)` }}
        >
          {line(index)}
        </div>
      ))}
    </div>
  )
}

function useLines(
  root: { current: HTMLElement | null },
  { keys, kind, kept }: Pick<VirtualLinesProps, 'keys' | 'kind' | 'kept'>,
): Lines {
  const [, draw] = useState(0)
  const [margin, setMargin] = useState(0)
  const made = useRef<Lines | null>(null)
  const heights = useRef(new Map<string, number>())
  const options = {
    count: keys.length,
    getScrollElement: () => document.getElementById('main'),
    estimateSize: (index: number) => heights.current.get(kind(index)) ?? FIRST_GUESS_PX,
    getItemKey: (index: number) => keys[index]!,
    overscan: 12,
    scrollMargin: margin,
    scrollPaddingStart: 48,
    scrollPaddingEnd: 48,
    scrollToFn: elementScroll,
    observeElementRect,
    observeElementOffset,
    rangeExtractor: (range: Parameters<typeof defaultRangeExtractor>[0]) => {
      const near = defaultRangeExtractor(range)
      return [...new Set([...near, ...kept.filter((index) => index >= 0 && index < keys.length)])].sort(
        (a, b) => a - b,
      )
    },
    onChange: () => draw((count) => count + 1),
  }
  made.current ??= new Virtualizer(options)
  made.current.setOptions(options)
  useLayoutEffect(() => made.current!._didMount(), [])
  useLayoutEffect(() => {
    made.current!._willUpdate()
    learnHeights(made.current!, kind, heights.current)
  })
  // To ask where it is makes the browser lay the page out: not with every frame of scrolling.
  useLayoutEffect(() => setMargin(topIn(root.current)), [keys.length])
  return made.current
}

/**
 * What the lowest of the first lines of each kind measures is what the others are taken to: a wrong guess moves the page as it
 * scrolls. What was measured still holds: nobody measures again a line that stays as it is.
 */
function learnHeights(lines: Lines, kind: (index: number) => string, heights: Map<string, number>): void {
  const learnt = new Map<string, number>()
  for (const { index, key } of lines.getVirtualItems()) {
    const height = lines.itemSizeCache.get(key)
    const name = kind(index)
    if (height === undefined || heights.has(name)) continue
    learnt.set(name, Math.min(height, learnt.get(name) ?? height))
  }
  if (learnt.size === 0) return
  for (const [name, height] of learnt) heights.set(name, height)
  const measured = [...lines.itemSizeCache]
  lines.measure()
  for (const [key, height] of measured) lines.itemSizeCache.set(key, height)
}

/** Where it begins in what is scrolled. */
function topIn(element: HTMLElement | null): number {
  const scroller = document.getElementById('main')
  if (!element || !scroller) return 0
  return element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop
}
