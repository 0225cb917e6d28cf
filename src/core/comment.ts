import type { ChangeLine, Hunk } from './file-change.ts'

/** What a person has to say about lines of a change; a row of the `comments` read model. */
export interface Comment {
  id: string
  sessionId: string
  path: string
  /** Which version `line` and `endLine` count in. */
  side: 'old' | 'new'
  line: number
  endLine: number
  text: string
  /** The lines that it speaks about and a few around them, as they were. */
  hunk: Hunk
  createdAt: number
  /** The turn in which the agent was told; null: it was not. */
  sentIn: string | null
}

/** So many lines around those that a comment speaks about are kept. */
const AROUND = 3

/** So much of the code goes into the message. */
const MAX_SHOWN = 40

/** So much of each line is kept. */
const MAX_LINE = 1000

/** The part of a hunk that a comment is about; null: its lines are not in there. */
export function aboutLines(
  { side, line, endLine }: Pick<Comment, 'side' | 'line' | 'endLine'>,
  hunk: Hunk,
): Hunk | null {
  const isMeant = (one: ChangeLine): boolean => isAt(one, { side, line, endLine })
  const first = hunk.lines.findIndex(isMeant)
  if (first < 0) return null
  const last = hunk.lines.findLastIndex(isMeant)
  const lines = hunk.lines
    .slice(Math.max(0, first - AROUND), last + 1 + AROUND)
    .map((one) => ({ ...one, text: one.text.slice(0, MAX_LINE) }))
  const numbers = (of: 'old' | 'new'): number[] => lines.flatMap((one) => one[of] ?? [])
  const [old, now] = [numbers('old'), numbers('new')]
  return {
    oldStart: old[0] ?? hunk.oldStart,
    oldLines: old.length,
    newStart: now[0] ?? hunk.newStart,
    newLines: now.length,
    header: hunk.header.slice(0, MAX_LINE),
    lines,
  }
}

function isAt(one: ChangeLine, { side, line, endLine }: Pick<Comment, 'side' | 'line' | 'endLine'>): boolean {
  const number = one[side]
  return number !== null && number >= line && number <= endLine
}

function spokenOf(comment: Comment): ChangeLine[] {
  return comment.hunk.lines.filter((one) => isAt(one, comment))
}

/** The lines of a file, as `isStale` compares them. */
export function linesOf(text: string): string[] {
  return text.split('\n').map(comparable)
}

function comparable(line: string): string {
  return line.slice(0, MAX_LINE).replace(/\r$/, '')
}

/**
 * Whether the lines that a comment speaks about are not there any more, or, of lines that were removed, are there again.
 * `lines` are those of the file as it is now; null: it is gone.
 */
export function isStale(comment: Comment, lines: readonly string[] | null): boolean {
  const spoken = spokenOf(comment)
  const wasRemoved = spoken.some(({ kind }) => kind === '-')
  const wanted = spoken.map(({ text }) => comparable(text))
  return (lines !== null && hasInside(lines, wanted)) === wasRemoved
}

/** Knuth, Morris and Pratt: never goes back, however much a file repeats itself. */
function hasInside(lines: readonly string[], wanted: readonly string[]): boolean {
  const back: number[] = [0]
  const advance = (line: string, from: number): number => {
    let at = from
    while (at > 0 && line !== wanted[at]) at = back[at - 1]!
    return line === wanted[at] ? at + 1 : at
  }
  for (let n = 1; n < wanted.length; n++) back[n] = advance(wanted[n]!, back[n - 1]!)
  let found = 0
  return lines.some((line) => (found = advance(line, found)) === wanted.length)
}

/** All comments as one message, file by file. */
export function reviewMessage(comments: readonly Comment[], note: string | null): string {
  const sorted = comments.toSorted((a, b) => (a.path === b.path ? a.line - b.line : a.path < b.path ? -1 : 1))
  const parts = sorted.map((comment) => [`${placeOf(comment)}:`, codeOf(comment), comment.text].join('\n\n'))
  return [...(note === null ? ['Review of the changes:'] : [note]), ...parts].join('\n\n')
}

function placeOf({ path, side, line, endLine }: Comment): string {
  const lines = endLine > line ? `lines ${line}-${endLine}` : `line ${line}`
  return `${JSON.stringify(path).slice(1, -1)}, ${lines}${side === 'old' ? ' (before the change)' : ''}`
}

/** No line of the code ends the block that it is in. */
function codeOf(comment: Comment): string {
  const spoken = spokenOf(comment)
  const shown = spoken.slice(0, MAX_SHOWN).map(({ kind, text }) => `${kind}${text}`)
  const rest = spoken.length > MAX_SHOWN ? [`… ${spoken.length - MAX_SHOWN} more lines`] : []
  const code = [...shown, ...rest].join('\n')
  const longest = Math.max(2, ...Array.from(code.matchAll(/`+/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(longest + 1)
  return `${fence}diff\n${code}\n${fence}`
}
