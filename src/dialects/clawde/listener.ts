import type { DeviceAccess } from '../../access/devices.ts'
import { createEntrance, type Entrance } from '../../access/entrance.ts'
import { exposureOf } from '../../access/exposure.ts'
import { loopbackGuard, originGuard } from '../../access/guard.ts'
import { openSecret } from '../../access/secret.ts'
import type { Engine } from '../../core/api.ts'
import { createHttpApp, sendJson, type Guard, type HttpApp } from '../../transports/http.ts'
import type { WebSockets } from '../../transports/websocket.ts'
import { connectionGuard } from './limits.ts'
import { createMetrics, METRICS_TYPE, type Metrics } from './metrics.ts'
import type { ClawdeSettings } from './settings.ts'

const HANDSHAKE_MS = 10_000

export interface ListenerParts {
  engine: Engine
  devices: Pick<DeviceAccess, 'authenticate'>
  settings: ClawdeSettings
  version: string
  startedAt: number
  /** What `/metrics` tells beside ClawDE's own numbers, in Prometheus' text format. */
  metrics: () => string
  log: { info(data: object, message: string): void; warn(data: object, message: string): void }
  onFault?(error: unknown): void
}

/** ClawDE's port: HTTP for `/health` and `/metrics`, WebSockets for the rest. */
export interface ClawdeListener {
  readonly metrics: Metrics
  /** Where it listens, once it does. */
  readonly port: number
  /** Serves WebSockets at every path, to whoever has ClawDE's token or a device's; before `start`. */
  serve(...args: Parameters<Entrance['sockets']>): WebSockets
  /** Resolves with its address, `ws://…` or `wss://…`. */
  start(): Promise<string>
  /** Closes connections with 1001, then stops listening. */
  stop(): Promise<void>
}

export function createClawdeListener(parts: ListenerParts): ClawdeListener {
  const { engine, settings, log, onFault } = parts
  const secret = openSecret({ path: settings.tokenFile, onProblem: (problem) => log.warn({}, problem) })
  const app = createHttpApp(onFault ? { onError: onFault } : {})
  const metrics = createMetrics()
  const entrance = createEntrance({ engine, secret, authenticate: parts.devices.authenticate })
  let port = settings.port

  statusRoutes(app, parts, metrics, () => port)

  return {
    metrics,
    get port() {
      return port
    },
    serve(access, options) {
      const sockets = entrance.sockets(access, options)
      app.upgrade('*', sockets.upgrade)
      return sockets
    },
    async start() {
      const { tlsCert: certPath, tlsKey: keyPath } = settings
      const { host, certificate } = await exposureOf(settings.host, { certPath, keyPath })
      if (certificate)
        log.info({ fingerprint: certificate.fingerprint256, cert: certPath }, 'ClawDE TLS certificate')
      const guard = limited(certificate ? originGuard() : loopbackGuard(), settings, metrics)
      const access = { guard, ...(certificate && { tls: certificate }) }
      const listener = await app.listen({ host, port, handshakeMs: HANDSHAKE_MS, ...access })
      port = listener.port
      return listener.url.replace(/^http/, 'ws')
    },
    async stop() {
      await entrance.close()
      await app.close()
    },
  }
}

/** `/health` and `/metrics`, for whoever asks. */
function statusRoutes(app: HttpApp, parts: ListenerParts, metrics: Metrics, port: () => number): void {
  const { engine, version, startedAt } = parts

  function now(): { uptimeSecs: number; activeSessions: number } {
    const { running, waiting, paused } = engine.sessions.count()
    const uptimeSecs = Math.floor((Date.now() - startedAt) / 1000)
    return { uptimeSecs, activeSessions: running + waiting + paused }
  }

  app.route('GET', '/health', ({ res }) => {
    const { uptimeSecs, activeSessions } = now()
    const health = { status: 'ok', version, uptime: uptimeSecs, uptimeSecs, activeSessions, port: port() }
    sendJson(res, 200, JSON.stringify(health))
  })
  app.route('GET', '/metrics', ({ res }) => {
    const text = metrics.text(now()) + parts.metrics()
    res.writeHead(200, { 'content-type': METRICS_TYPE, 'content-length': Buffer.byteLength(text) }).end(text)
  })
}

/** A guard that also refuses who connects too often. */
function limited(inner: Guard, settings: ClawdeSettings, metrics: Metrics): Guard {
  const limit = connectionGuard({
    perMinute: settings.connectionsPerMinute,
    loopback: settings.limitLoopback,
  })
  return (req) => {
    const tooMany = limit(req)
    if (tooMany) metrics.count('ipc_rate_limit_hits')
    return tooMany ?? (isPlain(req) ? null : inner(req))
  }
}

/** A request of HTTP 1.0 names no host; no web page can send one. */
function isPlain({
  httpVersion,
  headers,
  method,
}: {
  httpVersion: string
  headers: object
  method?: string | undefined
}): boolean {
  return httpVersion === '1.0' && method === 'GET' && !('host' in headers) && !('origin' in headers)
}
