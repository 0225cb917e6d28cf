import { type Answer, answer, type Block, type Called, type Wire } from './answer.ts'
import { type Route, shortId, sse } from './api.ts'
import { type Ask, attachmentIn, type Entry, listOf, understand } from './conversation.ts'
import { openaiError, openaiHeaders } from './openai-error.ts'

/** OpenAI's chat completions, as opencode speaks them. */
export const completions: Route[] = [
  {
    method: 'POST',
    path: /^\/v1\/chat\/completions$/,
    answer: (exchange) => {
      const request = (exchange.body ?? {}) as Request
      const ask = readRequest(request)
      const wire = wireFor(ask, request.stream_options?.include_usage === true)
      return isTitle(ask) ? answer(ask, wire, exchange, TITLE) : answer(ask, wire, exchange)
    },
  },
]

interface Request {
  model?: string
  stream?: boolean
  stream_options?: { include_usage?: boolean }
  messages?: unknown
  tools?: unknown
  reasoning_effort?: unknown
}

interface Part {
  type?: string
  text?: string
  image_url?: { url?: string }
  file?: { file_data?: string }
}

const TITLE = [{ do: 'say', text: 'A scripted title' } as const]

/** Beside a session's first turn opencode asks for a title, with the user's own text in the request. */
function isTitle({ tools, facts }: Ask): boolean {
  return tools.length === 0 && facts.system.some((text) => text.startsWith('You are a title generator'))
}

function readRequest({ model, stream, messages, tools, reasoning_effort: effort }: Request): Ask {
  return {
    ...understand(listOf<{ role?: string; content?: unknown }>(messages).flatMap(entriesOf), effort),
    model: model ?? 'scripted',
    stream: stream === true,
    tools: listOf<{ function?: { name?: string } }>(tools).map((tool) => tool.function?.name ?? ''),
  }
}

function entriesOf({ role, content }: { role?: string; content?: unknown }, message: number): Entry[] {
  if (role === 'assistant') return [{ by: 'model' }]
  const parts = typeof content === 'string' ? [{ type: 'text', text: content }] : listOf<Part>(content)
  const attached = parts.flatMap((part) => attachmentIn(part.image_url?.url ?? part.file?.file_data))
  const texts = parts.filter((part) => part.type === 'text').map((part) => part.text ?? '')
  if (role === 'tool') return [...attached, { by: 'tool', text: texts.join('\n') }]
  const entry = (text: string): Entry =>
    role === 'user' ? { by: 'user', text, message } : { by: 'system', text }
  return [...attached, ...texts.map(entry)]
}

function wireFor({ model, tokens }: Ask, includeUsage: boolean): Wire {
  const about = { id: `chatcmpl-${shortId()}`, created: Math.floor(Date.now() / 1000), model }
  const frame = (rest: object) => sse({ ...about, object: 'chat.completion.chunk', ...rest })
  const chunk = (delta: object, finish_reason: string | null = null) =>
    frame({ choices: [{ index: 0, delta, logprobs: null, finish_reason }] })
  const usageOf = (given: Answer) => {
    const total_tokens = tokens + given.tokens
    return { prompt_tokens: tokens, completion_tokens: given.tokens, total_tokens }
  }
  let calls = 0

  return {
    start: () => chunk({ role: 'assistant', content: '' }),
    open: () => '',
    delta: ({ kind }, text) => chunk(kind === 'text' ? { content: text } : { reasoning_content: text }),
    close: () => '',
    call: (block) => {
      const { function: called, ...rest } = toolCall(block)
      const index = calls++
      const named = { index, ...rest, function: { name: called.name, arguments: '' } }
      const filled = { index, function: { arguments: called.arguments } }
      return chunk({ tool_calls: [named] }) + chunk({ tool_calls: [filled] })
    },
    finish: (given) => {
      const usage = includeUsage ? frame({ choices: [], usage: usageOf(given) }) : ''
      return `${chunk({}, finishReason(given))}${usage}data: [DONE]\n\n`
    },
    broken: (status) => sse(openaiError(status)),
    whole: (given) => {
      const message = {
        role: 'assistant',
        content: textOf(given, 'text') || null,
        reasoning_content: textOf(given, 'thinking') || null,
        ...(given.called && { tool_calls: given.blocks.filter(isCall).map(toolCall) }),
      }
      const choices = [{ index: 0, message, logprobs: null, finish_reason: finishReason(given) }]
      return { ...about, object: 'chat.completion', choices, usage: usageOf(given) }
    },
    failure: openaiError,
    headers: openaiHeaders,
  }
}

function finishReason({ called }: Answer): string {
  return called ? 'tool_calls' : 'stop'
}

function textOf({ blocks }: Answer, kind: 'text' | 'thinking'): string {
  return blocks.map((block) => (block.kind === kind ? block.text : '')).join('')
}

function isCall(block: Block): block is Called {
  return block.kind === 'call'
}

function toolCall({ id, name, input }: Called) {
  return { id: `call_${id}`, type: 'function', function: { name, arguments: JSON.stringify(input) } }
}
