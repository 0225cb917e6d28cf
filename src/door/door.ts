import { join } from 'node:path'
import type { DeviceAccess } from '../access/devices.ts'
import { createEntrance, type Entrance } from '../access/entrance.ts'
import { exposureOf } from '../access/exposure.ts'
import { loopbackGuard, originGuard, tokenGuard } from '../access/guard.ts'
import { localGuard } from '../access/same-user.ts'
import { openSecret } from '../access/secret.ts'
import type { Engine } from '../core/api.ts'
import {
  createHttpApp,
  HttpError,
  sendError,
  sendJson,
  type Guard,
  type HttpApp,
  type HttpHandler,
  type HttpListener,
  type HttpMethod,
  type HttpRequest,
} from '../transports/http.ts'
import { listenNear, movedFrom } from '../transports/listen-near.ts'
import { refuseUpgrade } from '../transports/upgrade.ts'
import type { WebSockets } from '../transports/websocket.ts'
import { PAGE, PAGE_HEADERS, PATHS } from './page.ts'
import { eventLoopLag, type Readiness } from './readiness.ts'

const HANDSHAKE_MS = 10_000
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export interface DoorParts {
  settings: { port: number; bind: string; bodyLimit: number; otherUsers: boolean }
  /** Where the token is. */
  tokenFile: string
  /** Where the certificate is, if others reach this listener. */
  directory: string
  engine: Engine
  devices: Pick<DeviceAccess, 'authenticate'>
  readiness(): Readiness
  /** In Prometheus' text format. */
  metrics(): string
  log: { info(data: object, message: string): void; warn(data: object, message: string): void }
  onFault(error: unknown): void
}

/** Corral's own HTTP and WebSocket listener. */
export interface Door {
  /** Answers requests at a path, of whoever shows a token, and of the user's own programs on this machine. */
  route(method: HttpMethod, path: string, handler: HttpHandler): void
  /** Serves WebSockets at a path to whoever shows a token. */
  serve(path: string, access: Parameters<Entrance['sockets']>[0]): void
  open(): Promise<{ address: string; trouble?: string; close(): Promise<void> }>
}

export function createDoor(parts: DoorParts): Door {
  const { settings, log } = parts
  const sockets = new Map<string, WebSockets>()
  /** What is not served yet may be in a moment. */
  const orLater = (error: HttpError): HttpError =>
    error.status === 404 && parts.readiness().status === 'starting'
      ? new HttpError(503, 'Starting', { 'retry-after': '1' })
      : error
  const app = createHttpApp({
    bodyLimit: settings.bodyLimit,
    onError: parts.onFault,
    refuse: (_, res, error) => sendError(res, orLater(error)),
  })
  const secret = openSecret({ path: parts.tokenFile, onProblem: (problem) => log.warn({}, problem) })
  const entrance = createEntrance({ engine: parts.engine, secret, authenticate: parts.devices.authenticate })
  const restricted = tokenGuard(entrance, localGuard(settings.otherUsers))
  addPublicRoutes(app, parts)
  app.upgrade('*', (req, socket, head) => {
    const served = sockets.get(pathOf(req.url))
    if (served) served.upgrade(req, socket, head)
    else refuseUpgrade(socket, orLater(new HttpError(404)))
  })

  const door: Door = {
    route: (method, path, handler) => app.route(method, path, behind(restricted, entrance, handler)),
    serve(path, access) {
      sockets.set(path, entrance.sockets(access))
      app.route('GET', path, () => {
        throw new HttpError(426, 'This is for WebSocket clients', { upgrade: 'websocket' })
      })
    },
    async open() {
      const listener = await listenFor(app, parts, restricted)
      return {
        address: listener.url,
        ...movedFrom(settings.port, listener),
        async close() {
          await entrance.close()
          await app.close()
        },
      }
    },
  }
  door.route('GET', '/metrics', ({ res }) => {
    const text = parts.metrics()
    res.writeHead(200, { 'content-type': METRICS_TYPE, 'content-length': Buffer.byteLength(text) }).end(text)
  })
  return door
}

async function listenFor(app: HttpApp, parts: DoorParts, restricted: Guard): Promise<HttpListener> {
  const { settings, directory, log } = parts
  const files = { certPath: join(directory, 'tls-cert.pem'), keyPath: join(directory, 'tls-key.pem') }
  const { host, certificate } = await exposureOf(settings.bind, files)
  if (certificate) log.info({ fingerprint: certificate.fingerprint256 }, 'TLS certificate')
  const outer = certificate ? originGuard() : loopbackGuard()
  const guard: Guard = (req) => outer(req)
  if (restricted.meet) guard.meet = restricted.meet
  return listenNear(app, {
    host,
    port: settings.port,
    guard,
    handshakeMs: HANDSHAKE_MS,
    ...(certificate && { tls: certificate }),
  })
}

/** What everybody may ask who passes the guard against web pages: nothing in it is a secret. */
function addPublicRoutes(app: HttpApp, { readiness }: DoorParts): void {
  /** Monitors often ask for the head only. */
  const route = (path: string, handler: HttpHandler): void => {
    for (const method of ['GET', 'HEAD'] as const) app.route(method, path, handler)
  }
  route('/', ({ req, res }) => {
    if (wantsJson(req.headers.accept))
      return sendJson(res, 200, JSON.stringify({ name: 'corral', paths: PATHS }))
    res.writeHead(200, PAGE_HEADERS).end(PAGE)
  })
  route('/health', ({ res }) => sendJson(res, 200, '{"status":"ok"}'))
  route('/ready', async ({ res }) => {
    const lagMs = await eventLoopLag()
    const { status, listeners } = readiness()
    const usable = status === 'ready' || status === 'degraded'
    sendJson(res, usable ? 200 : 503, JSON.stringify({ status, listeners, lagMs }))
  })
}

function pathOf(url = '/'): string {
  return url.split('?', 1)[0]!
}

function wantsJson(accept = ''): boolean {
  return accept.includes('application/json') && !accept.includes('text/html')
}

/** An answer that still goes out when its token stops being valid is cut off. */
function behind(guard: Guard, entrance: Entrance, handler: HttpHandler): HttpHandler {
  return (request: HttpRequest) => {
    const { req, res } = request
    const refusal = guard(req)
    if (refusal) throw refusal
    res.on(
      'close',
      entrance.follow(req.headers.authorization, () => res.destroy()),
    )
    return handler(request)
  }
}
