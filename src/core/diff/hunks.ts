import type { ChangeLine, FileChange, Hunk } from '../file-change.ts'
import type { DiffBudget } from './budget.ts'

/** A longer line is cut. */
const MAX_LINE = 2000

/** Lines that follow each other, without their numbers. */
export interface Run {
  kind: ChangeLine['kind']
  texts: readonly string[]
}

/** A hunk that begins with these lines of the two versions. */
export function hunkOf(oldStart: number, newStart: number, runs: readonly Run[], header = ''): Hunk {
  const lines: ChangeLine[] = []
  let [before, after] = [oldStart, newStart]
  for (const { kind, texts } of runs) {
    for (const text of texts) {
      lines.push({ kind, text, old: kind === '+' ? null : before, new: kind === '-' ? null : after })
      if (kind !== '+') before += 1
      if (kind !== '-') after += 1
    }
  }
  const [oldLines, newLines] = [before - oldStart, after - newStart]
  // As in every patch: what begins nowhere begins after line 0.
  return {
    oldStart: oldLines === 0 ? oldStart - 1 : oldStart,
    oldLines,
    newStart: newLines === 0 ? newStart - 1 : newStart,
    newLines,
    header,
    lines,
  }
}

type Found = Pick<FileChange, 'path' | 'oldPath' | 'status'> & { hunks: readonly Hunk[]; isCut?: boolean }

/** As much of a change as the budget has room for. */
export function fitting(
  { path, oldPath, status, hunks, isCut = false }: Found,
  budget: DiffBudget,
): FileChange {
  let truncated = isCut
  const shown: Hunk[] = []
  for (const hunk of hunks) {
    const lines: ChangeLine[] = []
    for (const line of hunk.lines) {
      const text = line.text.length > MAX_LINE ? `${line.text.slice(0, MAX_LINE).toWellFormed()}…` : line.text
      truncated ||= text !== line.text
      if (budget.lines <= 0 || budget.chars < text.length) {
        truncated = true
        break
      }
      budget.lines -= 1
      budget.chars -= text.length
      lines.push({ ...line, text })
    }
    if (lines.length > 0) shown.push({ ...hunk, lines })
    if (lines.length < hunk.lines.length) break
  }
  const count = (kind: ChangeLine['kind']): number =>
    hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0)
  const [additions, deletions] = [count('+'), count('-')]
  return { path, oldPath, status, isBinary: false, additions, deletions, hunks: shown, truncated }
}
