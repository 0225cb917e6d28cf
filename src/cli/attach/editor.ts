import { graphemes, graphemeWidth } from './width.ts'

/** A text that is being written. */
export interface Draft {
  readonly text: string
  /** Between two characters, as an index into the text. */
  readonly cursor: number
  /** The column that moves up and down keep to; null: the cursor's own. */
  readonly goal: number | null
  /** What was cut last. */
  readonly killed: string
}

export const EMPTY: Draft = { text: '', cursor: 0, goal: null, killed: '' }

export function draftOf(text: string, killed = ''): Draft {
  return { text, cursor: text.length, goal: null, killed }
}

export function inserted(draft: Draft, piece: string): Draft {
  const { text, cursor } = draft
  return {
    ...draft,
    text: text.slice(0, cursor) + piece + text.slice(cursor),
    cursor: cursor + piece.length,
    goal: null,
  }
}

/** The part in place of what stands from one index to the other. */
export function replaced(draft: Draft, from: number, to: number, piece: string): Draft {
  const text = draft.text.slice(0, from) + piece + draft.text.slice(to)
  return { ...draft, text, cursor: from + piece.length, goal: null }
}

/** One row of a text as it is shown. */
export interface Row {
  readonly from: number
  readonly to: number
}

/** The rows of a text at a width, and where the cursor is in them. A row ends where the width does. */
export function rowsOf(text: string, width: number): Row[] {
  const rows: Row[] = []
  let from = 0
  for (const line of text.split('\n')) {
    let [start, used, at] = [from, 0, from]
    for (const grapheme of graphemes(line)) {
      const wide = grapheme === '\t' ? 4 : graphemeWidth(grapheme)
      if (used + wide > width && at > start) {
        rows.push({ from: start, to: at })
        start = at
        used = 0
      }
      used += wide
      at += grapheme.length
    }
    rows.push({ from: start, to: at })
    from = at + 1
  }
  return rows
}

export interface Place {
  row: number
  column: number
}

export function placeOf(text: string, cursor: number, rows: readonly Row[]): Place {
  // Where one row ends and the next begins without a line feed, the cursor is in the next.
  const row = Math.max(
    0,
    rows.findLastIndex(({ from }) => from <= cursor),
  )
  return { row, column: columnsOf(text.slice(rows[row]?.from ?? 0, cursor)) }
}

function columnsOf(text: string): number {
  return graphemes(text).reduce((sum, one) => sum + (one === '\t' ? 4 : graphemeWidth(one)), 0)
}

/** Up or down by a row; null: there is no row there. */
function movedBy(draft: Draft, step: -1 | 1, width: number): Draft | null {
  const rows = rowsOf(draft.text, width)
  const { row, column } = placeOf(draft.text, draft.cursor, rows)
  const target = rows[row + step]
  if (!target) return null
  const goal = draft.goal ?? column
  let [cursor, used] = [target.from, 0]
  for (const grapheme of graphemes(draft.text.slice(target.from, target.to))) {
    const wide = graphemeWidth(grapheme)
    const isLast =
      cursor + grapheme.length >= target.to && draft.text[target.to] !== '\n' && target.to < draft.text.length
    if (used + wide > goal || isLast) break
    cursor += grapheme.length
    used += wide
  }
  return { ...draft, cursor, goal }
}

const at = (draft: Draft, cursor: number): Draft => ({ ...draft, cursor, goal: null })

function lineStart({ text, cursor }: Draft): number {
  return text.lastIndexOf('\n', cursor - 1) + 1
}

function lineEnd({ text, cursor }: Draft): number {
  const end = text.indexOf('\n', cursor)
  return end < 0 ? text.length : end
}

function before({ text, cursor }: Draft): number {
  return cursor - (graphemes(text.slice(Math.max(0, cursor - 64), cursor)).at(-1)?.length ?? 0)
}

function after({ text, cursor }: Draft): number {
  return cursor + (graphemes(text.slice(cursor, cursor + 64))[0]?.length ?? 0)
}

/** A word is letters and digits, or else a run of other signs. */
function wordStart({ text, cursor }: Draft): number {
  return /(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?\s*$/u.exec(text.slice(0, cursor))!.index
}

function wordEnd({ text, cursor }: Draft): number {
  return cursor + /^\s*(?:[\p{L}\p{N}_]+|[^\p{L}\p{N}_\s]+)?/u.exec(text.slice(cursor))![0].length
}

/** Up to the space before: as a shell does it. */
function wordBefore({ text, cursor }: Draft): number {
  return /\S*\s*$/.exec(text.slice(0, cursor))!.index
}

/** What stands between the cursor and another place is gone; `keep`: it can be put back. */
function removed(draft: Draft, place: number, keep = false): Draft {
  const [from, to] = [Math.min(place, draft.cursor), Math.max(place, draft.cursor)]
  const killed = keep && to > from ? draft.text.slice(from, to) : draft.killed
  return { ...replaced(draft, from, to, ''), killed }
}

type Edit = (draft: Draft, width: number) => Draft | null

const EDITS: Readonly<Record<string, Edit>> = {
  left: (draft) => at(draft, before(draft)),
  right: (draft) => at(draft, after(draft)),
  'ctrl+left': (draft) => at(draft, wordStart(draft)),
  'ctrl+right': (draft) => at(draft, wordEnd(draft)),
  home: (draft) => at(draft, lineStart(draft)),
  end: (draft) => at(draft, lineEnd(draft)),
  'ctrl+home': (draft) => at(draft, 0),
  'ctrl+end': (draft) => at(draft, draft.text.length),
  up: (draft, width) => movedBy(draft, -1, width),
  down: (draft, width) => movedBy(draft, 1, width),
  backspace: (draft) => removed(draft, before(draft)),
  delete: (draft) => removed(draft, after(draft)),
  'ctrl+k': (draft) => removed(draft, killedEnd(draft), true),
  'ctrl+u': (draft) => removed(draft, killedStart(draft), true),
  'ctrl+w': (draft) => removed(draft, wordBefore(draft), true),
  'alt+backspace': (draft) => removed(draft, wordStart(draft), true),
  'alt+d': (draft) => removed(draft, wordEnd(draft), true),
  'ctrl+y': (draft) => inserted(draft, draft.killed),
  'ctrl+j': (draft) => inserted(draft, '\n'),
}

const SAME: Readonly<Record<string, string>> = {
  'ctrl+b': 'left',
  'ctrl+f': 'right',
  'alt+b': 'ctrl+left',
  'alt+f': 'ctrl+right',
  'alt+left': 'ctrl+left',
  'alt+right': 'ctrl+right',
  'ctrl+a': 'home',
  'ctrl+e': 'end',
  'ctrl+p': 'up',
  'ctrl+n': 'down',
  'ctrl+d': 'delete',
  'ctrl+delete': 'alt+d',
  'ctrl+backspace': 'ctrl+w',
  'shift+backspace': 'backspace',
  'shift+enter': 'ctrl+j',
  'alt+enter': 'ctrl+j',
}

/** To the end of the line, and then the line feed. */
function killedEnd(draft: Draft): number {
  const end = lineEnd(draft)
  return end === draft.cursor ? Math.min(draft.text.length, end + 1) : end
}

function killedStart(draft: Draft): number {
  const start = lineStart(draft)
  return start === draft.cursor ? Math.max(0, start - 1) : start
}

/** What a key does to a text. Null: nothing, it is up to others what it means. */
export function edited(draft: Draft, key: string, width: number): Draft | null {
  return EDITS[SAME[key] ?? key]?.(draft, width) ?? null
}
