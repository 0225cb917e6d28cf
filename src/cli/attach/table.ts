import type { Tokens } from 'marked'
import { inlineSpans } from './inline.ts'
import { lineWidth, span, wrapped, type Line, type Sheet } from './spans.ts'

/** Of a column. */
const LEAST = 6
const BETWEEN = 3

/** A table, with cells in several lines where it would be too wide; where even that does not help, row by row. */
export function tableLines(token: Tokens.Table, sheet: Sheet): Line[] {
  const rows = [token.header, ...token.rows].map((row) =>
    row.map((cell) => inlineSpans(cell.tokens, sheet.marks, row === token.header ? ['bold'] : [])),
  )
  const wanted = token.header.map((_, at) => Math.max(1, ...rows.map((row) => lineWidth(row[at] ?? []))))
  const widths = columnsWithin(wanted, sheet.width - BETWEEN * (wanted.length - 1))
  if (widths === null) return records(rows, sheet)
  const [head = [], ...body] = rows.map((row) => rowLines(row, widths, token.align))
  const rule = [span(widths.map((width) => '─'.repeat(width)).join('─┼─'), 'dim')]
  return [...head, rule, ...body.flat()]
}

/** The widest give what is missing; null: there is not enough for all. */
function columnsWithin(wanted: readonly number[], width: number): number[] | null {
  const widths = [...wanted]
  let over = widths.reduce((sum, one) => sum + one, 0) - width
  while (over > 0) {
    const most = Math.max(...widths)
    if (most <= LEAST) return null
    const next = Math.max(LEAST, ...widths.filter((one) => one < most))
    const at = widths.indexOf(most)
    const less = Math.min(over, Math.max(1, most - next))
    widths[at]! -= less
    over -= less
  }
  return widths
}

function rowLines(row: readonly Line[], widths: readonly number[], align: Tokens.Table['align']): Line[] {
  const cells = widths.map((width, at) => wrapped(row[at] ?? [], { width }))
  const height = Math.max(...cells.map((lines) => lines.length))
  return Array.from({ length: height }, (_, line) =>
    cells.flatMap((lines, at) => {
      const before = at === 0 ? [] : [span(' │ ', 'dim')]
      return [
        ...before,
        ...padded(lines[line] ?? [], widths[at]!, align[at] ?? null, at === widths.length - 1),
      ]
    }),
  )
}

function padded(line: Line, width: number, align: 'left' | 'right' | 'center' | null, isLast: boolean): Line {
  const free = Math.max(0, width - lineWidth(line))
  const before = align === 'right' ? free : align === 'center' ? Math.floor(free / 2) : 0
  const after = isLast ? 0 : free - before
  const spaces = (count: number): Line => (count > 0 ? [span(' '.repeat(count))] : [])
  return [...spaces(before), ...line, ...spaces(after)]
}

function records([head = [], ...rows]: readonly (readonly Line[])[], sheet: Sheet): Line[] {
  return rows.flatMap((row, at) => [
    ...(at === 0 ? [] : [[]]),
    ...row.flatMap((cell, column) =>
      wrapped([...(head[column] ?? []), span(': '), ...cell], { ...sheet, rest: [span('  ')] }),
    ),
  ])
}
