import { type ContentPiece, type End, isHighSurrogate, isSigned } from './answer.ts'
import type { Ask, Piece, StopReason } from './ask.ts'
import { RelayFailure } from './failure.ts'
import { BYTES_PER_TOKEN, inputTokens, pieceBytes, tokens } from './tokens.ts'

type Limits = Pick<Ask, 'maxTokens' | 'stopSequences' | 'thinking' | 'system' | 'messages' | 'tools'>

export interface LimitOptions {
  /** Who answers keeps to `max_tokens` itself, and counts better than an estimate could. */
  countsItself?: boolean
}

/**
 * The pieces as far as the client wants them: up to `max_tokens` and up to a stop sequence, wherever the pieces are cut, and
 * with what the model thinks only if that was asked for. Ends early when a limit is reached; the source is closed with it, which is how a provider learns that it may stop.
 */
export async function* limited(
  source: AsyncIterable<Piece>,
  limits: Limits,
  { countsItself = false }: LimitOptions = {},
): AsyncGenerator<ContentPiece | End> {
  const { maxTokens } = limits
  const stops = watchFor(limits.stopSequences)
  const budget = countsItself ? Infinity : maxTokens * BYTES_PER_TOKEN
  let spent = 0

  /** What of it may still be said. */
  function afford(piece: ContentPiece): { piece: ContentPiece | null; short: boolean } {
    const size = pieceBytes(piece)
    const left = budget - spent
    if (size <= left) {
      spent += size
      const says = size > 0 || piece.type === 'tool_use' || isSigned(piece)
      return { piece: says ? piece : null, short: false }
    }
    // Half of a tool's input is of no use to anybody.
    const text = piece.type === 'tool_use' ? '' : upToBytes(piece.text, left)
    spent += Buffer.byteLength(text)
    return { piece: text === '' ? null : ({ ...piece, text } as ContentPiece), short: true }
  }

  function end(
    stopReason: StopReason,
    stopSequence: string | null,
    counted: End['usage'] | null = null,
  ): End {
    const usage = counted ?? { inputTokens: inputTokens(limits), outputTokens: tokens(spent) }
    const outputTokens = Math.min(usage.outputTokens, maxTokens)
    return { type: 'end', stopReason, stopSequence, usage: { ...usage, outputTokens } }
  }

  for await (const piece of source) {
    if (piece.type === 'thinking' && !limits.thinking) continue
    const { safe, stop } = stops(piece)
    for (const part of safe) {
      const { piece: affordable, short } = afford(part)
      if (affordable) yield affordable
      if (short) return yield end('max_tokens', null)
    }
    if (stop !== null) return yield end('stop_sequence', stop)
    if (piece.type === 'end') return yield end(piece.stopReason, piece.stopSequence, piece.usage)
  }
  throw new RelayFailure(500, 'api_error', 'the answer broke off')
}

interface Watched {
  /** What can be said whatever comes next. */
  safe: ContentPiece[]
  /** The stop sequence that came after it. */
  stop: string | null
}

/** Looks for stop sequences in the text, and keeps back only what may be the beginning of one. */
function watchFor(sequences: readonly string[]): (piece: Piece) => Watched {
  let held = ''
  return (piece) => {
    if (piece.type !== 'text') {
      const rest: ContentPiece[] = held === '' ? [] : [{ type: 'text', text: held }]
      held = ''
      return { safe: piece.type === 'end' ? rest : [...rest, piece], stop: null }
    }
    const text = held + piece.text
    const found = firstOf(sequences, text)
    const upTo = found ? found.at : text.length - openEnd(sequences, text)
    held = text.slice(upTo)
    return { safe: [{ type: 'text', text: text.slice(0, upTo) }], stop: found?.sequence ?? null }
  }
}

/** The sequence that is complete first, as if the text had come letter by letter; of two, the longer one. */
function firstOf(sequences: readonly string[], text: string): { sequence: string; at: number } | null {
  let first: { sequence: string; at: number } | null = null
  for (const sequence of sequences) {
    const at = text.indexOf(sequence)
    if (at === -1) continue
    const later = first ? at + sequence.length - (first.at + first.sequence.length) : -1
    if (later < 0 || (later === 0 && at < first!.at)) first = { sequence, at }
  }
  return first
}

/** How many letters at the end may become a sequence, or are half of a character. */
function openEnd(sequences: readonly string[], text: string): number {
  let longest = isHighSurrogate(text.charCodeAt(text.length - 1)) ? 1 : 0
  for (const sequence of sequences) {
    for (let size = Math.min(sequence.length - 1, text.length); size > longest; size--) {
      if (text.endsWith(sequence.slice(0, size))) longest = size
    }
  }
  return longest
}

/** As many whole characters as fit. */
function upToBytes(text: string, room: number): string {
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(room))
  return text.slice(0, read)
}
