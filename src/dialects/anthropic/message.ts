import {
  type ContentPiece,
  type End,
  type Heading,
  merged,
  type Served,
  transcriptOf,
} from '../../relay/answer.ts'
import type { TokenUsage } from '../../relay/ask.ts'

/** The body of an answer that is not streamed: the API's fields, and the relay's own. */
export function messageOf(
  heading: Heading,
  pieces: readonly ContentPiece[],
  end: End,
  served: Served,
): object {
  const { provider, durationMs, fallbackChain } = served
  return {
    id: messageId(heading.id),
    type: 'message',
    role: 'assistant',
    content: merged(pieces).map(blockOf),
    model: heading.model,
    stop_reason: end.stopReason,
    stop_sequence: end.stopSequence,
    usage: usageOf(end.usage),
    provider,
    durationMs,
    raw_transcript: transcriptOf(pieces),
    fallbackChain,
  }
}

export function messageId(callId: string): string {
  return `msg_${callId.replaceAll('-', '')}`
}

/** Tokens that came from a cache are among the others here. */
export function usageOf({ inputTokens, outputTokens }: TokenUsage) {
  return {
    input_tokens: inputTokens,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: 0,
    output_tokens: outputTokens,
  }
}

function blockOf(piece: ContentPiece): object {
  switch (piece.type) {
    case 'text':
      return { type: 'text', text: piece.text }
    case 'thinking':
      return { type: 'thinking', thinking: piece.text, signature: piece.signature ?? '' }
    case 'tool_use':
      return { type: 'tool_use', id: piece.id, name: piece.name, input: piece.input }
  }
}
