import type { styleText } from 'node:util'
import { graphemes, graphemeWidth, widthOf } from './width.ts'

type Format = Parameters<typeof styleText>[0]
export type Look = Exclude<Format, readonly unknown[]>

/** A piece of a line, and how it looks. */
export interface Span {
  readonly text: string
  readonly looks: readonly Look[]
}

/** A line of a screen. */
export type Line = readonly Span[]

/** What lines are made for. */
export interface Sheet {
  readonly width: number
  /** Signs in place of colours. */
  readonly marks: boolean
}

const PLAIN: readonly Look[] = []

export function span(text: string, ...looks: Look[]): Span {
  return { text, looks: looks.length === 0 ? PLAIN : looks }
}

export function lineWidth(line: Line): number {
  return line.reduce((sum, { text }) => sum + widthOf(text), 0)
}

export function textOfLine(line: Line): string {
  return line.map(({ text }) => text).join('')
}

interface Cell {
  text: string
  width: number
  looks: readonly Look[]
}

/** Tabs are given a width here: nothing else knows how wide they are. */
function cellsOf(spans: Line): Cell[] {
  const cells: Cell[] = []
  for (const { text, looks } of spans) {
    for (const grapheme of graphemes(text.replaceAll('\t', '    '))) {
      cells.push({ text: grapheme, width: graphemeWidth(grapheme), looks })
    }
  }
  return cells
}

function joined(cells: readonly Cell[]): Line {
  const spans: { text: string; looks: readonly Look[] }[] = []
  for (const { text, looks } of cells) {
    const last = spans.at(-1)
    if (last && last.looks === looks) last.text += text
    else spans.push({ text, looks })
  }
  return spans
}

export interface Wrapping {
  width: number
  /** Stands before the first line, and before all others. */
  first?: Line
  rest?: Line
  /** Lines end where the width does, also in the middle of a word. */
  hard?: boolean
}

const BREAK = /\n/

/** Spans as lines of a width. A line feed begins a line. */
export function wrapped(spans: Line, { width, first = [], rest = first, hard = false }: Wrapping): Line[] {
  const lines: Line[] = []
  for (const part of paragraphs(spans)) {
    let cells = cellsOf(part)
    do {
      const before = lines.length === 0 ? first : rest
      const room = Math.max(1, width - lineWidth(before))
      const { line, left } = cut(cells, room, hard)
      lines.push(line.length === 0 && lineWidth(before) > 0 ? trimmed(before) : [...before, ...joined(line)])
      cells = left
    } while (cells.length > 0)
  }
  return lines
}

/** What stands before an empty line has no spaces at its end. */
function trimmed(line: Line): Line {
  const last = line.at(-1)!
  return [...line.slice(0, -1), { ...last, text: last.text.trimEnd() }]
}

function paragraphs(spans: Line): Line[] {
  const parts: Span[][] = [[]]
  for (const { text, looks } of spans) {
    const [head = '', ...others] = BREAK.test(text) ? text.split('\n') : [text]
    if (head !== '') parts.at(-1)!.push({ text: head, looks })
    for (const other of others) parts.push(other === '' ? [] : [{ text: other, looks }])
  }
  return parts
}

/** As many cells as fit, up to the last space if there is one. */
function cut(cells: readonly Cell[], width: number, hard: boolean): { line: Cell[]; left: Cell[] } {
  let used = 0
  let end = 0
  let space = -1
  while (end < cells.length) {
    const cell = cells[end]!
    // A cell that is wider than all there is stands alone.
    if (used + cell.width > width && end > 0) break
    if (cell.text === ' ') space = end
    used += cell.width
    end++
  }
  if (end === cells.length) return { line: cells.slice(), left: [] }
  if (hard) return { line: cells.slice(0, end), left: cells.slice(end) }
  if (cells[end]!.text === ' ') space = end
  const isWord = cells.slice(0, Math.max(0, space)).some(({ text }) => text !== ' ')
  if (space <= 0 || !isWord) return { line: cells.slice(0, end), left: cells.slice(end) }
  let next = space
  while (cells[next]?.text === ' ') next++
  let last = space
  while (last > 0 && cells[last - 1]!.text === ' ') last--
  return { line: cells.slice(0, last), left: cells.slice(next) }
}

/** One line, cut to a width with a sign where something is missing. */
export function fittedLine(spans: Line, width: number): Line {
  if (lineWidth(spans) <= width) return spans
  const kept: Cell[] = []
  let used = 0
  for (const cell of cellsOf(spans)) {
    if (used + cell.width > width - 1) break
    kept.push(cell)
    used += cell.width
  }
  const looks = kept.at(-1)?.looks ?? PLAIN
  return width <= 0 ? [] : joined([...kept, { text: '…', width: 1, looks }])
}
