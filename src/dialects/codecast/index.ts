import { join } from 'node:path'
import type { Engine } from '../../core/api.ts'
import type { HttpApp, HttpListener } from '../../transports/http.ts'
import { openListener } from './listener.ts'
import type { DialectLog } from './log.ts'
import { removePortFile, writePortFile } from './port-file.ts'
import type { CodecastSettings } from './settings.ts'
import type { Serving } from './serving.ts'

export { type CodecastSettings, readCodecastSettings } from './settings.ts'
export type { DialectLog } from './log.ts'

export interface CodecastOptions {
  settings: CodecastSettings
  /** The user's home directory: `~` in paths, and where `.codecast` is. */
  home: string
  log: DialectLog
  corralVersion: string
  /** The version that Codecast's own side is told; it replaces daemons of another one. */
  codecastVersion?: string
  bodyLimit?: number
  /** Let this machine's other users in, without a token. */
  otherUsers?: boolean
  pingMs?: number
  /** When the daemon started; now, unless told. */
  startedAt?: number
}

export interface CodecastDialect {
  /** Adds `POST /rpc`. */
  routes(app: HttpApp): void
  /** Listens, then writes the port file. */
  start(app: HttpApp): Promise<HttpListener>
  /** Ends streams, removes the port file, stops listening. Turns go on. */
  stop(): Promise<void>
}

export function codecastDialect(engine: Engine, options: CodecastOptions): CodecastDialect {
  const { log, home, settings } = options
  const startedAt = options.startedAt ?? Date.now()
  let serving: Serving | null = null

  async function served(): Promise<Serving> {
    const { createServing } = await import('./serving.ts')
    return (serving ??= createServing(engine, { ...options, startedAt }))
  }

  const portFile = join(home, '.codecast', 'daemon.port')
  let listener: HttpListener | null = null

  return {
    routes(app) {
      app.route('POST', '/rpc', async (request) => (serving ?? (await served())).handle(request))
    },
    async start(app) {
      for (const warning of settings.warnings) log.warn({}, `Codecast: ${warning}`)
      listener = await openListener(app, settings, log, options.otherUsers ?? false)
      if (!(await writePortFile(portFile, listener.port))) {
        log.warn({ portFile }, 'Another Codecast daemon lives: the port file stays with it')
      }
      log.info({ url: listener.url }, 'Listening for Codecast clients')
      return listener
    },
    async stop() {
      serving?.stop()
      if (!listener) return
      await removePortFile(portFile, listener.port)
      await listener.close()
      listener = null
    },
  }
}
