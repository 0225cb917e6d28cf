import { createDeviceAccess } from './access/devices.ts'
import type { Config } from './config/config.ts'
import type { Engine } from './core/api.ts'
import { CorralError } from './core/error.ts'
import { uuid } from './core/ids.ts'
import type { SignIn } from './core/signin.ts'
import type { Dialect, DialectContext, FrontDoor, OpenDialect } from './dialects/dialect.ts'
import { DIALECTS } from './dialects/list.ts'
import type { Daemon, Machines } from './dialects/ports.ts'
import { createDoor, type Door } from './door/door.ts'
import { type ListenerState, type Phase, readinessOf } from './door/readiness.ts'
import type { Logger } from './system/logger.ts'
import type { Workspace } from './workspace/service.ts'

export interface ListenerParts {
  config: Config
  env: NodeJS.ProcessEnv
  homedir: string
  engine: Engine
  machines: Machines
  signin: SignIn
  workspace: Workspace
  logger: Logger
  daemon: Daemon
  /** A line for the person who started the daemon. */
  print: (line: string) => void
  isStopping(): boolean
}

/** Filled in as it becomes known. */
export interface Listeners extends ListenerState {
  addresses: Record<string, string>
  troubles: Record<string, string>
}

/**
 * Opens the front door, then every dialect that is enabled. One that cannot be opened is a warning, none at all is the end.
 * Returns how to close them.
 */
export async function openListeners(parts: ListenerParts, state: Listeners): Promise<() => Promise<void>> {
  const { config, logger, print } = parts
  const phase: { now: Phase } = { now: 'starting' }
  const { context, door } = sharedParts(parts, state, phase)

  async function open(name: string, work: () => Promise<OpenDialect>): Promise<OpenDialect | null> {
    try {
      const opened = await work()
      if (opened.address !== null) state.addresses[name] = opened.address
      if (opened.trouble !== undefined) {
        state.troubles[name] = opened.trouble
        print(`${name}: ${opened.trouble}`)
      }
      return opened
    } catch (error) {
      const reason = (error as Error).message
      state.troubles[name] = reason
      print(`warning: ${name} is not listening: ${reason}`)
      logger.warn({ name, reason }, 'a listener could not be opened')
      return null
    }
  }

  const frontDoor = door && (await open('corral', door.open))
  const sections = config as unknown as Record<string, DialectContext['settings'] | undefined>
  const enabled = DIALECTS.filter(({ name }) => sections[name]?.['enabled'] !== false)
  const dialects = await Promise.all(
    enabled.map((dialect: Dialect) =>
      open(dialect.name, () => dialect.open({ ...context, settings: sections[dialect.name] ?? {} })),
    ),
  )
  if (Object.keys(state.addresses).length === 0) {
    throw new CorralError('internal', 'Nothing could be listened on; see the warnings above')
  }
  phase.now = 'running'
  return async () => {
    await Promise.all(dialects.filter((dialect) => dialect !== null).map((dialect) => dialect.close()))
    await frontDoor?.close()
  }
}

interface SharedParts {
  context: Omit<DialectContext, 'settings'>
  /** Null: it is switched off. */
  door: Door | null
}

/** Nobody comes in where there is no door. */
const NO_DOOR: FrontDoor = { route: () => {}, serve: () => {}, code: () => null }

/** What all dialects are handed. */
function sharedParts(parts: ListenerParts, state: Listeners, phase: { now: Phase }): SharedParts {
  const { config, env, homedir, engine, machines, signin, workspace, logger, daemon, isStopping } = parts
  const onFault = (error: unknown): void => logger.error({ error }, 'a fault of ours')
  const devices = createDeviceAccess(engine, {
    now: Date.now,
    pinTtlMs: config.pairing.pinTtlMs,
    warn: (message, error) => logger.warn({ error }, message),
  })
  const door = !config.http.enabled
    ? null
    : createDoor({
        settings: config.http,
        tokenFile: config.paths.token,
        directory: config.home,
        engine,
        devices,
        readiness: () => readinessOf(state, isStopping() ? 'stopping' : phase.now),
        metrics: daemon.metrics,
        version: daemon.version,
        log: logger,
        onFault,
      })
  const context = {
    engine,
    daemon,
    devices,
    signin,
    workspace,
    machines,
    door: door ?? NO_DOOR,
    relay: { port: null },
    http: { bodyLimit: config.http.bodyLimit, otherUsers: config.http.otherUsers },
    env,
    homedir,
    home: config.home,
    socket: config.socket,
    cwd: process.cwd(),
    log: logger,
    newId: uuid,
    onFault,
  }
  return { context, door }
}
