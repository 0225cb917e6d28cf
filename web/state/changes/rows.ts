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
  | { kind: 'line'; key: string; file: FileChange; line: ChangeLine; other: ChangeLine | null }
  | { kind: 'pair'; key: string; file: FileChange; left: ChangeLine | null; right: ChangeLine | null }
  | { kind: 'note'; key: string; text: string }
  | { kind: 'comments'; key: string; comments: readonly C[] }
  | { kind: 'editor'; key: string; place: Place }

export type LineRow = Extract<Row<Anchored>, { kind: 'line' | 'pair' }>

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

type Rows<C extends Anchored> = Row<C>[]
type FileOptions<C extends Anchored> = Pick<RowOptions<C>, 'split' | 'editing'> & {
  anchors: Map<string, C[]>
}

function addFile<C extends Anchored>(rows: Rows<C>, file: FileChange, options: FileOptions<C>): void {
  const note = noteOn(file)
  if (note !== null) rows.push({ kind: 'note', key: `n:${file.path}`, text: note })
  for (const [index, hunk] of file.hunks.entries()) {
    rows.push({ kind: 'hunk', key: `h:${index}:${file.path}`, file, hunk })
    if (options.split) addPairs(rows, file, hunk, index, options)
    else addLines(rows, file, hunk, index, options)
  }
  if (file.truncated) {
    rows.push({ kind: 'note', key: `t:${file.path}`, text: 'The change is larger than what is shown here.' })
  }
}

function noteOn({ isBinary, hunks, status, oldPath, truncated }: FileChange): string | null {
  if (isBinary) return 'A binary file: there are no lines to show.'
  if (hunks.length > 0 || truncated) return null
  if (status === 'renamed') return `Renamed from ${oldPath}, nothing else.`
  return status === 'added' ? 'An empty file.' : 'No line has changed.'
}

function addLines<C extends Anchored>(
  rows: Rows<C>,
  file: FileChange,
  hunk: Hunk,
  index: number,
  options: FileOptions<C>,
): void {
  const others = partnersOf(hunk.lines)
  for (const [at, line] of hunk.lines.entries()) {
    rows.push({
      kind: 'line',
      key: `${index}.${at}:${file.path}`,
      file,
      line,
      other: others.get(line) ?? null,
    })
    addBelow(rows, file, [line], options)
  }
}

function addPairs<C extends Anchored>(
  rows: Rows<C>,
  file: FileChange,
  hunk: Hunk,
  index: number,
  options: FileOptions<C>,
): void {
  for (const [at, [left, right]] of pairsOf(hunk.lines).entries()) {
    rows.push({ kind: 'pair', key: `${index}.${at}:${file.path}`, file, left, right })
    const lines = left === right ? [left] : [left, right]
    addBelow(
      rows,
      file,
      lines.filter((line) => line !== null),
      options,
    )
  }
}

/** Comments stand below the last of their lines, and so does what is being written. */
function addBelow<C extends Anchored>(
  rows: Rows<C>,
  { path }: FileChange,
  lines: readonly ChangeLine[],
  { anchors, editing }: FileOptions<C>,
): void {
  for (const [side, number] of numbersOf(lines)) {
    const key = lineKey(path, side, number)
    const comments = anchors.get(key)
    if (comments) rows.push({ kind: 'comments', key: `c:${key}`, comments })
    if (editing?.path === path && editing.side === side && editing.endLine === number) {
      rows.push({ kind: 'editor', key: `e:${key}`, place: editing })
    }
  }
}

function numbersOf(lines: readonly ChangeLine[]): [Side, number][] {
  const found: [Side, number][] = []
  for (const line of lines) {
    if (line.old !== null) found.push(['old', line.old])
    if (line.new !== null) found.push(['new', line.new])
  }
  return found
}

function anchorsOf<C extends Anchored>(comments: readonly C[]): Map<string, C[]> {
  const anchors = new Map<string, C[]>()
  for (const comment of comments) {
    const key = lineKey(comment.path, comment.side, comment.endLine)
    const there = anchors.get(key)
    if (there) there.push(comment)
    else anchors.set(key, [comment])
  }
  return anchors
}

/** Comments whose lines are nowhere in these changes. */
export function commentsElsewhere<C extends Anchored>(
  files: readonly FileChange[],
  comments: readonly C[],
): C[] {
  const wanted = new Set(comments.map(({ path }) => path))
  const shown = new Set<string>()
  for (const { path, hunks } of files) {
    if (!wanted.has(path)) continue
    for (const hunk of hunks)
      for (const [side, number] of numbersOf(hunk.lines)) shown.add(lineKey(path, side, number))
  }
  return comments.filter(({ path, side, endLine }) => !shown.has(lineKey(path, side, endLine)))
}

/** Lines as they stand beside each other: what was removed beside what came in its place. */
export function pairsOf(lines: readonly ChangeLine[]): [ChangeLine | null, ChangeLine | null][] {
  const pairs: [ChangeLine | null, ChangeLine | null][] = []
  for (const block of blocksOf(lines)) {
    if ('same' in block) {
      pairs.push([block.same, block.same])
      continue
    }
    const { removed, added } = block
    for (let at = 0; at < Math.max(removed.length, added.length); at++) {
      pairs.push([removed[at] ?? null, added[at] ?? null])
    }
  }
  return pairs
}

/** For each line that was replaced: the one that it is to be compared with. */
export function partnersOf(lines: readonly ChangeLine[]): Map<ChangeLine, ChangeLine> {
  const partners = new Map<ChangeLine, ChangeLine>()
  for (const [left, right] of pairsOf(lines)) {
    if (!left || !right || left === right) continue
    partners.set(left, right)
    partners.set(right, left)
  }
  return partners
}

type Block = { same: ChangeLine } | { removed: ChangeLine[]; added: ChangeLine[] }

function blocksOf(lines: readonly ChangeLine[]): Block[] {
  const blocks: Block[] = []
  let open: { removed: ChangeLine[]; added: ChangeLine[] } | null = null
  for (const line of lines) {
    if (line.kind === ' ') {
      open = null
      blocks.push({ same: line })
      continue
    }
    // What is removed after something was added begins a change of its own.
    if (!open || (line.kind === '-' && open.added.length > 0)) {
      open = { removed: [], added: [] }
      blocks.push(open)
    }
    ;(line.kind === '-' ? open.removed : open.added).push(line)
  }
  return blocks
}

/** The lines of a place as they are in the changes, for what a comment is about. */
export function linesAt(files: readonly FileChange[], place: Place): ChangeLine[] {
  const file = files.find(({ path }) => path === place.path)
  const lines = file?.hunks.flatMap((hunk) => hunk.lines) ?? []
  return lines.filter((line) => {
    const number = line[place.side]
    return number !== null && number >= place.line && number <= place.endLine
  })
}
