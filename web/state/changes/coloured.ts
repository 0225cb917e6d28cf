import type { ChangeLine } from '../../../src/core/file-change.ts'
import { KINDS, type Piece, type Segments } from '../../../src/core/markdown/segments.ts'
import type { WordRange } from '../../parts/words.ts'
import type { Side } from './place.ts'

/** The language of a file, as the highlighter knows it: mostly the end of its name. */
export function languageOf(path: string): string {
  const name = path.split('/').at(-1)!.toLowerCase()
  if (/^(?:dockerfile|makefile)/.test(name)) return /^[a-z]+/.exec(name)![0]
  const extension = /\.([a-z0-9+#]+)$/.exec(name)?.[1] ?? ''
  return ALIASES[extension] ?? extension
}

const ALIASES: Readonly<Record<string, string>> = {
  mts: 'ts',
  cts: 'ts',
  jsonc: 'json',
  json5: 'json',
  htm: 'html',
  vue: 'html',
  svelte: 'html',
  scss: 'css',
  less: 'css',
  zsh: 'bash',
  fish: 'bash',
  conf: 'ini',
  mdx: 'md',
  txt: '',
}

/** The lines of one version. A line of both belongs to the new one: it is coloured once. */
export function linesOfSide(lines: readonly ChangeLine[], side: Side): ChangeLine[] {
  return lines.filter(({ kind }) => (side === 'old' ? kind === '-' : kind !== '-'))
}

/** What was found out about the lines, which were joined by line feeds, line by line. */
export function splitByLine(lines: readonly ChangeLine[], segments: Segments): Map<ChangeLine, Piece[]> {
  const found = new Map<ChangeLine, Piece[]>()
  let [segment, left] = [0, segments[0] ?? 0]
  /** The next so many characters, in pieces. */
  function take(text: string): Piece[] {
    const pieces: Piece[] = []
    for (let at = 0; at < text.length;) {
      while (left === 0 && segment < segments.length) {
        segment += 2
        left = segments[segment] ?? 0
      }
      const length = left === 0 ? text.length - at : Math.min(left, text.length - at)
      pieces.push({ text: text.slice(at, at + length), kind: KINDS[segments[segment + 1] ?? 0] ?? '' })
      at += length
      left = Math.max(0, left - length)
    }
    return pieces
  }
  for (const line of lines) {
    found.set(line, take(line.text))
    take('\n')
  }
  return found
}

export interface MarkedPiece extends Piece {
  marked: boolean
}

/** Pieces of a line, cut where what differs begins and ends. */
export function withMarks(pieces: readonly Piece[], ranges: readonly WordRange[]): MarkedPiece[] {
  const found: MarkedPiece[] = []
  let at = 0
  for (const { text, kind } of pieces) {
    for (let from = 0; from < text.length;) {
      const range = ranges.find(([, to]) => to > at + from)
      const marked = range !== undefined && range[0] <= at + from
      const end =
        range === undefined ? text.length : Math.min(text.length, (marked ? range[1] : range[0]) - at)
      found.push({ text: text.slice(from, end), kind, marked })
      from = end
    }
    at += text.length
  }
  return found
}
