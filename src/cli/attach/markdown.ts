import type { MarkedToken, Token, Tokens } from 'marked'
import { segmentsOf } from '../../core/markdown/highlight.ts'
import { fenceLanguage, piecesOf, type Piece } from '../../core/markdown/segments.ts'
import { clean } from '../format.ts'
import { inlineSpans } from './inline.ts'
import { span, wrapped, type Line, type Look, type Sheet } from './spans.ts'
import { tableLines } from './table.ts'

/** Longer code is shown without colours. */
const MAX_CODE = 60_000
const MAX_DEPTH = 16

/** A block of Markdown as lines. Nothing of it can be anything but text: escape codes and tags are no part of it any more. */
export function blockLines(given: Token, sheet: Sheet, live = false, depth = 0): Line[] {
  const token = given as MarkedToken
  if (depth > MAX_DEPTH) return wrapped([span(clean(token.raw.trimEnd()))], sheet)
  switch (token.type) {
    case 'paragraph':
      return wrapped(inlineSpans(token.tokens, sheet.marks), sheet)
    case 'text':
      return wrapped(inlineSpans(token.tokens ?? [token], sheet.marks), sheet)
    case 'heading':
      return heading(token, sheet)
    case 'code':
      return codeLines(token.lang ?? '', token.text, sheet, live)
    case 'list':
      return list(token, sheet, live, depth)
    case 'blockquote':
      return quote(token, sheet, live, depth)
    case 'table':
      return tableLines(token, sheet)
    case 'hr':
      return [[span('─'.repeat(Math.min(sheet.width, 40)), 'dim')]]
    case 'space':
    case 'def':
      return []
    default:
      return wrapped([span(clean(token.raw.trimEnd()))], sheet)
  }
}

/** Blocks one below the other, with an empty line between them. */
export function stacked(blocks: readonly Line[][]): Line[] {
  const lines: Line[] = []
  for (const block of blocks) {
    if (block.length === 0) continue
    if (lines.length > 0) lines.push([])
    lines.push(...block)
  }
  return lines
}

function heading({ depth, tokens }: Tokens.Heading, sheet: Sheet): Line[] {
  const looks: Look[] = depth === 1 ? ['bold', 'underline'] : ['bold']
  const first = sheet.marks ? [span(`${'#'.repeat(depth)} `)] : []
  return wrapped(inlineSpans(tokens, sheet.marks, looks), { ...sheet, first, rest: [] })
}

function list(token: Tokens.List, sheet: Sheet, live: boolean, depth: number): Line[] {
  const { ordered, start, items, loose } = token
  const from = typeof start === 'number' ? start : 1
  const wide = ordered ? String(from + items.length - 1).length + 2 : 2
  const blocks = items.map((item, at) => {
    const sign = ordered ? `${from + at}.`.padStart(wide - 1) : '•'
    const first = [span(`${sign} `.padEnd(wide), 'dim')]
    const inner = { ...sheet, width: Math.max(8, sheet.width - wide) }
    return indented(itemLines(item, inner, live, depth), first, wide)
  })
  return loose ? stacked(blocks) : blocks.flat()
}

function itemLines(item: Tokens.ListItem, sheet: Sheet, live: boolean, depth: number): Line[] {
  const tokens = item.tokens.filter(({ type }) => type !== 'checkbox')
  const blocks = tokens.map((one) => blockLines(one, sheet, live, depth + 1))
  const lines = item.loose ? stacked(blocks) : blocks.flat()
  const [first = [], ...rest] = lines
  return item.task ? [[span(item.checked ? '[x] ' : '[ ] '), ...first], ...rest] : [first, ...rest]
}

function indented(lines: readonly Line[], first: Line, wide: number): Line[] {
  const rest = span(' '.repeat(wide))
  return lines.map((line, at) => (at === 0 ? [...first, ...line] : line.length === 0 ? [] : [rest, ...line]))
}

function quote({ tokens }: Tokens.Blockquote, sheet: Sheet, live: boolean, depth: number): Line[] {
  const inner = { ...sheet, width: Math.max(8, sheet.width - 2) }
  const lines = stacked(tokens.map((one) => blockLines(one, inner, live, depth + 1)))
  return lines.map((line) => [span('│ ', 'dim'), ...line])
}

const COLOURS: Readonly<Record<Piece['kind'], readonly Look[]>> = {
  '': [],
  keyword: ['magenta'],
  string: ['green'],
  comment: ['dim'],
  number: ['yellow'],
  title: ['blue'],
  type: ['cyan'],
  attr: ['cyan'],
  literal: ['yellow'],
  meta: ['dim'],
  tag: ['blue'],
  addition: ['green'],
  deletion: ['red'],
  section: ['bold'],
}

/** Code in its colours. What still grows gets them when it is complete. */
function codeLines(info: string, given: string, sheet: Sheet, live: boolean): Line[] {
  const text = clean(given)
  const language = fenceLanguage(info)
  const segments = live || language === '' || text.length > MAX_CODE ? [] : segmentsOf(language, text)
  const first = [span('  ')]
  const fence = (words: string): Line[] => (sheet.marks ? [[span(words)]] : [])
  const lines: Line[] = []
  let from = 0
  for (const line of text.split('\n')) {
    const pieces = piecesOf(text, segments, from, from + line.length)
    const spans = pieces.map((piece) => span(piece.text, ...COLOURS[piece.kind]))
    lines.push(...wrapped(spans, { width: sheet.width, first, hard: true }))
    from += line.length + 1
  }
  return [...fence(`\`\`\`${language}`), ...lines, ...fence('```')]
}
