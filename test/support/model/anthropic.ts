import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { type Call, planOf } from '../../../src/agents/demo/script.ts'
import { type MessagesRequest, readRequest } from './anthropic-request.ts'
import { type Exchange, type ModelApi, sendJson } from './api.ts'
import { play, type Stage } from './player.ts'

/** Anthropic's Messages API, with Claude Code's names for the tools. */
export const anthropic: ModelApi = {
  routes: {
    'POST /v1/messages': answer,
    'POST /v1/messages/count_tokens': ({ body, response }) => {
      sendJson(response, 200, { input_tokens: tokensOf(readRequest(body)) })
      return Promise.resolve()
    },
  },
}

async function answer({ body, response, signal }: Exchange): Promise<void> {
  const request = readRequest(body)
  const stage = request.stream ? streamed(request, response, signal) : whole(request, response)
  const complete = await play(planOf(request.said, request.facts), stage, signal)
  if (complete) stage.finish()
  else if (signal.aborted) response.destroy()
}

interface AnswerStage extends Stage {
  finish(): void
}

type Block =
  | { type: 'text'; text: string }
  | { type: 'thinking'; thinking: string; signature: string }
  | { type: 'tool_use'; id: string; name: string; input: unknown }

function streamed(request: MessagesRequest, response: ServerResponse, signal: AbortSignal): AnswerStage {
  let pending = ''
  let index = -1
  let kind: 'text' | 'thinking' = 'text'
  let chars = 0
  let called = false

  const event = (type: string, data: object) => {
    if (!response.headersSent && pending === '') {
      const message = { ...emptyMessage(request), usage: { ...usageOf(request), output_tokens: 1 } }
      pending = sse('message_start', { message })
    }
    pending += sse(type, data)
  }
  const send = () => {
    if (!response.headersSent) response.writeHead(200, { ...identity(), 'content-type': 'text/event-stream' })
    response.write(pending)
    pending = ''
  }
  const start = (block: Block) => event('content_block_start', { index: ++index, content_block: block })
  const piece = (delta: object) => event('content_block_delta', { index, delta })
  const close = () => event('content_block_stop', { index })

  return {
    open(next) {
      kind = next
      start(next === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' })
    },
    delta(text) {
      chars += text.length
      piece(kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text })
    },
    close() {
      if (kind === 'thinking') piece({ type: 'signature_delta', signature: SIGNATURE })
      close()
    },
    call(call) {
      called = true
      const { input, ...block } = toolUse(call)
      start({ ...block, input: {} })
      piece({ type: 'input_json_delta', partial_json: JSON.stringify(input) })
      close()
    },
    fail(status) {
      if (!response.headersSent) return sendFailure(response, status)
      response.end(pending + sse('error', failure(status)))
    },
    async flush() {
      if (pending !== '') send()
      if (response.writableNeedDrain) await once(response, 'drain', { signal }).catch(() => undefined)
    },
    finish() {
      const delta = { stop_reason: called ? 'tool_use' : 'end_turn', stop_sequence: null }
      event('message_delta', { delta, usage: { output_tokens: Math.ceil(chars / 4) } })
      event('message_stop', {})
      send()
      response.end()
    },
  }
}

function whole(request: MessagesRequest, response: ServerResponse): AnswerStage {
  const content: Block[] = []
  let kind: 'text' | 'thinking' = 'text'
  let parts: string[] = []
  let chars = 0
  return {
    open(next) {
      kind = next
      parts = []
    },
    delta(text) {
      chars += text.length
      parts.push(text)
    },
    close() {
      const text = parts.join('')
      content.push(
        kind === 'text' ? { type: 'text', text } : { type: 'thinking', thinking: text, signature: SIGNATURE },
      )
    },
    call: (call) => void content.push(toolUse(call)),
    fail: (status) => sendFailure(response, status),
    flush: () => Promise.resolve(),
    finish() {
      const stop_reason = content.at(-1)?.type === 'tool_use' ? 'tool_use' : 'end_turn'
      const usage = { ...usageOf(request), output_tokens: Math.ceil(chars / 4) }
      sendJson(response, 200, { ...emptyMessage(request), content, stop_reason, usage }, identity())
    },
  }
}

const SIGNATURE = 'c2NyaXB0ZWQ='

function toolUse(call: Call): Extract<Block, { type: 'tool_use' }> {
  return { type: 'tool_use', id: `toolu_${shortId()}`, ...namedTool(call) }
}

function namedTool(call: Call): { name: string; input: unknown } {
  switch (call.tool) {
    case 'shell':
      return { name: 'Bash', input: { command: call.command, description: 'Scripted command' } }
    case 'write':
      return { name: 'Write', input: { file_path: call.path, content: call.text } }
    case 'edit':
      return {
        name: 'Edit',
        input: { file_path: call.path, old_string: call.before, new_string: call.after },
      }
    case 'ask': {
      const options = [
        { label: 'Yes', description: 'Agree' },
        { label: 'No', description: 'Disagree' },
      ]
      const question = { question: call.question, header: 'Question', options, multiSelect: false }
      return { name: 'AskUserQuestion', input: { questions: [question] } }
    }
    case 'named':
      return { name: call.name, input: call.input }
  }
}

function emptyMessage({ model }: MessagesRequest) {
  const stop = { stop_reason: null, stop_sequence: null }
  return { id: `msg_${shortId()}`, type: 'message', role: 'assistant', model, content: [], ...stop }
}

function usageOf(request: MessagesRequest) {
  return { input_tokens: tokensOf(request), cache_creation_input_tokens: 0, cache_read_input_tokens: 0 }
}

/** Not what a tokeniser would say, but the same every time. */
function tokensOf({ said }: MessagesRequest): number {
  return Math.max(1, Math.ceil(said.reduce((sum, one) => sum + one.text.length, 0) / 4))
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

function sendFailure(response: ServerResponse, status: number): void {
  sendJson(response, status, failure(status), {
    ...identity(),
    ...(status === 429 && { 'retry-after': '0' }),
  })
}

function identity(): Record<string, string> {
  return { 'request-id': `req_${shortId()}` }
}

function shortId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 24)
}

function sse(type: string, data: object): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`
}
