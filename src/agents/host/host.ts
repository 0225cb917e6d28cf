import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CorralError } from '../../core/error.ts'
import type { AgentOutput } from '../../core/event.ts'
import type { AgentHost, AgentSink, Intent, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver, LaunchPlan } from '../agent.ts'
import type { Catalog } from '../catalog.ts'
import { createEscalation } from './escalation.ts'
import { BOOT_ID, startTime } from './process.ts'
import { createRun, type Run } from './run.ts'
import { createSpares, discard } from './spares.ts'
import { sweep } from './sweep.ts'
import { launch, type Launched } from './wrapper.ts'

export interface HostOptions {
  /** Keep one process started ahead, for agents that can. */
  spare: boolean
  runsDir: string
  aliveFile: string
  /** Idle processes kept at the most; the least recently used goes first. */
  maxWarm: number
  idleMs: number
  orphanMs: number
  /** From the polite interrupt to SIGINT, from there to SIGTERM, from there to SIGKILL. */
  interruptMs: number
  termMs: number
  killMs: number
}

export interface HostDeps {
  catalog: Catalog
  sink: AgentSink
  committed: (runId: string) => RunRow | null
  env: NodeJS.ProcessEnv
  newId: () => string
  options: HostOptions
  warn: (message: string, error: unknown) => void
}

export interface Host extends AgentHost {
  /** Live processes, for status reports. */
  running(): { sessionId: string; pid: number; busy: boolean }[]
  /** Ends every process; resolves when they are gone. */
  endAll(): Promise<void>
  /** Lets go of every process without touching it: the next daemon finds it. */
  release(): void
}

type EndTimes = Pick<HostOptions, 'termMs' | 'killMs'>

/** When everything ends, it does so quickly. */
const LAST_ORDERS: EndTimes = { termMs: 1000, killMs: 1500 }

export function createHost(deps: HostDeps): Host {
  const { catalog, sink, options, newId, warn } = deps
  const runs = new Map<string, Run>()
  const starting = new Map<string, Promise<Run>>()
  const ladder = createEscalation()
  const abandoned = new Set<string>()
  let released = false

  const spares = createSpares({
    drivers: options.spare ? catalog : null,
    launch: launchNew,
    parkingDir: options.runsDir,
    newId,
    warn,
  })
  writeFileSync(options.aliveFile, '')
  const heartbeat = setInterval(
    () => {
      try {
        utimesSync(options.aliveFile, new Date(), new Date())
      } catch (error) {
        warn('telling agents that their daemon lives', error)
      }
    },
    Math.min(30_000, Math.max(250, options.orphanMs / 8)),
  )
  heartbeat.unref()
  const housekeeping = setInterval(() => evict(), Math.min(10_000, Math.max(250, options.idleMs / 4)))
  housekeeping.unref()

  function onOutput(run: Run, outputs: AgentOutput[]): void {
    for (const output of outputs) {
      if (output.type === 'agent.init') run.conversation = output.nativeId
      if (output.type !== 'turn.ended') continue
      run.busy = false
      run.usedAt = Date.now()
      if (!run.ending) ladder.stop(run.sessionId)
    }
  }

  function adopt(row: RunRow, driver: AgentDriver): Run {
    const run = createRun({
      row,
      dir: join(options.runsDir, row.id),
      driver,
      sink,
      committed: deps.committed,
      warn,
      onOutput: (outputs) => onOutput(run, outputs),
      onExit: () => {
        ladder.stop(row.sessionId)
        if (runs.get(row.sessionId) === run) runs.delete(row.sessionId)
      },
    })
    runs.set(row.sessionId, run)
    return run
  }

  async function start(session: Session): Promise<Run> {
    const driver = catalog.driver(session.agent)
    const detection = await catalog.detect(session.agent)
    if (!detection.installed)
      throw new CorralError('agent_missing', detection.problem ?? `${driver.title} is not installed`)
    await claimConversation(session)
    const claimed = await claimSpare(session, driver)
    if (claimed) return claimed
    const plan = driver.plan(session, detection, newId)
    const run = await enlist(session, driver, await launchNew(plan))
    await run.write(plan.greeting)
    return run
  }

  async function launchNew(plan: LaunchPlan): Promise<Launched> {
    const id = newId()
    const dir = join(options.runsDir, id)
    const { aliveFile, orphanMs } = options
    return { id, dir, child: await launch({ dir, plan, env: deps.env, aliveFile, orphanMs }) }
  }

  /** Writes down that this process is the session's, then follows it. */
  async function enlist(session: Session, driver: AgentDriver, { id, dir, child }: Launched): Promise<Run> {
    const pid = child.pid!
    const row = {
      id,
      sessionId: session.id,
      pid,
      startTime: startTime(pid) ?? '',
      bootId: BOOT_ID,
      offset: 0,
      turnOffset: 0,
    }
    try {
      await sink.started(session.id, row, session.nativeId !== null)
    } catch (error) {
      discard({ id, dir, child })
      throw error
    }
    const run = adopt(row, driver)
    run.conversation = session.nativeId
    child.once('exit', () => run.check())
    await run.follow()
    return run
  }

  /** The waiting spare as this session's process; null when there is none, or it will not do. */
  async function claimSpare(session: Session, driver: AgentDriver): Promise<Run | null> {
    const spare = driver.spare?.claimable(session) ? spares.take(driver.name) : null
    if (!spare) return null
    const run = await enlist(session, driver, spare)
    await run.write(driver.spare!.claim(session))
    if ((await run.barrier(newId())) && !run.refused) return run
    await end(session.id)
    return null
  }

  /** One native conversation never has two processes, whatever sessions it is seen through. */
  async function claimConversation(session: Session): Promise<void> {
    if (!session.nativeId) return
    for (const run of runs.values()) {
      const same = run.driver.name === session.agent && run.conversation === session.nativeId
      if (run.sessionId === session.id || !same) continue
      if (run.busy) {
        throw new CorralError(
          'conversation_busy',
          `Session ${run.sessionId} is using the same conversation; wait for it`,
        )
      }
      await end(run.sessionId)
    }
  }

  async function ensure(session: Session): Promise<Run> {
    const run = runs.get(session.id)
    if (run && !run.ending) return run
    if (run) await run.gone
    const underWay = starting.get(session.id)
    if (underWay) return underWay
    const started = start(session).finally(() => starting.delete(session.id))
    starting.set(session.id, started)
    return started
  }

  async function deliver(session: Session, turnId: string, intent: Intent, inDoubt: boolean): Promise<void> {
    const run = await ensure(session)
    if (abandoned.delete(turnId)) return sink.abandoned(session.id, turnId)
    run.busy = true
    run.usedAt = Date.now()
    if (inDoubt) {
      if (run.acceptedTurn === turnId) return
      const reached = await run.barrier(newId())
      if (!reached || run.acceptedTurn === turnId) return
    } else await run.tidy()
    await run.write(run.driver.encode(intent))
  }

  async function end(sessionId: string, { termMs, killMs }: EndTimes = options): Promise<void> {
    await starting.get(sessionId)?.catch(() => undefined)
    const run = runs.get(sessionId)
    if (!run) return
    if (!run.ending) {
      run.ending = true
      run.signal('SIGCONT')
      if (run.busy) {
        run.signal('SIGTERM')
        ladder.start(run, [['SIGKILL', killMs]])
      } else {
        const farewell = run.driver.farewell()
        run.write(farewell).catch(() => undefined)
        ladder.start(run, [
          ['SIGTERM', farewell.length > 0 ? termMs : 0],
          ['SIGKILL', killMs],
        ])
      }
    }
    await run.gone
  }

  /** Ends what has been idle too long or is too much. */
  function evict(): void {
    const idle = [...runs.values()]
      .filter((run) => !run.busy && !run.ending)
      .sort((a, b) => a.usedAt - b.usedAt)
    const tooOld = Date.now() - options.idleMs
    idle.forEach((run, index) => {
      if (run.usedAt >= tooOld && idle.length - index <= options.maxWarm) return
      end(run.sessionId).catch((error) => warn(`ending an idle agent`, error))
    })
  }

  return {
    prompt(session, turnId, input, inDoubt) {
      deliver(session, turnId, { kind: 'prompt', turnId, input }, inDoubt)
        .catch((error: unknown) => (released ? undefined : sink.failedToStart(session.id, turnId, error)))
        .catch((error: unknown) => warn(`bringing a message to session ${session.id}`, error))
    },
    async tell(session, intent) {
      const run = runs.get(session.id)
      if (!run || run.ending) return false
      await run.write(run.driver.encode(intent))
      return true
    },
    interrupt(session) {
      const run = runs.get(session.id)
      const turnId = session.turn?.id
      if (!run || starting.has(session.id)) {
        if (turnId) abandoned.add(turnId)
        return
      }
      run.signal('SIGCONT')
      run.write(run.driver.interrupt()).catch((error) => warn('interrupting an agent', error))
      ladder.start(run, [
        ['SIGINT', options.interruptMs],
        ['SIGTERM', options.termMs],
        ['SIGKILL', options.killMs],
      ])
    },
    pause: (session) => runs.get(session.id)?.signal('SIGSTOP'),
    resume: (session) => runs.get(session.id)?.signal('SIGCONT'),
    end: (sessionId) => end(sessionId),
    async attach(rows, sessions) {
      const alive = new Set<string>()
      sweep(options.runsDir, new Set(rows.map((row) => row.id)))
      spares.fill()
      await Promise.all(
        rows.map(async (row) => {
          const session = sessions.get(row.sessionId)
          if (!session) return
          try {
            const run = adopt(row, catalog.driver(session.agent))
            run.conversation = session.nativeId
            run.busy = session.turn !== null
            await run.follow()
            if (run.alive()) alive.add(session.id)
            else await run.gone
          } catch (error) {
            warn(`taking up agent ${row.pid}`, error)
            runs.delete(row.sessionId)
            await sink.exited(session.id, row.id, { code: null, signal: null, stderr: '', expected: false })
          }
        }),
      )
      return alive
    },
    running: () => [...runs.values()].map(({ sessionId, pid, busy }) => ({ sessionId, pid, busy })),
    async endAll() {
      spares.end()
      await Promise.all([...runs.keys(), ...starting.keys()].map((id) => end(id, LAST_ORDERS)))
    },
    release() {
      released = true
      spares.end()
      clearInterval(heartbeat)
      clearInterval(housekeeping)
      ladder.stopAll()
      for (const run of runs.values()) run.detach()
    },
  }
}
