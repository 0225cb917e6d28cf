import { signal, type Signal } from '@preact/signals'
import type { Api } from '../../client/client.ts'
import type { FileChange, Hunk } from '../../../src/core/file-change.ts'
import { client } from '../connection.ts'
import type { Place } from './place.ts'

export type Comment = Api['review.list']['result']['comments'][number]

/** A comment that is being written; `id`: one that is there already, and gets another text. */
export interface Writing {
  place: Place
  text: string
}

/** What somebody writes stays when the page is left, and is there when it is opened again. */
const unfinished = new Map<string, Signal<Writing | null>>()

export function writingOf(sessionId: string): Signal<Writing | null> {
  const there = unfinished.get(sessionId)
  if (there) return there
  const writing = signal<Writing | null>(null)
  unfinished.set(sessionId, writing)
  return writing
}

/** So much of a hunk goes with a comment, around its lines. */
const AROUND = 100

/** Adds the comment that was written. Throws what went wrong. */
export async function addComment(
  sessionId: string,
  { place, text }: Writing,
  files: readonly FileChange[],
): Promise<void> {
  const hunk = hunkAt(files, place)
  if (!hunk)
    throw new Error('These lines are not shown any more. Copy your words, and choose the lines again.')
  const { path, side, line, endLine } = place
  await client().call('review.add', { sessionId, path, side, line, endLine, text, hunk: cut(hunk, place) })
}

export function hunkAt(files: readonly FileChange[], { path, side, line }: Place): Hunk | null {
  const file = files.find((one) => one.path === path)
  return file?.hunks.find((hunk) => hunk.lines.some((one) => one[side] === line)) ?? null
}

/** The part of a hunk around a place, with what it says about itself put right. */
export function cut(hunk: Hunk, { side, line, endLine }: Place): Hunk & { lines: Hunk['lines'] } {
  const first = hunk.lines.findIndex((one) => one[side] === line)
  const last = hunk.lines.findLastIndex((one) => (one[side] ?? Infinity) <= endLine)
  const from = Math.max(0, first - AROUND)
  const lines = hunk.lines.slice(from, last + 1 + AROUND)
  const count = (of: 'old' | 'new'): number => lines.filter((one) => one[of] !== null).length
  const startOf = (of: 'old' | 'new', otherwise: number): number =>
    lines.find((one) => one[of] !== null)?.[of] ?? otherwise
  return {
    header: hunk.header,
    oldStart: startOf('old', hunk.oldStart),
    oldLines: count('old'),
    newStart: startOf('new', hunk.newStart),
    newLines: count('new'),
    lines,
  }
}
