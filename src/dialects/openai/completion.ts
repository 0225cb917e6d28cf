import { type ContentPiece, type End, type Heading, type Served, textIn } from '../../relay/answer.ts'
import type { StopReason, TokenUsage } from '../../relay/ask.ts'
import { customText } from './custom.ts'

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
  custom: ReadonlySet<string> = new Set(),
): object {
  const calls = pieces
    .filter((piece) => piece.type === 'tool_use')
    .map((call) => ({ id: call.id, ...calledOf(call, custom.has(call.name)).whole }))
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

/** What a call says beside its id: at once, or a beginning and what its text is streamed as. */
export function calledOf({ name, input }: Extract<ContentPiece, { type: 'tool_use' }>, custom: boolean) {
  const type = custom ? 'custom' : 'function'
  const text = custom ? customText(input) : JSON.stringify(input)
  const filled = (part: string) => ({ [type]: custom ? { input: part } : { arguments: part } })
  const named = (part: string) => ({ type, [type]: { name, ...filled(part)[type] } })
  return { whole: named(text), begun: named(''), text, filled }
}
