import { type ContentPiece, type Heading, slicesOf, type StreamEncoder } from '../answer.ts'
import { failureBody } from '../errors.ts'
import { aboutOf, finishReason, usageOf } from './completion.ts'

/** OpenAI's chunks. With `includeUsage` the last one before the end says what it took, and the others that they do not. */
export function openAiStream(heading: Heading, { includeUsage }: { includeUsage: boolean }): StreamEncoder {
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

  function called({ id, name, input }: Extract<ContentPiece, { type: 'tool_use' }>): string {
    const index = calls++
    const named = { index, id, type: 'function', function: { name, arguments: '' } }
    const filled = slicesOf(JSON.stringify(input)).map((slice) => ({ index, function: { arguments: slice } }))
    return [named, ...filled].map((call) => chunk({ tool_calls: [call] })).join('')
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
    fail: (failure) => frame(failureBody(failure, 'openai', heading.id)),
  }
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}
