import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ReadableStream } from 'node:stream/web'
import type { Engine } from '../../core/api.ts'
import { asCorralError } from '../../core/error.ts'
import { uuid } from '../../core/ids.ts'
import { untilDecided } from '../../core/wait.ts'
import { type HttpHandler, readBody } from '../../transports/http.ts'
import type { DialectContext, OpenDialect } from '../dialect.ts'
import { askHuman, type Asker, type Caller, type Desk, type Origin, tracked } from './asking.ts'
import type { Endpoint } from './endpoint.ts'

const PATH = '/mcp'
const WAIT_MS = 10 * 60 * 1000
const MANY = 10_000
/** Marks questions whose asker does not outlive the daemon. */
const ID_PREFIX = 'mcp-http-'

/** MCP over streamable HTTP. Nothing of MCP is loaded before the first request. */
export async function open(context: DialectContext): Promise<OpenDialect> {
  const { engine, daemon, door, homedir, http, onFault } = context
  const desk = deskOf(engine)
  const responses = new WeakMap<Request, AbortSignal>()
  let loading: Promise<Endpoint> | null = null

  const asker = tracked(async (asked, caller) => {
    const over = caller.request && responses.get(caller.request)
    try {
      return await askHuman(desk, originOf(caller, homedir), asked, either(caller.signal, over))
    } catch (error) {
      if (asCorralError(error).code === 'internal' && !(over?.aborted || caller.signal.aborted))
        onFault(error)
      throw error
    }
  })

  const handle: HttpHandler = async ({ req, res }) => {
    const over = new AbortController()
    res.on('close', () => over.abort())
    const body = req.method === 'POST' ? parse(await readBody(req, http.bodyLimit)) : undefined
    const endpoint = await (loading ??= load(asker, daemon.version))
    const request = requestOf(req, over.signal)
    responses.set(request, over.signal)
    await send(res, await endpoint.handle(request, body, over.signal))
  }

  for (const method of ['POST', 'GET', 'DELETE'] as const) door.route(method, PATH, handle)
  await withdrawLeftovers(engine)
  return {
    address: null,
    async close() {
      await (await loading)?.close()
      await asker.settled()
    },
  }
}

async function load(asker: Asker, version: string): Promise<Endpoint> {
  const { createEndpoint } = await import('./endpoint.ts')
  return createEndpoint({ asker, version })
}

function deskOf(engine: Engine): Desk {
  return {
    newId: () => `${ID_PREFIX}${uuid()}`,
    create: (session) => engine.sessions.create(session),
    request: async (question) => (await engine.approvals.ask(question)).decision,
    wait: async (id, signal) => (await untilDecided(engine, id, { timeoutMs: WAIT_MS, signal })).decision,
    async withdraw(id) {
      await engine.approvals.withdraw(id, 'mcp')
    },
  }
}

/** After a crash nobody waits for them any more: whoever asked had a connection to a daemon that is gone. */
async function withdrawLeftovers(engine: Engine): Promise<void> {
  for (const { id } of engine.approvals.list({ open: true, limit: MANY })) {
    if (id.startsWith(ID_PREFIX)) await engine.approvals.withdraw(id, 'mcp')
  }
}

function originOf({ client, request }: Caller, home: string): Origin {
  const named =
    request?.headers.get('x-session-id') ?? (request && new URL(request.url).searchParams.get('session'))
  return named ? { sessionId: named } : { client, cwd: home }
}

/** Kept alive by its sources, unlike what `AbortSignal.any` makes. */
function either(one: AbortSignal, other: AbortSignal | undefined): AbortSignal {
  const both = new AbortController()
  for (const signal of other ? [one, other] : [one]) {
    if (signal.aborted) both.abort()
    else signal.addEventListener('abort', () => both.abort(), { once: true })
  }
  return both.signal
}

function parse(body: Buffer): unknown {
  try {
    return JSON.parse(body.toString()) as unknown
  } catch {
    return undefined
  }
}

function requestOf(req: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers()
  for (const [name, values] of Object.entries(req.headersDistinct)) {
    for (const value of values ?? []) headers.append(name, value)
  }
  return new Request(new URL(req.url ?? '/', 'http://localhost'), {
    method: req.method ?? 'GET',
    headers,
    signal,
  })
}

async function send(res: ServerResponse, response: Response): Promise<void> {
  if (res.destroyed) return void response.body?.cancel()
  res.writeHead(response.status, Object.fromEntries(response.headers))
  if (!response.body) return void res.end()
  res.flushHeaders()
  // A client that goes away in the middle is nothing to report.
  await pipeline(Readable.fromWeb(response.body as ReadableStream), res).catch(() => {})
}
