import type { Piece, StopReason, TokenUsage } from './ask.ts'

/** A part of an answer that has something in it. */
export type ContentPiece = Exclude<Piece, { type: 'end' }>

/** The last piece when the relay has seen to it: the usage is always known, if only by estimate. */
export interface End {
  type: 'end'
  stopReason: StopReason
  stopSequence: string | null
  usage: TokenUsage
}

/** An answer that is complete. */
export interface Outcome {
  pieces: ContentPiece[]
  end: End
}

/** What is said about an answer before it is there. */
export interface Heading {
  /** The call's id. */
  id: string
  /** As the client named it. */
  model: string
  /** Milliseconds since 1970. */
  startedAt: number
  /** An estimate; the end may say otherwise. */
  inputTokens: number
}

/** Who answered, and how it went: the relay's own fields beside those of the API. */
export interface Served {
  provider: string
  durationMs: number
  /** Those who were asked before, and why they did not answer. */
  fallbackChain: readonly { provider: string; error: string }[]
}

/** Neighbouring texts as one block, as a client without a stream gets them. */
export function merged(pieces: readonly ContentPiece[]): ContentPiece[] {
  const runs: ContentPiece[][] = []
  for (const piece of pieces) {
    const run = runs.at(-1)
    const goesOn = piece.type !== 'tool_use' && run?.[0]?.type === piece.type && !isSigned(run.at(-1)!)
    if (goesOn) run!.push(piece)
    else runs.push([piece])
  }
  return runs.map(oneOf).filter((piece) => piece.type === 'tool_use' || piece.text !== '' || isSigned(piece))
}

/** The end of a block of thinking, which its API wants back as it was. */
export function isSigned(piece: ContentPiece): boolean {
  return piece.type === 'thinking' && piece.signature !== undefined
}

function oneOf(run: readonly ContentPiece[]): ContentPiece {
  const first = run[0]!
  if (first.type === 'tool_use') return first
  const last = run.at(-1)!
  const text = textIn(run, first.type)
  return last.type === 'thinking' ? { ...last, text } : { type: first.type, text }
}

export function textIn(pieces: readonly ContentPiece[], type: 'text' | 'thinking'): string {
  return pieces.map((piece) => (piece.type === type ? piece.text : '')).join('')
}

/** The answer as one text, for people: what was said, and the calls in between. */
export function transcriptOf(pieces: readonly ContentPiece[]): string {
  return merged(pieces)
    .filter((piece) => piece.type !== 'thinking')
    .map((piece) =>
      piece.type === 'tool_use' ? `${piece.name}(${JSON.stringify(piece.input)})` : piece.text,
    )
    .join('\n')
}

const DELTAS = 16
const SHORTEST = 24

/** A tool's input in a few parts, since clients show it as it grows; never between the halves of a character. */
export function slicesOf(json: string): string[] {
  const size = Math.max(SHORTEST, Math.ceil(json.length / DELTAS))
  const slices: string[] = []
  for (let from = 0; from < json.length;) {
    const to = wholeUpTo(json, from + size)
    slices.push(json.slice(from, to))
    from = to
  }
  return slices
}

function wholeUpTo(text: string, index: number): number {
  return isHighSurrogate(text.charCodeAt(index - 1)) ? index + 1 : index
}

/** The first half of a character that takes two. */
export function isHighSurrogate(code: number): boolean {
  return code >= 0xd800 && code <= 0xdbff
}
