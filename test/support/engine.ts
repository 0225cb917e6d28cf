import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { createCatalog } from '../../src/agents/catalog.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import type { HostDeps, HostOptions } from '../../src/agents/host/deps.ts'
import { createHost, type Host } from '../../src/agents/host/host.ts'
import { BOOT_ID } from '../../src/agents/host/process.ts'
import type { Engine } from '../../src/core/api.ts'
import { createEngine } from '../../src/core/engine.ts'
import type { Event, EventType, LoggedEvent } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Log } from '../../src/core/ports.ts'
import { isRepository } from '../../src/workspace/is-repository.ts'
import { createWorkspace } from '../../src/workspace/service.ts'
import { openLog } from '../../src/store/log.ts'
import { COMPILED } from './daemon.ts'
import { arrival } from './wait.ts'

export interface TestEngine {
  engine: Engine
  host: Host
  log: Log
  home: string
  cwd: string
  warnings: string[]
  /** The first event of this type after `after`, waited for. */
  event<T extends EventType>(
    type: T,
    options?: { sessionId?: string; after?: number },
  ): Promise<Event & { type: T }>
  /** All events up to the first that fits, waited for. */
  read(
    from: { after: number; sessionId?: string },
    what: string,
    fits: (event: LoggedEvent) => boolean,
  ): Promise<Event[]>
  /** Sends and waits for the end of that turn. */
  turn(sessionId: string, text: string): Promise<Event[]>
  /** The daemon says that it is on its way out. */
  stopping(): void
  /** Lets go as a crash would: agents run on. */
  abandon(): Promise<void>
  /** Ends agents and removes every file. */
  stop(): Promise<void>
}

export interface TestEngineOptions {
  home?: string
  drivers?: AgentDriver[]
  env?: NodeJS.ProcessEnv
  credentials?: HostDeps['credentials']
  options?: Partial<HostOptions>
  maxQueue?: number
  approvalTimeoutMs?: number | null
  clock?: { now(): number }
  /** Take checkpoints. */
  checkpoints?: boolean
  checkpointWaitMs?: number
}

/** A whole engine on real SQLite and real processes, without any listener. */
export async function startEngine(given: TestEngineOptions = {}): Promise<TestEngine> {
  const home = given.home ?? mkdtempSync(join(tmpdir(), 'corral-engine-'))
  const cwd = join(home, 'project')
  const runsDir = join(home, 'runs')
  const tmp = join(home, 'tmp')
  for (const dir of [cwd, runsDir, tmp]) mkdirSync(dir, { recursive: true })
  const warnings: string[] = []
  const warn = (message: string, error?: unknown): void => {
    warnings.push(`${message}: ${error instanceof Error ? error.message : String(error)}`)
  }
  const env = {
    PATH: process.env['PATH'],
    LANG: 'C.UTF-8',
    ...COMPILED,
    HOME: home,
    TMPDIR: tmp,
    CORRAL_DEMO_STATE: join(home, 'demo'),
    ...given.env,
  }
  const log = openLog({ path: join(home, 'corral.db'), bootId: BOOT_ID, newId: uuid, warn })
  const catalog = createCatalog(given.drivers ?? [demoDriver], env)
  const workspace = createWorkspace({ env, home: realpathSync(home), problem() {} })
  const parts = createEngine({
    log,
    catalog,
    clock: given.clock ?? { now: Date.now },
    newId: uuid,
    isDirectory: (path) =>
      stat(path).then(
        (s) => s.isDirectory(),
        () => false,
      ),
    realPath: (path) => (existsSync(path) ? realpathSync(path) : path),
    isRepository,
    ...(given.checkpoints && { workTrees: workspace.trees }),
    // However slow the machine: what a test looks at is there.
    checkpointWaitMs: given.checkpointWaitMs ?? 60_000,
    maxQueue: given.maxQueue ?? 100,
    approvalTimeoutMs: given.approvalTimeoutMs ?? null,
    warn,
  })
  const options: HostOptions = {
    spare: false,
    runsDir,
    aliveFile: join(home, 'alive'),
    maxWarm: 8,
    idleMs: 600_000,
    orphanMs: 3_600_000,
    readyMs: 60_000,
    interruptMs: 5000,
    termMs: 3000,
    killMs: 3000,
    ...given.options,
  }
  const host = createHost({
    catalog,
    sink: parts.sink,
    session: parts.peek,
    committed: (id) => log.run(id),
    env,
    ...(given.credentials && { credentials: given.credentials }),
    newId: uuid,
    options,
    warn,
  })
  await parts.start(host)
  const { engine } = parts

  const read: TestEngine['read'] = (from, what, fits) => {
    const seen: Event[] = []
    const { promise, resolve } = Promise.withResolvers<Event[]>()
    const subscription = engine.events.subscribe(from, (events) => {
      for (const event of events) {
        seen.push(event.event)
        if (!fits(event)) continue
        subscription.close()
        return resolve(seen)
      }
    })
    const types = (): string => seen.map((event) => event.type).join(', ')
    const about = (): string => `${what}; events: ${types()}; warnings: ${warnings.join(' | ')}`
    return arrival(promise, about).finally(() => subscription.close())
  }

  return {
    engine,
    stopping: parts.stopping,
    host,
    log,
    home,
    cwd,
    warnings,
    read,
    async event(type, { sessionId, after = 0 } = {}) {
      const from = { after, ...(sessionId ? { sessionId } : {}) }
      const seen = await read(from, type, (event) => event.type === type)
      return seen.at(-1) as never
    },
    async turn(sessionId, text) {
      const { turnId, seq } = await engine.turns.send({ sessionId, input: [{ type: 'text', text }] })
      const isOver = (e: LoggedEvent): boolean => isEnd(e.type) && e.event.turnId === turnId
      const seen = await read({ after: seq - 1, sessionId }, 'the end of a turn', isOver)
      return seen.filter((event) => event.turnId === turnId)
    },
    async abandon() {
      host.release()
      await workspace.stop()
      await log.close(false)
    },
    async stop() {
      await host.endAll()
      host.release()
      await parts.settled()
      await workspace.stop()
      await log.close(true)
      rmSync(home, { recursive: true, force: true })
    },
  }
}

function isEnd(type: EventType): boolean {
  return (
    type === 'turn.completed' ||
    type === 'turn.failed' ||
    type === 'turn.interrupted' ||
    type === 'turn.cancelled'
  )
}
