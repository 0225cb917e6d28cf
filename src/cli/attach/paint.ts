/** A row of the screen. The same key is the same row, also where it stands elsewhere or says something else. */
export interface Row {
  /** Empty: it always stands below all others. */
  readonly key: string
  /** With its colours, never wider than the screen. */
  readonly text: string
}

/** What is on the screen of what was written, and where the cursor is. */
export interface Shown {
  readonly rows: readonly Row[]
  readonly cursor: number
}

/** Nothing was written yet: all rows are. */
export const NOTHING_SHOWN: Shown = { rows: [], cursor: 0 }

/** All was wiped away: as many rows are written as the screen has. */
export const WIPED: Shown = { rows: [], cursor: 0 }

/** Without a line that is drawn in two halves, where a terminal can; and nothing goes on in the next row by itself. */
const BEGIN = '\u001b[?2026h\u001b[?25l\u001b[?7l'
/** The first column. */
const FIRST = '\u001b[G'
const END = '\u001b[?7h\u001b[?25h\u001b[?2026l'

/**
 * What to write so that the screen shows these rows. What has left it at its top is the terminal's, for whoever scrolls back:
 * it is written once and stays as it was. Only rows that are different are written.
 */
export function painted(
  before: Shown,
  rows: readonly Row[],
  cursor: { row: number; column: number },
  height: number,
): { text: string; shown: Shown } {
  const from = beginning(before, rows, height)
  const tail = rows.slice(from)
  const first = firstChange(before.rows, tail)
  let text = ''
  let at = before.cursor
  const moveTo = (row: number): void => {
    text += row < at ? `\u001b[${at - row}A` : '\r\n'.repeat(row - at)
    at = row
  }
  for (let row = first; row < tail.length; row++) {
    if (before.rows[row]?.text === tail[row]!.text) continue
    moveTo(row)
    text += `${FIRST}${tail[row]!.text}\u001b[K`
  }
  if (tail.length < before.rows.length) {
    moveTo(tail.length)
    text += `${FIRST}\u001b[J`
  }
  // Below the last row there is nothing to go back from.
  const hidden = Math.max(0, Math.max(tail.length, at + 1) - height)
  const target = Math.max(hidden, Math.min(cursor.row - from, Math.max(0, tail.length)))
  moveTo(target)
  text += `${FIRST}${cursor.column > 0 ? `\u001b[${cursor.column}C` : ''}`
  const shown = { rows: tail.slice(hidden), cursor: target - hidden }
  return { text: `${BEGIN}${text}${END}`, shown }
}

/** The row that the screen begins with: the one that it began with before, if it is still there. */
function beginning(before: Shown, rows: readonly Row[], height: number): number {
  const [top] = before.rows
  if (before === NOTHING_SHOWN) return 0
  const full = Math.max(0, rows.length - height)
  // Nothing stood above it.
  if (top?.key === '' && before.rows.length < height) return 0
  const at = top && top.key !== '' ? rows.findLastIndex(({ key }) => key === top.key) : -1
  // Much has gone, and the screen would be half empty.
  const isShort = at > full && rows.length - at < Math.min(before.rows.length, height) / 2
  return at < 0 || isShort ? full : at
}

function firstChange(before: readonly Row[], after: readonly Row[]): number {
  const at = after.findIndex((row, index) => before[index]?.text !== row.text)
  return at < 0 ? after.length : at
}

/** What to write before everything is drawn anew after the width has changed: terminals break their long rows themselves. */
export function unpainted(
  { rows, cursor }: Shown,
  columns: number,
  height: number,
  widthOf: (text: string) => number,
): string {
  const above = rows
    .slice(0, cursor)
    .reduce((sum, { text }) => sum + Math.max(1, Math.ceil(widthOf(text) / columns)), 0)
  const up = Math.min(above, height - 1)
  return `${up > 0 ? `\u001b[${up}A` : ''}${FIRST}\u001b[J`
}
