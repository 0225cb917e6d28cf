import { answer, type Block, type Wire } from './answer.ts'
import { readRequest } from './anthropic-request.ts'
import { type Route, sendJson, shortId, sse } from './api.ts'
import type { Ask } from './conversation.ts'

/** Anthropic's Messages API, as claude speaks it. */
export const anthropic: Route[] = [
  {
    method: 'POST',
    path: /^\/v1\/messages$/,
    answer: (exchange) => {
      const ask = readRequest(exchange.body)
      return answer(ask, wireFor(ask), exchange)
    },
  },
  {
    method: 'POST',
    path: /^\/v1\/messages\/count_tokens$/,
    answer: ({ body, response }) => sendJson(response, 200, { input_tokens: readRequest(body).tokens }),
  },
]

const SIGNATURE = 'c2NyaXB0ZWQ='

function wireFor({ model, tokens }: Ask): Wire {
  const event = (type: string, data: object) => sse({ type, ...data }, type)
  const piece = (index: number, delta: object) => event('content_block_delta', { index, delta })
  const stop = (index: number) => event('content_block_stop', { index })
  const usage = { input_tokens: tokens, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
  const message = {
    id: `msg_${shortId()}`,
    type: 'message',
    role: 'assistant',
    model,
    content: [] as object[],
    stop_reason: null,
    stop_sequence: null,
    usage: { ...usage, output_tokens: 1 },
  }
  const stopReason = (called: boolean) => ({
    stop_reason: called ? 'tool_use' : 'end_turn',
    stop_sequence: null,
  })

  return {
    start: () => event('message_start', { message }),
    open: ({ kind }, index) => {
      const content_block =
        kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' }
      return event('content_block_start', { index, content_block })
    },
    delta: ({ kind }, text, index) =>
      piece(
        index,
        kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text },
      ),
    close: ({ kind }, index) => {
      const signed =
        kind === 'thinking' ? piece(index, { type: 'signature_delta', signature: SIGNATURE }) : ''
      return signed + stop(index)
    },
    call: (block, index) => {
      const content_block = { ...contentOf(block), input: {} }
      const input = { type: 'input_json_delta', partial_json: JSON.stringify(block.input) }
      return event('content_block_start', { index, content_block }) + piece(index, input) + stop(index)
    },
    finish: (given) => {
      const delta = stopReason(given.called)
      return (
        event('message_delta', { delta, usage: { output_tokens: given.tokens } }) + event('message_stop', {})
      )
    },
    broken: (status) => sse(failure(status), 'error'),
    whole: (given) => {
      const content = given.blocks.map(contentOf)
      return {
        ...message,
        content,
        ...stopReason(given.called),
        usage: { ...usage, output_tokens: given.tokens },
      }
    },
    failure,
    headers: (status) => {
      return { 'request-id': `req_${shortId()}`, ...(status === 429 && { 'retry-after': '0' }) }
    },
  }
}

function contentOf(block: Block) {
  switch (block.kind) {
    case 'text':
      return { type: 'text', text: block.text }
    case 'thinking':
      return { type: 'thinking', thinking: block.text, signature: SIGNATURE }
    case 'call':
      return { type: 'tool_use', id: `toolu_${block.id}`, name: block.name, input: block.input }
  }
}

const ERROR_TYPES: Record<number, string> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  529: 'overloaded_error',
}

function failure(status: number) {
  return { type: 'error', error: { type: ERROR_TYPES[status] ?? 'api_error', message: `scripted ${status}` } }
}
