import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { ServerOptions as TlsServerOptions } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { HttpError, NEXT_REQUEST, sendError } from './http-message.ts'
import { createRouter, type Router } from './router.ts'
import { refuseUpgrade, type UpgradeHandler } from './upgrade.ts'

// Not imported: that would also evaluate what these modules load only on demand (a whole HTTP client, 4 MB and 30 ms).
const { createServer } = process.getBuiltinModule('node:http')

export { decodeBody } from './decode.ts'
export { HttpError, isJsonType, readBody, sendError, sendJson, sendText } from './http-message.ts'

export interface HttpRequest {
  req: IncomingMessage
  res: ServerResponse
  params: Record<string, string>
  query: URLSearchParams
}

/** Answers a request. What it throws becomes the answer: an `HttpError` as itself, anything else as 500. */
export type HttpHandler = (request: HttpRequest) => void | Promise<void>

/** Looks at a request before it is routed; what it returns is the refusal. */
export interface Guard {
  (req: IncomingMessage): HttpError | null
  /** Told of each connection before its first request. */
  meet?(socket: Socket): void
}

export interface ListenOptions {
  host: string
  port: number
  tls?: { cert: string | Buffer; key: string | Buffer }
  guard?: Guard
  /** How long a client may take to say what it wants, TLS and headers; Node's own times unless told. */
  handshakeMs?: number
}

export interface HttpListener {
  readonly host: string
  readonly port: number
  readonly url: string
  /** Stops accepting, ends idle connections, waits up to `graceMs` for answers under way, then cuts. */
  close(graceMs?: number): Promise<void>
}

export interface HttpApp {
  route(method: HttpMethod, path: string, handler: HttpHandler): void
  /** Hands connections over that ask for another protocol at this path, before `listen`; `*` is for all other paths. */
  upgrade(path: string, handler: UpgradeHandler): void
  /** May be called several times: every listener serves the same routes. Rejects with the system's error (EADDRINUSE …). */
  listen(options: ListenOptions): Promise<HttpListener>
  close(graceMs?: number): Promise<void>
}

export type HttpMethod = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface HttpAppOptions {
  /** Requests that announce a body above this are refused before they send it. */
  bodyLimit?: number
  onError?(error: unknown): void
  /** Awaited before a request is answered: adds the routes when somebody wants one. */
  prepare?(): Promise<void>
  /** The path of the route that a request's path means; the path itself unless told. */
  routePath?(path: string): string
  /** Answers what no handler does: a refusal of the guard, an unknown path. Text unless told. */
  refuse?(req: IncomingMessage, res: ServerResponse, error: HttpError): void
}

export const DEFAULT_BODY_LIMIT = 32 * 1024 * 1024
const DEFAULT_GRACE_MS = 2_000

/** A route table on node:http, served by any number of listeners. No CORS headers, ever. */
export function createHttpApp(options: HttpAppOptions = {}): HttpApp {
  const router = createRouter<HttpHandler>()
  const upgrades = new Map<string, UpgradeHandler>()
  const listeners = new Set<HttpListener>()
  const bodyLimit = options.bodyLimit ?? DEFAULT_BODY_LIMIT
  const refuse = options.refuse ?? ((_, res, error) => sendError(res, error))

  function prepareServer(server: Server, guard: Guard | undefined): void {
    const onRequest = answerRequests(router, { ...options, refuse }, guard)
    server.on('request', onRequest)
    if (guard?.meet) server.on('connection', guard.meet)
    if (upgrades.size > 0) server.on('upgrade', handUpgradesTo(upgrades, guard))
    server.on('checkContinue', (req: IncomingMessage, res: ServerResponse) => {
      if (Number(req.headers['content-length']) > bodyLimit) {
        res.shouldKeepAlive = false
        return refuse(req, res, new HttpError(413, 'The request body is too large'))
      }
      res.writeContinue()
      onRequest(req, res)
    })
  }

  return {
    route: (method, path, handle) => router.add(method, path, handle),
    upgrade: (path, handle) => void upgrades.set(path, handle),
    async listen({ host, port, tls, guard, handshakeMs }) {
      const server = newServer({ tls, handshakeMs, upgrades: upgrades.size > 0 })
      prepareServer(server, guard)
      const closeServer = closer(server)
      await listening(server, host, port)
      const bound = (server.address() as AddressInfo).port
      const listener: HttpListener = {
        host,
        port: bound,
        url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`,
        close(graceMs = DEFAULT_GRACE_MS) {
          listeners.delete(listener)
          return closeServer(graceMs)
        },
      }
      listeners.add(listener)
      return listener
    },
    async close(graceMs) {
      await Promise.all([...listeners].map((listener) => listener.close(graceMs)))
    },
  }
}

type Answering = HttpAppOptions & Required<Pick<HttpAppOptions, 'refuse'>>

function answerRequests(
  router: Router<HttpHandler>,
  { prepare, routePath, refuse, onError }: Answering,
  guard: Guard | undefined,
): RequestListener {
  async function serve(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const refusal = guard?.(req)
    await prepare?.()
    if (refusal) return refuse(req, res, refusal)
    const [asked, query] = split(req.url ?? '/')
    const path = routePath?.(asked) ?? asked
    const found = router.find(req.method ?? 'GET', path)
    if (found) return found.target({ req, res, params: found.params, query: new URLSearchParams(query) })
    const allow = router.methods(path).join(', ')
    refuse(req, res, allow ? new HttpError(405, '', { allow }) : new HttpError(404))
  }

  return (req, res) => {
    req.socket.emit(NEXT_REQUEST)
    serve(req, res).catch((error: unknown) => {
      if (!(error instanceof HttpError)) onError?.(error)
      if (res.headersSent) res.destroy()
      else sendError(res, error instanceof HttpError ? error : new HttpError(500, 'Internal error'))
    })
  }
}

function handUpgradesTo(handlers: ReadonlyMap<string, UpgradeHandler>, guard: Guard | undefined) {
  return (req: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const [path] = split(req.url ?? '/')
    const target = handlers.get(path) ?? handlers.get('*')
    const refusal = guard?.(req) ?? (target ? null : new HttpError(404))
    if (refusal) refuseUpgrade(socket as Socket, refusal)
    else target!(req, socket as Socket, head)
  }
}

interface ServerSettings {
  tls: ListenOptions['tls']
  handshakeMs: number | undefined
  upgrades: boolean
}

function newServer({ tls, handshakeMs: limit, upgrades }: ServerSettings): Server {
  const options: TlsServerOptions = {
    ...(limit !== undefined && { headersTimeout: limit, connectionsCheckingInterval: Math.ceil(limit / 4) }),
    // Whoever asks for a protocol that is none of ours is answered in plain HTTP.
    ...(upgrades && { shouldUpgradeCallback: isWebSocket }),
  }
  if (!tls) return createServer(options)
  // Only who listens for others pays for TLS.
  const { createServer: createTlsServer } = process.getBuiltinModule('node:https')
  const handshake = limit === undefined ? {} : { handshakeTimeout: limit }
  return createTlsServer({ ...options, ...handshake, cert: tls.cert, key: tls.key })
}

function isWebSocket(req: IncomingMessage): boolean {
  return req.headers.upgrade?.toLowerCase() === 'websocket'
}

function split(url: string): [path: string, query: string] {
  // A request may name the whole address, as it would to a proxy.
  if (url.startsWith('http')) return split(url.replace(/^https?:\/\/[^/]*/, '') || '/')
  const mark = url.indexOf('?')
  return mark < 0 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

function listening(server: Server, host: string, port: number): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen({ host, port }, () => {
    server.off('error', reject)
    resolve()
  })
  return promise
}

/** Keeps track of a server's sockets, so that closing is bounded whatever they do. */
function closer(server: Server): (graceMs: number) => Promise<void> {
  const sockets = new Set<Socket>()
  let closing: Promise<void> | null = null
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('close', () => sockets.delete(socket))
  })
  server.on('request', (_req, res) => {
    if (closing) res.shouldKeepAlive = false
    res.on('close', () => closing && setImmediate(() => server.closeIdleConnections()))
  })
  async function close(graceMs: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    server.close(() => resolve())
    server.closeIdleConnections()
    const timer = setTimeout(() => sockets.forEach((socket) => socket.destroy()), graceMs)
    await promise
    clearTimeout(timer)
  }
  return (graceMs) => (closing ??= close(graceMs))
}
