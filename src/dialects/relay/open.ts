import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { localGuard } from '../../access/same-user.ts'
import type { Relay, RelayOptions as RoomOptions } from '../../relay/relay.ts'
import { createHttpApp, type HttpListener, sendError } from '../../transports/http.ts'
import type { OpenDialect } from '../dialect.ts'
import type { relay } from './index.ts'
import type { Mounted } from './mount.ts'
import { routePath } from './paths.ts'

type Context = Parameters<(typeof relay)['open']>[0]

export async function open({ settings, daemon, relay, ...context }: Context): Promise<OpenDialect> {
  const { engine, env, http, home, log, newId, onFault } = context
  const dialect = relayDialect({
    ...settings,
    ...http,
    engine,
    spares: daemon.spares,
    agent: daemon.detect,
    abilities: daemon.abilities,
    directory: join(home, 'relay'),
    env,
    version: daemon.version,
    startedAt: daemon.startedAt,
    newId,
    warn: (message, error) => log.warn({ error }, message),
    onFault,
  })
  const { url } = await dialect.listen(settings.port ?? relayPort(env))
  relay.port = { address: url, isUsed: dialect.isUsed, open: dialect.open }
  return {
    address: url,
    close() {
      relay.port = null
      return dialect.stop()
    },
  }
}

export interface RelayOptions extends RoomOptions {
  version: string
  startedAt: number
  bodyLimit: number
  otherUsers: boolean
  newId: () => string
}

export interface RelayDialect {
  listen(port: number): Promise<HttpListener>
  /** Whether somebody has come, now or before. */
  isUsed(): boolean
  /** Opens what is behind the door, if it is not open. */
  open(): Promise<Relay>
  stop(): Promise<void>
}

const DEFAULT_PORT = 7421

/** Where clients look, unless they have been told otherwise the same way. */
function relayPort(env: NodeJS.ProcessEnv): number {
  const given = env['SR_DAEMON_PORT'] ?? ''
  return /^\d{1,5}$/.test(given) && Number(given) <= 65_535 ? Number(given) : DEFAULT_PORT
}

/** The relay's door. Behind it is nothing (7 MB less) until somebody comes, unless somebody has come before. */
export function relayDialect(options: RelayOptions): RelayDialect {
  let listener: HttpListener | null = null
  let opened: Promise<Mounted> | null = null
  let mounted: Mounted | null = null
  const isUsed = (): boolean => opened !== null || existsSync(join(options.directory, 'work'))

  async function open(): Promise<Relay> {
    opened ??= import('./mount.ts')
      .then(({ mountRelay }) => mountRelay(app, () => listener?.port ?? 0, options))
      .catch((error: unknown) => {
        opened = null
        throw error
      })
    mounted = await opened
    return mounted.relay
  }

  const app = createHttpApp({
    bodyLimit: options.bodyLimit,
    onError: options.onFault,
    async prepare() {
      await open()
    },
    routePath,
    refuse(req, res, error) {
      if (mounted) mounted.refuse(req, res, error)
      else sendError(res, error)
    },
  })

  return {
    async listen(port) {
      listener = await app.listen({ host: '127.0.0.1', port, guard: localGuard(options.otherUsers) })
      if (isUsed()) await open()
      return listener
    },
    isUsed,
    open,
    async stop() {
      const built = await opened?.catch(() => null)
      built?.stop()
      await app.close()
      await built?.flushed()
    },
  }
}
