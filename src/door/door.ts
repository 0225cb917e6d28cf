import { join } from 'node:path'
import { createCodes, type Codes } from '../access/codes.ts'
import type { DeviceAccess } from '../access/devices.ts'
import { createEndedPasses } from '../access/ended-passes.ts'
import { createEntrance, type Entrance } from '../access/entrance.ts'
import { exposureOf } from '../access/exposure.ts'
import { loopbackGuard, originGuard, tokenGuard } from '../access/guard.ts'
import { placeOf } from '../access/invitation.ts'
import { createPasses, type Passes } from '../access/passes.ts'
import { localGuard } from '../access/same-user.ts'
import { openSecret, type Secret } from '../access/secret.ts'
import type { Engine } from '../core/api.ts'
import type { Device } from '../core/devices.ts'
import {
  createHttpApp,
  HttpError,
  sendError,
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
import type { Readiness } from './readiness.ts'
import { addPublicRoutes, addSignInRoutes, dashboardFor, isVisit, pathOf } from './routes.ts'

const HANDSHAKE_MS = 10_000
const METRICS_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

export interface DoorParts {
  settings: { port: number; bind: string; bodyLimit: number; otherUsers: boolean }
  /** Where the token is. */
  tokenFile: string
  /** Where the certificate is, if others reach this listener. */
  directory: string
  engine: Engine
  devices: Pick<DeviceAccess, 'authenticate' | 'derive' | 'find' | 'pair'>
  readiness(): Readiness
  /** In Prometheus' text format. */
  metrics(): string
  version: string
  log: { info(data: object, message: string): void; warn(data: object, message: string): void }
  onFault(error: unknown): void
}

/** Corral's own HTTP and WebSocket listener. */
export interface Door {
  /** Answers requests at a path, of whoever shows a token, and of the user's own programs on this machine. */
  route(method: HttpMethod, path: string, handler: HttpHandler): void
  /** Serves WebSockets at a path to whoever shows a token. */
  serve(path: string, access: Parameters<Entrance['sockets']>[0]): void
  /** A code that signs a browser in as this device, or as the owner; null: the door is not open. */
  code(device: Device | null): { code: string; url: string; expiresAt: number } | null
  open(): Promise<{ address: string; trouble?: string; close(): Promise<void> }>
}

export function createDoor(parts: DoorParts): Door {
  const { settings } = parts
  const sockets = new Map<string, WebSockets>()
  /** What is not served yet may be in a moment. */
  const orLater = (error: HttpError): HttpError =>
    error.status === 404 && parts.readiness().status === 'starting'
      ? new HttpError(503, 'Starting', { 'retry-after': '1' })
      : error
  const dashboard = dashboardFor(parts.onFault)
  const app = createHttpApp({
    bodyLimit: settings.bodyLimit,
    onError: parts.onFault,
    refuse(req, res, error) {
      const told = orLater(error)
      if (told.status !== 404 || !isVisit(req)) return sendError(res, told)
      const page = async (): Promise<void> => (await dashboard()).page(req, res, 404)
      page().catch(() => sendError(res, told))
    },
  })
  const { entrance, restricted, codes } = admission(app, parts)
  let address: string | null = null
  addPublicRoutes(app, dashboard, parts.readiness)
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
    code: (device) => (address === null ? null : codeFor(device, codes, address)),
    async open() {
      const listener = await listenFor(app, parts, restricted)
      address = listener.url
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

function codeFor(device: Device | null, codes: Codes, address: string): ReturnType<Door['code']> {
  const { code, expiresAt } = codes.issue(device)
  return { code, url: `${placeOf(address).url}/signin#code=${code}`, expiresAt }
}

interface Admission {
  entrance: Entrance
  /** For a token or the user's own programs. */
  restricted: Guard
  codes: Codes
}

/** Who is let in: tokens for programs, passes for browsers. */
function admission(app: HttpApp, parts: DoorParts): Admission {
  const { engine, devices, settings, version, log } = parts
  const onProblem = (problem: string): void => log.warn({}, problem)
  const secret = openSecret({ path: parts.tokenFile, onProblem })
  const passes = passesOf(parts, secret, () => entrance.look())
  const entrance = createEntrance({ engine, secret, authenticate: devices.authenticate, passes })
  const codes = createCodes({ now: Date.now })
  const local = localGuard(settings.otherUsers)
  addSignInRoutes(app, { secret, devices, passes, codes, local, version, now: Date.now })
  return { entrance, restricted: tokenGuard(entrance, local), codes }
}

function passesOf({ directory, devices, log }: DoorParts, secret: Secret, onEnded: () => void): Passes {
  const ended = createEndedPasses({
    path: join(directory, 'signed-out.json'),
    now: Date.now,
    onProblem: (problem) => log.warn({}, problem),
    onAdded: onEnded,
  })
  return createPasses({
    ownerKey: secret.derive,
    deviceKey: devices.derive,
    device: devices.find,
    ended,
    now: Date.now,
  })
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
