/**
 * What parts of a text are, as pairs of a length and a kind, from the beginning on. They are numbers: nothing of them can be
 * anything but the looks of a text that is here already.
 */
export type Segments = readonly number[]

/** By number; 0 is plain text. Each has a colour in style/markdown.css, and one in a terminal. */
export const KINDS = [
  '',
  'keyword',
  'string',
  'comment',
  'number',
  'title',
  'type',
  'attr',
  'literal',
  'meta',
  'tag',
  'addition',
  'deletion',
  'section',
] as const

export interface Piece {
  text: string
  kind: (typeof KINDS)[number]
}

/** A part of a text, in pieces of one kind each. */
export function piecesOf(text: string, segments: Segments, from: number, to: number): Piece[] {
  const found: Piece[] = []
  let start = 0
  for (let at = 0; at < segments.length && start < to; at += 2) {
    const end = start + segments[at]!
    const part = text.slice(Math.max(start, from), Math.min(end, to))
    if (end > from && part !== '') found.push({ text: part, kind: KINDS[segments[at + 1]!] ?? '' })
    start = end
  }
  const rest = text.slice(Math.max(start, from), to)
  return rest === '' ? found : [...found, { text: rest, kind: '' }]
}

/** A text in parts of so many lines, each without the line feed at its end. */
export function chunksOf(text: string, lines: number): { from: number; to: number }[] {
  const chunks: { from: number; to: number }[] = []
  let from = 0
  let count = 0
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) {
    if (++count % lines !== 0) continue
    chunks.push({ from, to: at })
    from = at + 1
  }
  chunks.push({ from, to: text.length })
  return chunks
}

/** The language that stands behind the opening fence of a block of code. */
export function fenceLanguage(info: string): string {
  return (/^[\w+#.-]+/.exec(info)?.[0] ?? '').toLowerCase()
}
