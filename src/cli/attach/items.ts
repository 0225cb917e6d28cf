import { createBlockReader, type Block, type BlockReader } from '../../core/markdown/blocks.ts'
import { clean } from '../format.ts'
import { askedLines } from './asked.ts'
import { callLines } from './calls.ts'
import { diffLines } from './files.ts'
import { blockLines, stacked } from './markdown.ts'
import { span, wrapped, type Line, type Look, type Sheet } from './spans.ts'
import type { Item, Tone } from './transcript.ts'

/** Of what an agent thinks, while calls are closed. */
const THOUGHT_LINES = 4
const MAX_DIFF = 2000

export interface ItemView extends Sheet {
  readonly cwd: string
  /** Calls show what is in them. */
  readonly opened: boolean
}

/** Items as lines. What was made once is kept for as long as the item is, and nothing of it has changed. */
export interface ItemPainter {
  linesOf(item: Item, view: ItemView): Line[]
}

interface Made {
  readonly view: string
  readonly lines: Line[]
}

export function createItemPainter(): ItemPainter {
  const made = new WeakMap<Item, Made>()
  const blocks = new WeakMap<Block, Made>()
  /** Of messages that grow. */
  const readers = new Map<string, BlockReader>()

  function said(item: Item & { kind: 'said' }, view: ItemView): Line[] {
    if (item.nested && !view.opened) return []
    const indent = item.nested ? 4 : 0
    const inner = { ...view, width: Math.max(8, view.width - indent) }
    const lines = item.thinking ? thought(item.text, inner) : answer(item, inner)
    if (item.aborted) lines.push([span('(cut off)', 'dim')])
    return indent === 0 ? lines : lines.map((line) => [span('    '), ...line])
  }

  function answer(item: Item & { kind: 'said' }, view: ItemView): Line[] {
    const reader = readers.get(item.id) ?? createBlockReader()
    if (item.open) readers.set(item.id, reader)
    else readers.delete(item.id)
    return stacked(reader.read(clean(item.text), item.open).map((block) => linesOfBlock(block, view)))
  }

  function linesOfBlock(block: Block, view: ItemView): Line[] {
    const key = `${view.width} ${view.marks}`
    const known = blocks.get(block)
    if (known?.view === key) return known.lines
    const lines = blockLines(block.token, view, block.live)
    blocks.set(block, { view: key, lines })
    return lines
  }

  return {
    linesOf(item, view) {
      const key = `${view.width} ${view.marks} ${view.opened}`
      const known = made.get(item)
      if (known?.view === key) return known.lines
      const lines = item.kind === 'said' ? said(item, view) : otherLines(item, view)
      made.set(item, { view: key, lines })
      return lines
    },
  }
}

const TONES: Readonly<Record<Tone, readonly Look[]>> = {
  dim: ['dim'],
  plain: [],
  warning: ['yellow'],
  bad: ['red'],
}

function otherLines(item: Exclude<Item, { kind: 'said' }>, view: ItemView): Line[] {
  switch (item.kind) {
    case 'user':
      return userLines(item, view)
    case 'call':
      return callLines(item, view, view.cwd, view.opened)
    case 'asked':
      return [
        ...(item.verdict === null || view.opened ? askedLines(item.approval, view, view.cwd) : []),
        ...(item.verdict === null ? [] : wrapped([span(clean(item.verdict), 'dim')], view)),
      ]
    case 'plan': {
      const signs = { done: '[x]', active: '[>]', pending: '[ ]' }
      return item.entries.flatMap(({ text, state }) =>
        wrapped([span(clean(text), ...(state === 'done' ? (['dim'] as const) : []))], {
          ...view,
          first: [span(`  ${signs[state]} `, 'dim')],
          rest: [span('      ')],
        }),
      )
    }
    case 'files':
      return [
        ...wrapped([span(clean(item.title), 'bold')], view),
        ...diffLines(item.files, view, MAX_DIFF),
        ...(item.truncated ? [[span('there is more than was shown', 'dim')]] : []),
      ]
    case 'note':
      return clean(item.text)
        .split('\n')
        .flatMap((line) =>
          wrapped([span(line, ...TONES[item.tone])], { ...view, first: [], rest: [span('  ')] }),
        )
  }
}

function userLines({ text, attached }: Item & { kind: 'user' }, view: ItemView): Line[] {
  const shown = attached.map((name) => `[${name}]`).join(' ')
  const words = [clean(text), shown].filter((part) => part !== '').join('\n')
  return wrapped([span(words, 'bold')], { ...view, first: [span('> ', 'cyan', 'bold')], rest: [span('  ')] })
}

function thought(text: string, view: ItemView): Line[] {
  const lines = wrapped([span(clean(text).trim(), 'dim', 'italic')], view)
  if (view.opened || lines.length <= THOUGHT_LINES) return lines
  const more = lines.length - THOUGHT_LINES
  return [
    ...lines.slice(0, THOUGHT_LINES),
    [span(`… ${more} more line${more === 1 ? '' : 's'} of thought`, 'dim')],
  ]
}

/** Whether an empty line stands between two items: calls and notes stand close to each other. */
export function isApart(before: Item, item: Item): boolean {
  const close = (one: Item): boolean =>
    ['call', 'note', 'plan'].includes(one.kind) || (one.kind === 'asked' && one.verdict !== null)
  return !(close(before) && close(item))
}
