import { stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { createCatalog, type Catalog } from './agents/catalog.ts'
import { driversWith } from './agents/drivers.ts'
import { createHost, type Host } from './agents/host/host.ts'
import { BOOT_ID, startTime } from './agents/host/process.ts'
import { reportAgents } from './agents/report.ts'
import { createStores } from './agents/stores.ts'
import type { Config } from './config/config.ts'
import type { AgentStores } from './core/adoption.ts'
import { defaultsFrom } from './core/defaults.ts'
import { createEngine, type EngineParts } from './core/engine.ts'
import { uuid } from './core/ids.ts'
import type { Log } from './core/ports.ts'
import { together } from './core/together.ts'
import { TOURS } from './core/tour.ts'
import type { AgentReport, Daemon as DaemonPort } from './dialects/ports.ts'
import { createMachines, type Machines } from './fleet/machines.ts'
import { openListeners, type Listeners } from './listeners.ts'
import { createSignIn } from './signin/signin.ts'
import type { Holding } from './store/holder.ts'
import { openLog } from './store/log.ts'
import { readDaemonId } from './system/daemon-id.ts'
import { keepHistory, openHistory } from './system/history.ts'
import { makeHome, realPath } from './system/home.ts'
import { takeLock } from './system/lock.ts'
import { openLogger } from './system/logger.ts'
import { lookAtMemory } from './system/memory.ts'
import { corralMetrics } from './system/metrics.ts'
import { watchPressure } from './system/pressure.ts'
import { createResources } from './system/resources.ts'
import { keepLogTidy } from './system/retention.ts'
import { removeRunFile, writeRunFile } from './system/run-file.ts'
import { keepTally } from './system/tally.ts'
import { createUpdates } from './system/update.ts'
import { isRepository } from './workspace/is-repository.ts'
import { lookAt } from './workspace/look.ts'
import { makeTourDirectory } from './workspace/tour.ts'
import { createWorkspace, type Workspace } from './workspace/service.ts'

export interface DaemonOptions {
  config: Config
  version: string
  env: NodeJS.ProcessEnv
  /** The user's home directory. */
  homedir: string
  /** A line for the person who started it. */
  print: (line: string) => void
}

export interface StopOptions {
  /** Agents end too, or run on for the next daemon. */
  agents: 'end' | 'keep'
  /** Interrupt running turns instead of giving them time. */
  now: boolean
}

export interface Daemon {
  listeners: Record<string, string>
  agents(): Promise<AgentReport[]>
  stop(options: StopOptions): Promise<void>
  /** Resolves when it has stopped, whoever asked. */
  stopped: Promise<void>
}

/** Builds the parts, wires them, starts them in order, and stops them in the reverse one. */
export async function runDaemon(options: DaemonOptions): Promise<Daemon> {
  const { config, version, env, homedir, print } = options
  const startedAt = Date.now()
  const core = openCore(options)
  const { parts, signin, logger, workspace, machines } = core
  await parts.start(core.host)
  await machines.start()

  const monitor = openMonitor(core, config)
  const listeners: Listeners = { addresses: {}, troubles: {} }
  const { addresses } = listeners
  let stop!: Daemon['stop']
  let stopping: Promise<void> | null = null
  const isStopping = (): boolean => stopping !== null
  const daemon = daemonPort(options, core, monitor, {
    startedAt,
    listeners,
    isStopping,
    stop: (how) => void setImmediate(() => void stop(how)),
  })
  const { engine } = machines
  const closeListeners = await openListeners(
    { config, env, homedir, engine, machines, signin, workspace, logger, print, daemon, isStopping },
    listeners,
  )
  writeRunFile(config.paths.run, {
    pid: process.pid,
    version,
    startedAt: new Date(startedAt).toISOString(),
    listeners: addresses,
  })
  const stopChores = startChores(core, config, monitor)
  // A promise that nobody watched is a fault to be mended, not a reason to drop everybody's sessions.
  process.on('unhandledRejection', (error) =>
    logger.error({ error }, 'a fault of ours: nobody watched this promise'),
  )
  logger.info({ listeners: addresses, version }, 'ready')

  const { promise: stopped, resolve: finished } = Promise.withResolvers<void>()
  stop = (how) =>
    (stopping ??= shutDown(core, config, how, { stopChores, closeListeners }).then(() => finished()))
  return { listeners: addresses, agents: daemon.reports, stop, stopped }
}

type Core = ReturnType<typeof openCore>

/** This process, as the log knows who has it. */
const HOLDING: Holding = {
  self: { pid: process.pid, startTime: startTime(process.pid), bootId: BOOT_ID },
  lives: ({ pid, startTime: began, bootId }) =>
    began !== null && bootId === BOOT_ID && startTime(pid) === began,
}

/** The engine, and what it works with. */
function openCore(options: DaemonOptions) {
  const { config, print } = options
  const env = {
    CORRAL_DEMO_STATE: join(config.home, 'demo'),
    ...options.env,
    // A `corral` that an agent runs finds the daemon that runs the agent.
    CORRAL_HOME: config.home,
    CORRAL_SOCKET: config.socket,
    CORRAL_SESSION_ID: undefined,
  }
  makeHome(config.home)
  const lock = takeLock(join(config.home, 'lock'), config.paths.run)
  const logger = openLogger(config.paths.log, config.log)
  const warn = (message: string, error?: unknown): void => {
    logger.warn({ error: error instanceof Error ? error.message : error }, message)
  }
  const log = openLog({
    path: config.paths.db,
    bootId: BOOT_ID,
    newId: uuid,
    warn: (message) => {
      print(message)
      warn(message)
    },
    holding: HOLDING,
  })
  const drivers = driversWith(config.customAgents)
  const catalog = createCatalog(drivers, env, (agent) => signin.variables(agent))
  const signin = createSignIn({
    settings: config.signin,
    path: config.paths.signin,
    home: config.home,
    env,
    newId: uuid,
    signedInItself: async (agent) => (await catalog.driver(agent).signedIn(env)).signedIn,
    changed: (agents) => void host.renew(agents),
    notice: warn,
  })
  const workspace = createWorkspace({
    env: options.env,
    home: realPath(config.home),
    problem: (root, why) => logger.warn({ root, why }, 'a repository cannot be watched'),
  })
  const stores = createStores(drivers, env)
  const parts = openEngine(config, { log, catalog, workspace, stores, warn })
  const host = createHost({
    catalog,
    sink: parts.sink,
    session: parts.peek,
    committed: (runId) => log.run(runId),
    env,
    credentials: signin.credentials,
    newId: uuid,
    options: { runsDir: config.paths.runs, aliveFile: config.paths.alive, ...config.agents },
    warn,
  })
  const machines = openMachines(options, parts, warn)
  return { lock, logger, warn, log, catalog, signin, workspace, parts, host, machines }
}

function openMachines({ config, env }: DaemonOptions, { engine }: EngineParts, warn: Core['warn']): Machines {
  const { url, name, ...rest } = config.fleet
  const fleet = url === null ? null : { url, name: name ?? machineName(hostname()), ...rest }
  const { socket } = config
  return createMachines({ engine, directory: join(config.home, 'machines'), env, fleet, socket, warn })
}

/** What of a host's name can be one in a fleet. */
function machineName(host: string): string {
  return (
    host
      .split('.')[0]!
      .replace(/[^\w-]/g, '-')
      .replace(/^[^a-zA-Z0-9]*/, '') || 'corral'
  )
}

function openEngine(
  config: Config,
  {
    log,
    catalog,
    workspace,
    stores,
    warn,
  }: { log: Log; catalog: Catalog; workspace: Workspace; stores: AgentStores; warn: Core['warn'] },
): EngineParts {
  return createEngine({
    log,
    catalog,
    clock: { now: Date.now },
    newId: uuid,
    isDirectory: (path) =>
      stat(path).then(
        (found) => found.isDirectory(),
        () => false,
      ),
    realPath,
    isRepository,
    workTrees: workspace.trees,
    stores,
    checkpoints: config.checkpoints.enabled,
    checkpointWaitMs: config.checkpoints.waitMs,
    maxQueue: config.queue.max,
    approvalTimeoutMs: config.approvals.timeoutMs,
    warn,
  })
}

type Monitor = ReturnType<typeof openMonitor>

/** Who looks at what is used, and counts what happens. */
function openMonitor({ log, parts, warn }: Core, config: Config) {
  return {
    look: createResources({ log }),
    history: openHistory(join(config.home, 'resources.jsonl'), warn),
    counts: keepTally(parts.engine),
  }
}

/** The daemon as dialects see it. */
function daemonPort(
  { config, version, env, homedir }: DaemonOptions,
  { catalog, host, parts }: Core,
  { look, history, counts }: Monitor,
  {
    startedAt,
    listeners,
    stop,
    isStopping,
  }: Pick<DaemonPort, 'startedAt' | 'stop' | 'isStopping'> & { listeners: Listeners },
): DaemonPort {
  const reports = (): Promise<AgentReport[]> => reportAgents(catalog)
  const isKnown = (agent: string): boolean => catalog.names().includes(agent)
  return {
    version,
    startedAt,
    id: () => readDaemonId(config.home),
    listeners: () => Object.entries(listeners.addresses).map(([name, address]) => ({ name, address })),
    troubles: () => Object.entries(listeners.troubles).map(([name, message]) => ({ name, message })),
    isStopping,
    agents: () => ({ ...countAgents(host), maxWarm: config.agents.maxWarm }),
    examine: together(async () => {
      const { examineFromInside } = await import('./doctor/examine.ts')
      const around = { env, home: config.home, socket: config.socket }
      const own = Object.keys(config.customAgents)
      return examineFromInside(around, { ...listeners, agents: await reports(), own })
    }),
    spares: host.spares,
    defaults: async () => defaultsFrom(config.defaults, await reports()),
    detect: async (name) => (isKnown(name) ? catalog.find(name) : null),
    abilities(name) {
      const able = isKnown(name) ? catalog.capabilities(name) : null
      return {
        takesTools: able?.clientTools ?? false,
        canBeBare: able?.bare ?? false,
        takesEffort: able?.effort ?? false,
      }
    },
    stop,
    reports,
    updates: createUpdates({
      settings: config.updates,
      current: version,
      directory: join(config.home, 'updates'),
    }),
    lookAt: (path) => lookAt(path, homedir),
    makeTourDirectory: () => makeTourDirectory(join(config.home, TOURS), env),
    resources: { now: look, history: (limit) => history.newest(limit) },
    metrics: () =>
      corralMetrics({
        engine: parts.engine,
        version,
        startedAt,
        tally: counts.tally,
        sample: () => history.newest(1)[0] ?? null,
        agents: () => countAgents(host),
      }),
  }
}

/** What is done from time to time; returns how to stop it. */
function startChores({ log, host, logger, warn }: Core, config: Config, monitor: Monitor): () => void {
  const { look, history, counts } = monitor
  const stopTidying = keepLogTidy(log, config.retention, warn)
  const stopLooking = keepHistory(history, look, warn)
  const stopCooling = watchPressure({
    settings: config.system,
    memory: lookAtMemory,
    resources: look,
    cool: host.cool,
    notice: (level, cooled) => logger.info({ level, cooled }, 'memory'),
    warn,
  })
  return () => {
    stopTidying()
    stopLooking()
    stopCooling()
    counts.close()
  }
}

async function shutDown(
  { parts, host, signin, workspace, log, lock, logger, machines }: Core,
  config: Config,
  how: StopOptions,
  { stopChores, closeListeners }: { stopChores(): void; closeListeners(): Promise<void> },
): Promise<void> {
  logger.info(how, 'stopping')
  parts.stopping()
  await signin.close()
  stopChores()
  if (how.agents === 'end') await endAgents(parts, host, how.now ? 0 : config.stop.graceMs)
  else await endIdleAgents(host)
  await closeListeners()
  await machines.close()
  await withinReason(parts.settled())
  await workspace.stop()
  host.release()
  await log.close(true)
  removeRunFile(config.paths.run)
  lock.release()
  logger.close()
}

function countAgents(host: Host): { running: number; idle: number } {
  const runs = host.running()
  const running = runs.filter((run) => run.busy).length
  return { running, idle: runs.length - running }
}

const INTERRUPT_MS = 2000
/** Processes that cannot be ended, or whose end cannot be written down, do not keep the daemon. */
const LAST_MS = 10_000

/** Running turns get their time, then are interrupted; then the processes end. */
async function endAgents({ engine }: EngineParts, host: Host, graceMs: number): Promise<void> {
  const busy = (): string[] => host.running().flatMap((run) => (run.busy ? [run.sessionId] : []))
  await waitFor(() => busy().length === 0, graceMs)
  await Promise.allSettled(
    busy().map((sessionId) => engine.turns.interrupt({ sessionId, reason: 'stopping' })),
  )
  await waitFor(() => busy().length === 0, INTERRUPT_MS)
  await withinReason(host.endAll())
}

/** Those at work run on for the next daemon; the others start anew then, in its environment. */
function endIdleAgents(host: Host): Promise<void> {
  return withinReason(host.cool(host.running().map(({ sessionId }) => sessionId)))
}

function withinReason(work: Promise<void>): Promise<void> {
  return Promise.race([work, new Promise<void>((resolve) => setTimeout(resolve, LAST_MS).unref())])
}

async function waitFor(done: () => boolean, ms: number): Promise<void> {
  const until = Date.now() + ms
  while (!done() && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 20))
}
