import { diffWordsWithSpace } from 'diff/lib/diff/word.js'
import type { ChangeLine } from '../../src/core/file-change.ts'

/** What is different in a line: from this character to that. */
export type WordRange = readonly [from: number, to: number]

/** Longer lines are shown as a whole: they are data. */
const MAX_LENGTH = 400
/** Of a hunk; the rest is shown line by line. */
const MAX_PAIRS = 60
/** Lines that have less than this in common are two lines, and not one that was changed. */
const LIKENESS = 0.4

/** For lines that take the place of one another, what is different in each. By the line's place in the hunk. */
export function wordRanges(lines: readonly ChangeLine[]): ReadonlyMap<number, readonly WordRange[]> {
  const found = new Map<number, readonly WordRange[]>()
  let pairs = 0
  for (const [removed, added] of replacements(lines)) {
    if (++pairs > MAX_PAIRS) break
    const ranges = rangesBetween(lines[removed]!.text, lines[added]!.text)
    if (!ranges) continue
    found.set(removed, ranges.old)
    found.set(added, ranges.new)
  }
  return found
}

/** The first line that goes and the first that comes, the second and the second. */
function* replacements(lines: readonly ChangeLine[]): Generator<[removed: number, added: number]> {
  for (let at = 0; at < lines.length;) {
    const removed = runFrom(lines, at, '-')
    const added = runFrom(lines, at + removed, '+')
    const both = Math.min(removed, added)
    for (let pair = 0; pair < both; pair++) yield [at + pair, at + removed + pair]
    at += Math.max(1, removed + added)
  }
}

function runFrom(lines: readonly ChangeLine[], start: number, kind: ChangeLine['kind']): number {
  let at = start
  while (lines[at]?.kind === kind) at++
  return at - start
}

function rangesBetween(before: string, after: string): { old: WordRange[]; new: WordRange[] } | null {
  if (before.length > MAX_LENGTH || after.length > MAX_LENGTH) return null
  const ranges = { old: [] as WordRange[], new: [] as WordRange[] }
  let [old, now, same] = [0, 0, 0]
  for (const { value, added, removed } of diffWordsWithSpace(before, after)) {
    if (removed) ranges.old.push([old, old + value.length])
    else if (added) ranges.new.push([now, now + value.length])
    else same += value.trim().length
    if (!added) old += value.length
    if (!removed) now += value.length
  }
  const longest = Math.max(before.trim().length, after.trim().length)
  return longest > 0 && same / longest >= LIKENESS ? ranges : null
}

/** A text in pieces, of which some are within the ranges. */
export function pieces(text: string, ranges: readonly WordRange[]): { text: string; marked: boolean }[] {
  const parts: { text: string; marked: boolean }[] = []
  let at = 0
  for (const [from, to] of ranges) {
    parts.push({ text: text.slice(at, from), marked: false }, { text: text.slice(from, to), marked: true })
    at = to
  }
  parts.push({ text: text.slice(at), marked: false })
  return parts.filter((part) => part.text !== '')
}
