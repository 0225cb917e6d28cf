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
  /** A first guess, in pixels. */
  estimate(index: number): number
  line(index: number): ComponentChildren
  /** These stay even when they are out of sight: something in them has the focus. */
  kept: readonly number[]
  /** This line is to be seen, at the top if told; another number for each wish. */
  seek: { index: number; wish: number; align?: 'auto' | 'start' } | null
}

type Lines = Virtualizer<HTMLElement, HTMLElement>

/** Lines of a long list, of which only those near the visible part are there. The page's own scroller moves them. */
export function VirtualLines({ keys, estimate, line, kept, seek }: VirtualLinesProps) {
  const root = useRef<HTMLDivElement>(null)
  const lines = useLines(root, { keys, estimate, kept })
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
          ref={(element) => lines.measureElement(element)}
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
  { keys, estimate, kept }: Pick<VirtualLinesProps, 'keys' | 'estimate' | 'kept'>,
): Lines {
  const [, draw] = useState(0)
  const [margin, setMargin] = useState(0)
  const made = useRef<Lines | null>(null)
  const options = {
    count: keys.length,
    getScrollElement: () => document.getElementById('main'),
    estimateSize: estimate,
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
    const top = topIn(root.current)
    if (Math.abs(top - margin) > 1) setMargin(top)
  })
  return made.current
}

/** Where it begins in what is scrolled. */
function topIn(element: HTMLElement | null): number {
  const scroller = document.getElementById('main')
  if (!element || !scroller) return 0
  return element.getBoundingClientRect().top - scroller.getBoundingClientRect().top + scroller.scrollTop
}
