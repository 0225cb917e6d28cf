import { invalid } from '../../relay/failure.ts'
import type { Relay } from '../../relay/relay.ts'
import { inputTokens } from '../../relay/tokens.ts'
import type { HttpApp, HttpMethod, HttpRequest } from '../../transports/http.ts'
import { readForCounting } from '../anthropic/request.ts'
import { ANTHROPIC } from '../anthropic/shape.ts'
import { OPENAI } from '../openai/shape.ts'
import { availability, health, model, type Own, version } from './about.ts'
import { debugBundle } from './bundle.ts'
import { asFailure, checkedId, lastEventId, numberIn, readJson } from './request.ts'
import { sendFailure, sendJson } from './response.ts'
import { serve } from './serve.ts'
import type { Feed } from './sse-feed.ts'
import { modelList, recentCall } from './views.ts'

/** All that the routes need. */
interface RouteParts extends Own {
  relay: Relay
  activity: Feed
  /** What happens in the relay, for who wants a stream of it. */
  events: Feed
  bodyLimit: number
  pingMs: number
  newId: () => string
  onFault: (error: unknown) => void
}

/** Returns what is answered, with its status where that is not 200; null: the handler answers itself. */
type Handler = (request: HttpRequest, body: unknown) => Reply | Promise<Reply>
type Reply = object | readonly [status: number, body: object] | null
type Routes = Readonly<Record<`${HttpMethod} /v1/${string}`, Handler>>

const MAX_LIMIT = 1000
const MAX_WARM = 64
const WARM_MS = 60_000

/** Every route of the relay. */
export function addRoutes(app: HttpApp, parts: RouteParts): void {
  const { relay } = parts
  app.route('POST', '/v1/messages', (request) => serve(relay, ANTHROPIC, request, parts))
  app.route('POST', '/v1/chat/completions', (request) => serve(relay, OPENAI, request, parts))
  const routes = {
    ...aboutRoutes(parts),
    ...sessionRoutes(relay),
    ...recordRoutes(parts),
    ...ownRoutes(parts),
  }
  for (const [name, handler] of Object.entries(routes)) {
    const [method, path] = name.split(' ') as [HttpMethod, string]
    app.route(method, path, (request) => answer(parts, request, handler))
  }
}

/** Answers with what the handler returns, or with the failure that it throws. */
async function answer(parts: RouteParts, request: HttpRequest, handler: Handler): Promise<void> {
  const { req, res } = request
  try {
    const body = req.method === 'GET' ? null : await readJson(req, parts.bodyLimit)
    const answer = await handler(request, body)
    if (Array.isArray(answer)) sendJson(res, ...(answer as [number, object]))
    else if (answer) sendJson(res, 200, answer)
  } catch (error) {
    if (res.headersSent || res.destroyed) return
    const failure = asFailure(error)
    if (failure.status === 500) parts.onFault(error)
    sendFailure(req, res, failure, parts.newId())
  }
}

/** What can be asked about models and about the relay. */
function aboutRoutes(parts: RouteParts): Routes {
  const { relay } = parts
  return {
    'POST /v1/messages/count_tokens': (_, body) => ({ input_tokens: inputTokens(readForCounting(body)) }),
    'GET /v1/models': async () => modelList(await relay.models()),
    'GET /v1/models/:id': ({ params }) => model(relay, params['id']!),
    'GET /v1/health': () => health(relay, parts),
    'GET /v1/version': () => version(relay, parts),
    'GET /v1/availability': () => availability(relay),
  }
}

/** What can be done with sessions that have a name, and with the processes that wait for calls. */
function sessionRoutes({ sessions, pool, settings }: Relay): Routes {
  const reset: Handler = async ({ params }) => {
    const id = idOf(params)
    const startedAt = Date.now()
    await sessions.reset(id)
    return { ok: true, session_id: id, latency_ms: Date.now() - startedAt }
  }
  return {
    'GET /v1/sessions': () => ({ sessions: [], pool: pool.counts() }),
    'POST /v1/warmup': async (_, body) => {
      const { count, wait } = warmupOf(body, settings.current().poolSize)
      const startedAt = Date.now()
      const { idle, spawning } = await pool.warm(count, wait ? WARM_MS : 0)
      const warm = { ok: idle >= count || !wait, idle, spawning, latency_ms: Date.now() - startedAt }
      return [wait ? 200 : 202, warm]
    },
    'POST /v1/sessions/:id/clear-prompt': ({ params }) => {
      const id = idOf(params)
      // There is no half-written prompt here that could be cleared: a call has all of it.
      const cleared = { prompt: true, staged: 0, attachments: 0 }
      const note = sessions.has(id) ? {} : { note: 'no active session for this id' }
      return { ok: true, session_id: id, cleared, ...note }
    },
    'POST /v1/sessions/:id/reset': reset,
    'POST /v1/conversations/:id/clear': reset,
    'DELETE /v1/sessions/:id': ({ params }) => {
      const id = idOf(params)
      const ok = sessions.forget(id)
      return [ok ? 200 : 404, { ok, session_id: id }]
    },
  }
}

/** What has happened: calls that are over, and events. */
function recordRoutes({ relay, activity, events: eventFeed }: RouteParts): Routes {
  const { calls, series, events } = relay
  return {
    'GET /v1/recent-calls': ({ query }) => {
      const after = query.get('after')
      const list = calls.list({ ...numberIn(query, 'limit', MAX_LIMIT), ...(after !== null && { after }) })
      return { calls: list.map(recentCall) }
    },
    'POST /v1/recent-calls/clear': async () => {
      series.flush()
      await calls.clear()
      return { ok: true }
    },
    'GET /v1/activity/stream': ({ req, res }) => {
      activity.open(res, lastEventId(req))
      return null
    },
    'GET /v1/events': ({ req, res, query }) => {
      const wantsStream = req.headers.accept?.includes('text/event-stream')
      if (!wantsStream) {
        return {
          events: events.list({ ...numberIn(query, 'after'), ...numberIn(query, 'limit', MAX_LIMIT) }),
        }
      }
      eventFeed.open(res, lastEventId(req))
      return null
    },
    'POST /v1/events/clear': () => {
      events.clear()
      return { ok: true }
    },
  }
}

/** What is the user's: the license, the settings, and what goes into a bug report. */
function ownRoutes(parts: RouteParts): Routes {
  const { license, settings, pool, cascade, calls, changeSettings } = parts.relay
  return {
    'GET /v1/license': () => license.view(),
    'POST /v1/license/refresh': () => license.refresh(),
    'GET /v1/settings': () => settings.view(),
    'PATCH /v1/settings': async (_, body) => {
      await changeSettings(body)
      return settings.view()
    },
    'GET /v1/debug-bundle': async () => {
      const bundle = {
        version: await version(parts.relay, parts),
        settings: settings.view(),
        license: license.view(),
        pool: pool.counts(),
        providers: await cascade.status(),
        calls: calls.list(),
      }
      return debugBundle(bundle, settings.secrets()) as object
    },
  }
}

function idOf(params: Record<string, string>): string {
  return checkedId(params['id']!)
}

function warmupOf(body: unknown, size: number): { count: number; wait: boolean } {
  const { count = Math.max(1, size), wait = false } = (body ?? {}) as { count?: unknown; wait?: unknown }
  if (typeof count !== 'number' || !Number.isInteger(count) || count < 0 || count > MAX_WARM) {
    throw invalid('count', `\`count\` must be a whole number up to ${MAX_WARM}`)
  }
  if (typeof wait !== 'boolean') throw invalid('wait', '`wait` must be true or false')
  return { count, wait }
}
