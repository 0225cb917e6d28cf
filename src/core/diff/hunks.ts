import type { ChangeLine, FileChange, Hunk } from '../file-change.ts'
import type { DiffBudget } from './budget.ts'

/** A longer line is cut. */
const MAX_LINE = 2000

/** Lines that follow each other. */
export interface Run {
  readonly kind: ChangeLine['kind']
  readonly texts: readonly string[]
}

/** A hunk before anybody has counted its lines: most of a large one is never shown. */
export interface FoundHunk {
  /** The numbers of its first lines, whether or not it has any. */
  readonly old: number
  readonly new: number
  readonly header?: string
  readonly runs: readonly Run[]
}

type Found = Pick<FileChange, 'path' | 'oldPath' | 'status'> & {
  hunks: readonly FoundHunk[]
  isCut?: boolean
}

/** As much of a change as the budget has room for. */
export function fitting(
  { path, oldPath, status, hunks, isCut = false }: Found,
  budget: DiffBudget,
): FileChange {
  const shown = hunks.map((hunk) => shownHunk(hunk, budget))
  const count = (kind: ChangeLine['kind']): number =>
    hunks.reduce((sum, hunk) => sum + linesIn(hunk, (run) => run.kind === kind), 0)
  return {
    path,
    oldPath,
    status,
    isBinary: false,
    additions: count('+'),
    deletions: count('-'),
    hunks: shown.flatMap(({ hunk }) => (hunk.lines.length > 0 ? [hunk] : [])),
    truncated: isCut || shown.some((one) => one.isCut),
  }
}

function shownHunk(found: FoundHunk, budget: DiffBudget): { hunk: Hunk; isCut: boolean } {
  const { header = '', runs } = found
  const [oldLines, newLines] = [
    linesIn(found, ({ kind }) => kind !== '+'),
    linesIn(found, ({ kind }) => kind !== '-'),
  ]
  const lines: ChangeLine[] = []
  let isCut = false
  let [old, now] = [found.old, found.new]
  for (const { kind, texts } of runs) {
    for (const whole of texts) {
      const text = whole.length > MAX_LINE ? `${whole.slice(0, MAX_LINE).toWellFormed()}…` : whole
      isCut ||= text !== whole
      if (!spent(budget, text.length)) return { hunk: hunkOf(), isCut: true }
      lines.push({ kind, text, old: kind === '+' ? null : old, new: kind === '-' ? null : now })
      if (kind !== '+') old += 1
      if (kind !== '-') now += 1
    }
  }

  /** As in every patch: where it has no lines, the number is that of the line before. */
  function hunkOf(): Hunk {
    const [oldStart, newStart] = [found.old - (oldLines === 0 ? 1 : 0), found.new - (newLines === 0 ? 1 : 0)]
    return { oldStart, oldLines, newStart, newLines, header, lines }
  }
  return { hunk: hunkOf(), isCut }
}

function spent(budget: DiffBudget, chars: number): boolean {
  if (budget.lines <= 0 || budget.chars < chars) return false
  budget.lines -= 1
  budget.chars -= chars
  return true
}

function linesIn({ runs }: FoundHunk, which: (run: Run) => boolean): number {
  return runs.reduce((sum, run) => (which(run) ? sum + run.texts.length : sum), 0)
}

/** How many lines of the old version it has. */
export function oldLinesOf(hunk: FoundHunk): number {
  return linesIn(hunk, ({ kind }) => kind !== '+')
}
