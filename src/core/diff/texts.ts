import { diffArrays } from 'diff/lib/diff/array.js'
import type { DiffBudget } from './budget.ts'
import type { FoundHunk, Run } from './hunks.ts'

/** Lines around a change. */
const CONTEXT = 3
/** Lines that differ, of one comparison; with more it is all old, all new. */
const MAX_EDITS = 500

/** The lines of a text; a line feed at its end begins none. */
export function linesOf(text: string): string[] {
  if (text === '') return []
  return (text.endsWith('\n') ? text.slice(0, -1) : text).split('\n')
}

/** What is different, line by line. `at`: the number of the first line. */
export function hunksBetween(before: string, after: string, budget: DiffBudget, at = 1): FoundHunk[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  const same = commonStart(old, now)
  const tail = commonEnd(old, now, same)
  const [removed, added] = [old.slice(same, old.length - tail), now.slice(same, now.length - tail)]
  const runs: Run[] = [
    { kind: ' ', texts: old.slice(0, same) },
    ...compared(removed, added, budget),
    { kind: ' ', texts: old.slice(old.length - tail) },
  ]
  return grouped(runs, at)
}

function commonStart(a: readonly string[], b: readonly string[]): number {
  const most = Math.min(a.length, b.length)
  let n = 0
  while (n < most && a[n] === b[n]) n++
  return n
}

function commonEnd(a: readonly string[], b: readonly string[], start: number): number {
  const most = Math.min(a.length, b.length) - start
  let n = 0
  while (n < most && a[a.length - 1 - n] === b[b.length - 1 - n]) n++
  return n
}

function compared(removed: string[], added: string[], budget: DiffBudget): Run[] {
  const all: Run[] = [
    { kind: '-', texts: removed },
    { kind: '+', texts: added },
  ]
  if (removed.length === 0 || added.length === 0 || budget.edits <= 0) return all
  const maxEditLength = Math.min(MAX_EDITS, budget.edits)
  const found = diffArrays(removed, added, { maxEditLength })
  const edits = found?.reduce((sum, { value, added: isNew, removed: isOld }) => {
    return isNew || isOld ? sum + value.length : sum
  }, 0)
  budget.edits -= edits ?? maxEditLength
  return (
    found?.map((part) => ({ kind: part.added ? '+' : part.removed ? '-' : ' ', texts: part.value })) ?? all
  )
}

/** Changes with what is around them; those that are near each other are one hunk. */
function grouped(runs: readonly Run[], at: number): FoundHunk[] {
  const hunks: FoundHunk[] = []
  let open: (FoundHunk & { runs: Run[] }) | null = null
  let [old, now] = [at, at]
  const told = runs.filter(({ texts }) => texts.length > 0)
  for (const [index, run] of told.entries()) {
    const { kind, texts } = run
    if (kind !== ' ') {
      open ??= { old, new: now, runs: [] }
      open.runs.push(run)
    } else {
      const isLast = index === told.length - 1
      if (open && (isLast || texts.length > 2 * CONTEXT)) {
        open.runs.push({ kind, texts: texts.slice(0, CONTEXT) })
        hunks.push(open)
        open = null
      } else open?.runs.push(run)
      if (!open && !isLast) {
        const kept = texts.slice(-CONTEXT)
        const left = texts.length - kept.length
        open = { old: old + left, new: now + left, runs: [{ kind, texts: kept }] }
      }
    }
    if (kind !== '+') old += texts.length
    if (kind !== '-') now += texts.length
  }
  if (open) hunks.push(open)
  return hunks
}
