import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './anthropic.ts'
import { type Route, sendJson } from './api.ts'
import { completions } from './completions.ts'
import { gemini } from './gemini.ts'
import { responses } from './responses.ts'

export interface SeenRequest {
  method: string
  /** With its query. */
  path: string
  body: unknown
}

export interface ScriptedModel {
  url: string
  /** The last requests, oldest first. */
  requests: SeenRequest[]
  /** Sent with every answer: what is left of an account comes as headers. */
  headers: Record<string, string>
  /** What the next requests to the model come to, each instead of an answer: a status, or silence. */
  troubles: (number | 'silence')[]
  /** Resolves with the next request that comes in. */
  next(): Promise<SeenRequest>
  close(): Promise<void>
}

const MAX_REQUESTS = 1000
const MAX_BODY_BYTES = 64 * 1024 * 1024
const MODEL = {
  id: 'scripted',
  object: 'model',
  type: 'model',
  display_name: 'Scripted',
  created: 0,
  created_at: '1970-01-01T00:00:00Z',
  owned_by: 'nobody',
}
const models: Route = {
  method: 'GET',
  path: /^\/v1\/models$/,
  answer: ({ response }) => sendJson(response, 200, { object: 'list', data: [MODEL], has_more: false }),
}
const ROUTES = [models, ...anthropic, ...responses, ...completions, ...gemini]

/** A model whose answers are written in the prompt, on loopback. */
export async function startScriptedModel({ port = 0 } = {}): Promise<ScriptedModel> {
  const requests: SeenRequest[] = []
  const headers: Record<string, string> = {}
  const troubles: ScriptedModel['troubles'] = []
  const waiting: ((request: SeenRequest) => void)[] = []
  const closing = new AbortController()
  const server = createServer((request, response) => {
    handle(request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy()
      else sendJson(response, 500, { type: 'error', error: { type: 'api_error', message: String(error) } })
    })
  })

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readJson(request)
    const seen = { method: request.method ?? '', path: request.url ?? '', body }
    requests.push(seen)
    if (requests.length > MAX_REQUESTS) requests.shift()
    for (const resolve of waiting.splice(0)) resolve(seen)
    const path = seen.path.replace(/\?.*$/, '')
    const route = ROUTES.find((one) => one.method === seen.method && one.path.test(path))
    if (!route) {
      return sendJson(response, 404, {
        type: 'error',
        error: { type: 'not_found_error', message: 'no such path' },
      })
    }
    const trouble = seen.method === 'POST' && !path.endsWith('/count_tokens') ? troubles.shift() : undefined
    if (trouble === 'silence') return
    if (trouble !== undefined) {
      const error = { type: 'api_error', message: `scripted ${trouble}` }
      return sendJson(response, trouble, { type: 'error', error })
    }
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value)
    const gone = new AbortController()
    response.on('close', () => gone.abort())
    await route.answer({ path, body, response, signal: AbortSignal.any([gone.signal, closing.signal]) })
  }

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    headers,
    troubles,
    next: () => new Promise((resolve) => waiting.push(resolve)),
    close: () => {
      closing.abort()
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}

async function readJson(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = []
  let size = 0
  for await (const part of request as AsyncIterable<Buffer>) {
    size += part.length
    if (size > MAX_BODY_BYTES) throw new RangeError(`a request of more than ${MAX_BODY_BYTES} bytes`)
    parts.push(part)
  }
  return size === 0 ? null : (JSON.parse(Buffer.concat(parts).toString('utf8')) as unknown)
}
