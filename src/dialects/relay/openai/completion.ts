import { type ContentPiece, type End, type Heading, type Served, textIn } from '../answer.ts'
import type { StopReason, TokenUsage } from '../ask.ts'

const FINISH: Record<StopReason, string> = {
  end_turn: 'stop',
  stop_sequence: 'stop',
  max_tokens: 'length',
  tool_use: 'tool_calls',
  refusal: 'content_filter',
}

/** The body of an answer that is not streamed. */
export function completionOf(
  heading: Heading,
  pieces: readonly ContentPiece[],
  end: End,
  served: Served,
): object {
  const calls = pieces.filter((piece) => piece.type === 'tool_use').map(toolCall)
  const message = {
    role: 'assistant',
    content: textIn(pieces, 'text') || (calls.length > 0 ? null : ''),
    refusal: null,
    ...(calls.length > 0 && { tool_calls: calls }),
  }
  const { provider, durationMs, fallbackChain } = served
  return {
    ...aboutOf(heading, 'chat.completion'),
    choices: [{ index: 0, message, logprobs: null, finish_reason: FINISH[end.stopReason] }],
    usage: usageOf(end.usage),
    provider,
    durationMs,
    fallbackChain,
  }
}

export function finishReason({ stopReason }: End): string {
  return FINISH[stopReason]
}

export function aboutOf({ id, model, startedAt }: Heading, object: string) {
  return { id: `chatcmpl-${id}`, object, created: Math.floor(startedAt / 1000), model }
}

export function usageOf({ inputTokens, outputTokens }: TokenUsage) {
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  }
}

function toolCall({ id, name, input }: Extract<ContentPiece, { type: 'tool_use' }>): object {
  return { id, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}
