import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { localGuard } from '../../access/same-user.ts'
import type { Engine } from '../../core/api.ts'
import { createHttpApp, type HttpListener, sendError } from '../../transports/http.ts'
import type { AgentReport } from './about.ts'
import { routePath } from './paths.ts'
import type { Spares } from '../../relay/pool.ts'
import type { Relay } from './relay.ts'
import type { Place } from '../../relay/sessions/launch.ts'

export interface RelayOptions {
  engine: Engine
  spares: Spares
  /** What the machine has of an agent. */
  agent(name: string): Promise<AgentReport | null>
  /** Whether an agent calls tools of its caller's, can be without its own, and can be told how long to think. */
  abilities(name: string): Pick<Place, 'takesTools' | 'canBeBare' | 'takesEffort'>
  /** Where the relay keeps what is its own. */
  directory: string
  env: NodeJS.ProcessEnv
  version: string
  startedAt: number
  bodyLimit: number
  otherUsers: boolean
  /** Turns that run at the same time; as many as `maxWaiting` wait. */
  maxActive: number
  maxWaiting: number
  /** Agents that wait for results of tools, and for how long. */
  maxHeld: number
  heldMs: number
  /** Sticky sessions and waiting processes end when nobody has used them for so long. */
  idleMs: number
  newId: () => string
  warn: (message: string, error?: unknown) => void
  onFault: (error: unknown) => void
}

export interface RelayDialect {
  listen(port: number): Promise<HttpListener>
  stop(): Promise<void>
}

const DEFAULT_PORT = 7421

/** Where clients look, unless they have been told otherwise the same way. */
export function relayPort(env: NodeJS.ProcessEnv): number {
  const given = env['SR_DAEMON_PORT'] ?? ''
  return /^\d{1,5}$/.test(given) && Number(given) <= 65_535 ? Number(given) : DEFAULT_PORT
}

/** The relay's door. Behind it is nothing (7 MB less) until somebody comes, unless somebody has come before. */
export function relayDialect(options: RelayOptions): RelayDialect {
  let listener: HttpListener | null = null
  let opened: Promise<Relay> | null = null
  let relay: Relay | null = null

  async function open(): Promise<void> {
    opened ??= import('./relay.ts')
      .then(({ createRelay }) => createRelay(app, () => listener?.port ?? 0, options))
      .catch((error: unknown) => {
        opened = null
        throw error
      })
    relay = await opened
  }

  const app = createHttpApp({
    bodyLimit: options.bodyLimit,
    onError: options.onFault,
    prepare: open,
    routePath,
    refuse(req, res, error) {
      if (relay) relay.refuse(req, res, error)
      else sendError(res, error)
    },
  })

  return {
    async listen(port) {
      listener = await app.listen({ host: '127.0.0.1', port, guard: localGuard(options.otherUsers) })
      if (existsSync(join(options.directory, 'work'))) await open()
      return listener
    },
    async stop() {
      const built = await opened?.catch(() => null)
      built?.stop()
      await app.close()
      await built?.flushed()
    },
  }
}
