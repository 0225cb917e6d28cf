import { signal, type Signal } from '@preact/signals'
import type { ChangeLine, FileChange, Hunk } from '../../../src/core/file-change.ts'
import type { Piece, Segments } from '../../../src/core/markdown/segments.ts'
import { highlight } from '../highlight.ts'
import { languageOf, linesOfSide, splitByLine } from './coloured.ts'

/** The pieces of each line of a hunk, as far as they are known. */
export type Colours = ReadonlyMap<ChangeLine, readonly Piece[]>

const NONE: Colours = new Map()
const known = new WeakMap<Hunk, Signal<Colours>>()

/** What is what in the lines of a hunk. It is found out when a line of it is first shown; who reads the signal hears of it. */
export function coloursOf(file: FileChange, hunk: Hunk): Signal<Colours> {
  const there = known.get(hunk)
  if (there) return there
  const colours = signal(NONE)
  known.set(hunk, colours)
  for (const side of ['old', 'new'] as const) {
    const lines = linesOfSide(hunk.lines, side)
    const text = lines.map((line) => line.text).join('\n')
    highlight(languageOf(file.path), text, (segments: Segments) => {
      colours.value = new Map([...colours.value, ...splitByLine(lines, segments)])
    })
  }
  return colours
}
