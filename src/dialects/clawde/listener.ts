import { exposureOf } from '../../access/exposure.ts'
import { loopbackGuard, originGuard } from '../../access/guard.ts'
import { openSecret, type Secret } from '../../access/secret.ts'
import type { Engine } from '../../core/api.ts'
import { createHttpApp, sendJson } from '../../transports/http.ts'
import { createWebSockets, type WebSocketOptions, type WebSockets } from '../../transports/websocket.ts'
import type { ClawdeSettings } from './settings.ts'

const HANDSHAKE_MS = 10_000

export interface ListenerParts {
  engine: Engine
  settings: ClawdeSettings
  version: string
  startedAt: number
  log: { info(data: object, message: string): void; warn(data: object, message: string): void }
  onFault?(error: unknown): void
}

/** ClawDE's port: HTTP for `/health`, WebSockets for the rest. */
export interface ClawdeListener {
  /** What clients show to come in. */
  readonly secret: Secret
  /** Serves WebSockets at a path, `*` at all others; before `start`. */
  serve(path: string, options: WebSocketOptions): WebSockets
  /** Resolves with its address, `ws://…` or `wss://…`. */
  start(): Promise<string>
  /** Closes connections with 1001, then stops listening. */
  stop(): Promise<void>
}

export function createClawdeListener(parts: ListenerParts): ClawdeListener {
  const { engine, settings, log, onFault } = parts
  const secret = openSecret({ path: settings.tokenFile, onProblem: (problem) => log.warn({}, problem) })
  const app = createHttpApp(onFault ? { onError: onFault } : {})
  const served: WebSockets[] = []
  let port = settings.port

  app.route('GET', '/health', ({ res }) => {
    const uptime = Math.floor((Date.now() - parts.startedAt) / 1000)
    const { running, waiting, paused } = engine.countSessions()
    const activeSessions = running + waiting + paused
    const health = { status: 'ok', version: parts.version, uptime, uptimeSecs: uptime, activeSessions, port }
    sendJson(res, 200, JSON.stringify(health))
  })

  return {
    secret,
    serve(path, options) {
      const sockets = createWebSockets(options)
      served.push(sockets)
      app.upgrade(path, sockets.upgrade)
      return sockets
    },
    async start() {
      const { tlsCert: certPath, tlsKey: keyPath } = settings
      const { host, certificate } = await exposureOf(settings.host, { certPath, keyPath })
      if (certificate)
        log.info({ fingerprint: certificate.fingerprint256, cert: certPath }, 'ClawDE TLS certificate')
      const access = certificate ? { tls: certificate, guard: originGuard() } : { guard: loopbackGuard() }
      const listener = await app.listen({ host, port, handshakeMs: HANDSHAKE_MS, ...access })
      port = listener.port
      return listener.url.replace(/^http/, 'ws')
    },
    async stop() {
      await Promise.all(served.map((sockets) => sockets.close()))
      await app.close()
    },
  }
}
