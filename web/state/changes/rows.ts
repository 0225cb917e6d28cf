import type { ChangeLine, FileChange, Hunk } from '../../../src/core/file-change.ts'
import { foldReason, type FoldReason } from './folded.ts'
import { lineKey, type Place, type Side } from './place.ts'

/** What the view needs of a comment to put it at its line. */
export interface Anchored {
  id: string
  path: string
  side: Side
  line: number
  endLine: number
}

/** A line of one version, or the same line of both; it is named by its place in its hunk. */
export interface LineRow {
  kind: 'line'
  key: string
  file: FileChange
  hunk: Hunk
  at: number
}

/** Lines that stand beside each other; null: there is nothing on that side. */
export interface PairRow {
  kind: 'pair'
  key: string
  file: FileChange
  hunk: Hunk
  left: number | null
  right: number | null
}

/** One row of the view. All of them together are the page; only those in sight are drawn. */
export type Row<C extends Anchored> =
  | {
      kind: 'file'
      key: string
      file: FileChange
      isOpen: boolean
      reason: FoldReason | null
      comments: number
    }
  | { kind: 'hunk'; key: string; file: FileChange; hunk: Hunk }
  | LineRow
  | PairRow
  | { kind: 'note'; key: string; file: FileChange; text: string; isCut: boolean }
  | { kind: 'comments'; key: string; file: FileChange; comments: readonly C[] }
  | { kind: 'editor'; key: string; file: FileChange; place: Place }

export interface RowOptions<C extends Anchored> {
  split: boolean
  /** Files that somebody has opened or folded, by path. */
  toggled: ReadonlyMap<string, boolean>
  comments: readonly C[]
  /** Where a comment is being written. */
  editing: Place | null
}

/** The whole view, from the top to the bottom. */
export function rowsOf<C extends Anchored>(files: readonly FileChange[], options: RowOptions<C>): Row<C>[] {
  const rows: Row<C>[] = []
  const anchors = anchorsOf(options.comments)
  for (const file of files) {
    const reason = foldReason(file)
    const isOpen = options.toggled.get(file.path) ?? reason === null
    const comments = options.comments.filter(({ path }) => path === file.path).length
    rows.push({ kind: 'file', key: `f:${file.path}`, file, isOpen, reason, comments })
    if (isOpen) addFile(rows, file, { ...options, anchors })
  }
  return rows
}

type FileOptions<C extends Anchored> = Pick<RowOptions<C>, 'split' | 'editing'> & {
  anchors: Map<string, C[]>
}

function addFile<C extends Anchored>(rows: Row<C>[], file: FileChange, options: FileOptions<C>): void {
  const { path, truncated } = file
  const text = noteOn(file)
  if (text !== null) rows.push({ kind: 'note', key: `n:${path}`, file, text, isCut: false })
  for (const [index, hunk] of file.hunks.entries()) {
    rows.push({ kind: 'hunk', key: `h:${index}:${path}`, file, hunk })
    // A line is another one side by side: it may be higher.
    const look = options.split ? 'p' : 'l'
    const keyOf = (at: number): string => `${look}${index}.${at}:${path}`
    if (options.split) addPairs(rows, { file, hunk, keyOf }, options)
    else addLines(rows, { file, hunk, keyOf }, options)
  }
  if (truncated) {
    const more = 'The change is larger than what is shown here.'
    rows.push({ kind: 'note', key: `t:${path}`, file, text: more, isCut: true })
  }
}

function noteOn({ isBinary, hunks, status, oldPath, truncated }: FileChange): string | null {
  if (isBinary) return 'A binary file: there are no lines to show.'
  if (hunks.length > 0 || truncated) return null
  if (status === 'renamed') return `Renamed from ${oldPath}, nothing else.`
  return status === 'added' ? 'An empty file.' : 'No line has changed.'
}

interface InHunk {
  file: FileChange
  hunk: Hunk
  keyOf(at: number): string
}

function addLines<C extends Anchored>(
  rows: Row<C>[],
  { file, hunk, keyOf }: InHunk,
  options: FileOptions<C>,
): void {
  for (const [at, line] of hunk.lines.entries()) {
    rows.push({ kind: 'line', key: keyOf(at), file, hunk, at })
    addBelow(rows, file, [line], options)
  }
}

function addPairs<C extends Anchored>(
  rows: Row<C>[],
  { file, hunk, keyOf }: InHunk,
  options: FileOptions<C>,
): void {
  for (const [at, [left, right]] of pairsOf(hunk.lines).entries()) {
    rows.push({ kind: 'pair', key: keyOf(at), file, hunk, left, right })
    const both = left === right ? [left] : [left, right]
    const lines = both.flatMap((index) => (index === null ? [] : [hunk.lines[index]!]))
    addBelow(rows, file, lines, options)
  }
}

/** Comments stand below the last of their lines, and so does what is being written. */
function addBelow<C extends Anchored>(
  rows: Row<C>[],
  file: FileChange,
  lines: readonly ChangeLine[],
  { anchors, editing }: FileOptions<C>,
): void {
  if (anchors.size === 0 && editing?.path !== file.path) return
  for (const [side, number] of lines.flatMap(numbersOf)) {
    const key = lineKey(file.path, side, number)
    const comments = anchors.get(key)
    if (comments) rows.push({ kind: 'comments', key: `c:${key}`, file, comments })
    if (editing?.path === file.path && editing.side === side && editing.endLine === number) {
      rows.push({ kind: 'editor', key: `e:${key}`, file, place: editing })
    }
  }
}

function numbersOf(line: ChangeLine): [Side, number][] {
  const found: [Side, number][] = []
  if (line.old !== null) found.push(['old', line.old])
  if (line.new !== null) found.push(['new', line.new])
  return found
}

function anchorsOf<C extends Anchored>(comments: readonly C[]): Map<string, C[]> {
  return Map.groupBy(comments, ({ path, side, endLine }) => lineKey(path, side, endLine))
}

/** Comments whose lines are nowhere in these changes. */
export function commentsElsewhere<C extends Anchored>(
  files: readonly FileChange[],
  comments: readonly C[],
): C[] {
  const wanted = new Set(comments.map(({ path }) => path))
  const shown = new Set<string>()
  for (const { path, hunks } of files.filter((file) => wanted.has(file.path))) {
    const lines = hunks.flatMap((hunk) => hunk.lines)
    for (const [side, number] of lines.flatMap(numbersOf)) shown.add(lineKey(path, side, number))
  }
  return comments.filter(({ path, side, endLine }) => !shown.has(lineKey(path, side, endLine)))
}

type Pair = [left: number | null, right: number | null]

/** Lines as they stand beside each other: what was removed beside what came in its place. */
export function pairsOf(lines: readonly ChangeLine[]): Pair[] {
  const pairs: Pair[] = []
  for (let at = 0; at < lines.length;) {
    const removed = runFrom(lines, at, '-')
    const added = runFrom(lines, at + removed, '+')
    for (let index = 0; index < Math.max(removed, added); index++) {
      pairs.push([index < removed ? at + index : null, index < added ? at + removed + index : null])
    }
    if (removed + added === 0) pairs.push([at, at])
    at += Math.max(1, removed + added)
  }
  return pairs
}

function runFrom(lines: readonly ChangeLine[], start: number, kind: ChangeLine['kind']): number {
  let at = start
  while (lines[at]?.kind === kind) at++
  return at - start
}

/** The place that a line is; a line of both versions is one of the new one. */
export function placeOfLine(path: string, line: ChangeLine): Place {
  const side: Side = line.new === null ? 'old' : 'new'
  const number = (line.new ?? line.old)!
  return { path, side, line: number, endLine: number }
}

/** The place of a row; of two lines beside each other, the one that is wanted, or the other. */
export function placeOfRow(row: LineRow | PairRow, side: Side = 'new'): Place | null {
  const { file, hunk } = row
  if (row.kind === 'line') return placeOfLine(file.path, hunk.lines[row.at]!)
  const index = side === 'new' ? (row.right ?? row.left) : (row.left ?? row.right)
  return index === null ? null : placeOfLine(file.path, hunk.lines[index]!)
}
