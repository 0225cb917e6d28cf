import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  decodeBody,
  HttpError,
  isJsonType,
  readBody,
  type HttpApp,
  type HttpRequest,
} from '../../transports/http.ts'
import { readForCounting } from '../anthropic/request.ts'
import { debugBundle } from './bundle.ts'
import { failureOf, invalid, RelayFailure } from '../../relay/failure.ts'
import type { RelayParts } from './parts.ts'
import { checkedId, sendFailure, sendJson } from './serve.ts'
import { ANTHROPIC } from '../anthropic/shape.ts'
import { OPENAI } from '../openai/shape.ts'
import { modelList, modelView, recentCall } from './views.ts'
import { inputTokens } from '../../relay/tokens.ts'

/** Returns what is answered, with its status where that is not 200. */
type Handler = (request: HttpRequest, body: unknown) => Answer | Promise<Answer>
type Answer = object | readonly [status: number, body: object]

const MAX_LIMIT = 1000
const MAX_WARM = 64
const WARM_MS = 60_000

/** Every route of the relay. */
export function addRoutes(app: HttpApp, parts: RelayParts): void {
  const { about, calls, activity, events, license, settings, pool, sessions, serve, cascade, newId } = parts

  /** Answers with what the handler returns, or with the failure that it throws. */
  function route(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, handler: Handler): void {
    app.route(method, path, async (request) => {
      const { req, res } = request
      try {
        const body = method === 'GET' ? null : await read(req)
        const answer = await handler(request, body)
        if (Array.isArray(answer)) sendJson(res, ...(answer as [number, object]))
        else sendJson(res, 200, answer)
      } catch (error) {
        if (res.headersSent || res.destroyed) return
        const failure = asFailure(error)
        if (failure.status === 500) parts.onFault(error)
        sendFailure(req, res, failure, newId())
      }
    })
  }

  async function read(req: IncomingMessage): Promise<unknown> {
    const bytes = await bytesOf(req)
    if (bytes.length === 0 && req.headers['content-type'] === undefined) return {}
    if (!isJsonType(req.headers['content-type'])) {
      const message = 'content-type must be application/json'
      throw new RelayFailure(415, 'invalid_request_error', message, { field: 'content-type' })
    }
    try {
      return JSON.parse(bytes.toString('utf8'))
    } catch {
      throw invalid('', 'it is not JSON')
    }
  }

  async function bytesOf(req: IncomingMessage): Promise<Buffer> {
    try {
      return await decodeBody(await readBody(req, parts.bodyLimit), req.headers, parts.bodyLimit)
    } catch (error) {
      throw asFailure(error)
    }
  }

  app.route('POST', '/v1/messages', (request) => serve(request, ANTHROPIC, read))
  app.route('POST', '/v1/chat/completions', (request) => serve(request, OPENAI, read))
  route('POST', '/v1/messages/count_tokens', (_, body) => ({
    input_tokens: inputTokens(readForCounting(body)),
  }))
  route('GET', '/v1/models', async () => modelList(await about.models()))
  route('GET', '/v1/models/:id', async ({ params }) => {
    const id = params['id']!
    const model = await about.model(id)
    if (model) return modelView(model)
    throw new RelayFailure(404, 'not_found_error', `No model ${id}`, { extra: { code: 'model_not_found' } })
  })

  route('GET', '/v1/health', () => about.health())
  route('GET', '/v1/version', () => about.version())
  route('GET', '/v1/availability', () => about.availability())

  route('GET', '/v1/license', () => license.view())
  route('POST', '/v1/license/refresh', () => license.refresh())

  route('GET', '/v1/sessions', () => ({ sessions: [], pool: pool.counts() }))
  route('POST', '/v1/warmup', async (_, body) => {
    const { count, wait } = warmupOf(body, settings.current().poolSize)
    const startedAt = parts.now()
    const { idle, spawning } = await pool.warm(count, wait ? WARM_MS : 0)
    const warm = { ok: idle >= count || !wait, idle, spawning, latency_ms: parts.now() - startedAt }
    return [wait ? 200 : 202, warm]
  })
  route('POST', '/v1/sessions/:id/clear-prompt', ({ params }) => {
    const id = idOf(params)
    // There is no half-written prompt here that could be cleared: a call has all of it.
    const cleared = { prompt: true, staged: 0, attachments: 0 }
    const note = sessions.has(id) ? {} : { note: 'no active session for this id' }
    return { ok: true, session_id: id, cleared, ...note }
  })
  const reset: Handler = async ({ params }) => {
    const id = idOf(params)
    const startedAt = parts.now()
    await sessions.reset(id)
    return { ok: true, session_id: id, latency_ms: parts.now() - startedAt }
  }
  route('POST', '/v1/sessions/:id/reset', reset)
  route('POST', '/v1/conversations/:id/clear', reset)
  route('DELETE', '/v1/sessions/:id', ({ params }) => {
    const id = idOf(params)
    const ok = sessions.forget(id)
    return [ok ? 200 : 404, { ok, session_id: id }]
  })

  route('GET', '/v1/recent-calls', ({ query }) => {
    const after = query.get('after')
    const limit = numberIn(query, 'limit', MAX_LIMIT)
    const list = calls.list({ ...(limit !== null && { limit }), ...(after !== null && { after }) })
    return { calls: list.map(recentCall) }
  })
  route('POST', '/v1/recent-calls/clear', async () => {
    await calls.clear()
    return { ok: true }
  })
  app.route('GET', '/v1/activity/stream', ({ req, res }) => activity.open(res, lastEventId(req)))
  app.route('GET', '/v1/events', ({ req, res, query }) => {
    if (req.headers.accept?.includes('text/event-stream'))
      return parts.eventStream.open(res, lastEventId(req))
    return answerEvents(req, res, query)
  })
  route('POST', '/v1/events/clear', () => {
    events.clear()
    return { ok: true }
  })

  function answerEvents(req: IncomingMessage, res: ServerResponse, query: URLSearchParams): void {
    try {
      const [after, limit] = [numberIn(query, 'after'), numberIn(query, 'limit', MAX_LIMIT)]
      const list = events.list({ ...(after !== null && { after }), ...(limit !== null && { limit }) })
      sendJson(res, 200, { events: list })
    } catch (error) {
      sendFailure(req, res, failureOf(error), newId())
    }
  }

  route('GET', '/v1/settings', () => settings.view())
  route('PATCH', '/v1/settings', async (_, body) => {
    await parts.changeSettings(body)
    return settings.view()
  })
  route('GET', '/v1/debug-bundle', async () => {
    const bundle = {
      version: await about.version(),
      settings: settings.view(),
      license: license.view(),
      pool: pool.counts(),
      providers: await cascade.status(),
      calls: calls.list(),
    }
    return debugBundle(bundle, settings.secrets()) as object
  })
}

function asFailure(error: unknown): RelayFailure {
  if (!(error instanceof HttpError)) return failureOf(error)
  const kind = error.status === 413 ? 'request_too_large' : 'invalid_request_error'
  return new RelayFailure(error.status, kind, error.message)
}

function idOf(params: Record<string, string>): string {
  return checkedId(params['id']!)
}

function lastEventId(req: IncomingMessage): string | undefined {
  const given = req.headers['last-event-id']
  return typeof given === 'string' ? given : undefined
}

function warmupOf(body: unknown, size: number): { count: number; wait: boolean } {
  const { count = Math.max(1, size), wait = false } = (body ?? {}) as { count?: unknown; wait?: unknown }
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > MAX_WARM) {
    throw invalid('count', `\`count\` must be a whole number up to ${MAX_WARM}`)
  }
  if (typeof wait !== 'boolean') throw invalid('wait', '`wait` must be true or false')
  return { count, wait }
}

function numberIn(query: URLSearchParams, name: string, max = Number.MAX_SAFE_INTEGER): number | null {
  const given = query.get(name)
  if (given === null) return null
  if (/^\d{1,16}$/.test(given)) return Math.min(Number(given), max)
  throw new RelayFailure(400, 'invalid_request_error', `${name} must be a whole number`, { field: name })
}
