import { join } from 'node:path'
import type { Engine } from '../../core/api.ts'
import { createHttpApp, type HttpApp, type HttpListener } from '../../transports/http.ts'
import { movedFrom } from '../../transports/listen-near.ts'
import type { DialectLog, OpenDialect } from '../dialect.ts'
import type { codecast } from './index.ts'
import { openListener } from './listener.ts'
import { removePortFile, writePortFile } from './port-file.ts'
import { type CodecastSettings, readCodecastSettings } from './settings.ts'
import type { Serving } from './serving.ts'

type Context = Parameters<(typeof codecast)['open']>[0]

export async function open({ settings, daemon, http, ...context }: Context): Promise<OpenDialect> {
  const { engine, env, homedir, log, onFault } = context
  const own = await readCodecastSettings(env, homedir)
  const port = settings.port ?? own.port
  const app = createHttpApp({ bodyLimit: http.bodyLimit, onError: onFault })
  const dialect = codecastDialect(engine, {
    settings: { ...own, port, bind: settings.bind ?? own.bind },
    home: homedir,
    log,
    corralVersion: daemon.version,
    startedAt: daemon.startedAt,
    ...http,
  })
  dialect.routes(app)
  const listener = await dialect.start(app)
  return { address: listener.url, ...movedFrom(port, listener), close: () => dialect.stop() }
}

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
