import { type ContentPiece, type Heading, slicesOf } from '../../relay/answer.ts'
import type { StreamEncoder } from '../../relay/shape.ts'
import { aboutOf, calledOf, finishReason, usageOf } from './completion.ts'
import { failureBody } from './failure.ts'

interface StreamOptions {
  includeUsage: boolean
  /** Names of the tools that take a text. */
  custom?: ReadonlySet<string>
}

/** OpenAI's chunks. With `includeUsage` the last one before the end says what it took, and the others that they do not. */
export function openAiStream(
  heading: Heading,
  { includeUsage, custom = new Set() }: StreamOptions,
): StreamEncoder {
  const about = aboutOf(heading, 'chat.completion.chunk')
  const unsaid = includeUsage ? { usage: null } : {}
  let begun = false
  let calls = 0

  function chunk(delta: object, finish: string | null = null, more: object = {}): string {
    const choices = [{ index: 0, delta, logprobs: null, finish_reason: finish }]
    return frame({ ...about, choices, ...unsaid, ...more })
  }

  /* A delta of text is what a stream mostly consists of: only its text is written anew. */
  const [head, tail] = chunk({ content: '' }).split('"content":""') as [string, string]

  function begin(): string {
    if (begun) return ''
    begun = true
    return chunk({ role: 'assistant', content: '', refusal: null })
  }

  function called(call: Extract<ContentPiece, { type: 'tool_use' }>): string {
    const index = calls++
    const { begun, text, filled } = calledOf(call, custom.has(call.name))
    const slices = slicesOf(text).map((slice) => ({ index, ...filled(slice) }))
    return [{ index, id: call.id, ...begun }, ...slices].map((call) => chunk({ tool_calls: [call] })).join('')
  }

  function content(piece: ContentPiece): string {
    switch (piece.type) {
      case 'text':
        return piece.text === '' ? '' : `${head}"content":${JSON.stringify(piece.text)}${tail}`
      case 'tool_use':
        return called(piece)
      // This shape has no place for it.
      case 'thinking':
        return ''
    }
  }

  return {
    begin,
    piece: (piece) => begin() + content(piece),
    end: (end, { provider, durationMs, fallbackChain }) =>
      begin() +
      chunk({}, finishReason(end), { provider, durationMs, fallbackChain }) +
      (includeUsage ? frame({ ...about, choices: [], usage: usageOf(end.usage) }) : '') +
      'data: [DONE]\n\n',
    ping: () => ': ping\n\n',
    fail: (failure) => frame(failureBody(failure)),
  }
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
