import { utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { CorralError } from '../../core/error.ts'
import type { AgentOutput } from '../../core/event.ts'
import type { AgentHost, AgentSink, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver } from '../agent.ts'
import type { Catalog } from '../catalog.ts'
import { createAnswering } from './answering.ts'
import { createConversations } from './conversations.ts'
import { createDelivery } from './delivery.ts'
import { afterInterrupt, createEscalation, type InterruptTimes } from './escalation.ts'
import { untilCommitted } from './patience.ts'
import { createRun, type Run } from './run.ts'
import { createSeats } from './seats.ts'
import type { Spares } from './spares.ts'
import { createStarter } from './starter.ts'
import { sweep } from './sweep.ts'

export interface HostOptions extends InterruptTimes {
  /** Keep one process started ahead, for agents that can. */
  spare: boolean
  runsDir: string
  aliveFile: string
  /** Idle processes kept at the most; the least recently used goes first. */
  maxWarm: number
  idleMs: number
  orphanMs: number
  /** How long an agent may take to open its conversation. */
  readyMs: number
  /** How long an idle agent may take to say goodbye before it gets SIGTERM. */
  termMs: number
}

export interface HostDeps {
  catalog: Catalog
  sink: AgentSink
  /** The newest state of a session: what it is doing now, not what it did when something was asked for. */
  session: (id: string) => Session | null
  committed: (runId: string) => RunRow | null
  env: NodeJS.ProcessEnv
  /** What an agent's process gets beside it; asked at each start. */
  credentials?: (agent: string) => Promise<Record<string, string>>
  newId: () => string
  options: HostOptions
  warn: (message: string, error: unknown) => void
}

export interface Host extends AgentHost {
  /** Processes that wait for sessions of one kind; `keep` says how many. */
  readonly spares: Pick<Spares, 'keep' | 'count'>
  /** Live processes, for status reports. */
  running(): { sessionId: string; pid: number; busy: boolean }[]
  /** Ends the processes of these sessions, but for those that are at work; resolves when they are gone. */
  cool(sessionIds: readonly string[]): Promise<void>
  /** These agents are given something else from now on: their processes start anew, each when it is not at work. */
  renew(agents: readonly string[]): Promise<void>
  /** Ends every process; resolves when they are gone. */
  endAll(): Promise<void>
  /** Lets go of every process without touching it: the next daemon finds it. */
  release(): void
}

type EndTimes = Pick<HostOptions, 'termMs' | 'killMs'>

/** When everything ends, it does so quickly. */
const LAST_ORDERS: EndTimes = { termMs: 1000, killMs: 1500 }

export function createHost(deps: HostDeps): Host {
  const { catalog, sink, options, warn } = deps
  const runs = new Map<string, Run>()
  const starting = new Map<string, Promise<Run>>()
  const ladder = createEscalation()
  let released = false

  const isBusy = (sessionId: string): boolean => (deps.session(sessionId)?.turn ?? null) !== null
  const conversations = createConversations({ isBusy, end })
  const seats = createSeats(options.runsDir)
  const starter = createStarter({ ...deps, released: () => released, adopt, endRun, reserve: seats.reserve })
  const delivery = createDelivery({
    ...deps,
    ensure,
    running: (sessionId) => (starting.has(sessionId) ? undefined : runs.get(sessionId)),
    interrupt,
    released: () => released,
  })

  writeFileSync(options.aliveFile, '')
  const heartbeat = setInterval(beat, Math.min(30_000, Math.max(250, options.orphanMs / 8))).unref()
  const housekeeping = setInterval(evict, Math.min(10_000, Math.max(250, options.idleMs / 4))).unref()

  function beat(): void {
    try {
      utimesSync(options.aliveFile, new Date(), new Date())
    } catch (error) {
      warn('telling agents that their daemon lives', error)
    }
  }

  function onOutput(run: Run, outputs: AgentOutput[]): void {
    for (const output of outputs) {
      if (output.type === 'agent.init' && output.nativeId) {
        conversations.learn(run.driver.name, output.nativeId, run.sessionId)
      }
      if (output.type !== 'turn.ended') continue
      run.usedAt = Date.now()
      if (!run.ending) ladder.stop(run.sessionId)
    }
  }

  function adopt(row: RunRow, driver: AgentDriver): Run {
    const run = createRun({
      row,
      dir: join(options.runsDir, row.process),
      seat: seats.take(row.process, row.id),
      session: () => deps.session(row.sessionId),
      vacate: () => seats.vacate(row.process),
      driver,
      sink,
      committed: deps.committed,
      warn,
      onOutput: (outputs) => onOutput(run, outputs),
      onRequest: (request) => answering.take(request),
      tidyUp: (since) => tidyUp(run, since),
      onExit: () => {
        if (runs.get(row.sessionId) !== run) return
        ladder.stop(row.sessionId)
        conversations.free(row.sessionId)
        runs.delete(row.sessionId)
      },
    })
    const answering = createAnswering(run, {
      answer: (request) => answer(run, request),
      failed: (error) => warn(`answering agent ${run.pid}`, error),
    })
    runs.set(row.sessionId, run)
    awaitReady(run).catch((error) => warn(`agent ${row.pid}`, error))
    if (released) run.detach()
    return run
  }

  async function answer(run: Run, request: unknown): Promise<string[]> {
    const session = deps.session(run.sessionId)
    return (session && (await run.driver.answer?.(request, session, deps.env))) ?? []
  }

  async function tidyUp(run: Run, since: number): Promise<void> {
    try {
      const session = deps.session(run.sessionId)
      if (session) await run.driver.afterExit?.(session, since)
    } catch (error) {
      warn(`tidying up after agent ${run.pid}`, error)
    }
  }

  /** A process that cannot open its conversation, or takes too long over it, makes room for another try. */
  async function awaitReady(run: Run): Promise<void> {
    const timer = setTimeout(() => (released ? undefined : endRun(run)), options.readyMs).unref()
    const problem = await run.ready
    clearTimeout(timer)
    if (problem && !run.over) await endRun(run)
  }

  /** The session's process; a new one if it has none, or one that is on its way out. */
  async function ensure(session: Session): Promise<Run> {
    const underWay = starting.get(session.id)
    if (underWay) return underWay
    const run = runs.get(session.id)
    if (run && !run.ending && !run.over && !run.worn()) return run
    const started = (async () => {
      if (run?.worn()) await endRun(run)
      await run?.gone
      const now = deps.session(session.id)
      if (!now || now.destroyed || released) throw new CorralError('session_not_found', 'The session is gone')
      await conversations.claim(now)
      return starter.start(now)
    })().finally(() => starting.delete(session.id))
    starting.set(session.id, started)
    return started
  }

  async function end(sessionId: string, times?: EndTimes): Promise<void> {
    const underWay = starting.get(sessionId)
    if (underWay) await underWay.catch(() => undefined)
    const run = runs.get(sessionId)
    if (run) await endRun(run, times)
  }

  async function endRun(run: Run, { termMs, killMs }: EndTimes = options): Promise<void> {
    if (run.over) return run.gone // it has ended by itself, which is another thing to tell
    if (!run.alone()) return leave(run, killMs)
    run.shut()
    run.signal('SIGCONT')
    if (isBusy(run.sessionId) || deps.session(run.sessionId)?.destroyed) {
      run.signal('SIGTERM')
      ladder.start(run, [['SIGKILL', killMs]])
    } else if (!run.ending || run.refused) {
      const farewell = run.driver.farewell()
      run.write(farewell).catch(() => undefined)
      ladder.start(run, [
        ['SIGTERM', farewell.length > 0 ? termMs : 0],
        ['SIGKILL', killMs],
      ])
    }
    run.ending = true
    await run.gone
  }

  /** Out of a process that others need; a turn that runs is stopped first. */
  async function leave(run: Run, patienceMs: number): Promise<void> {
    const session = deps.session(run.sessionId)
    const busy = run.busy()
    run.ending = true
    if (session && busy) await run.write(run.driver.interrupt(session)).catch(() => undefined)
    await run.leave(session, busy ? patienceMs : 0)
  }

  function interrupt(sessionId: string): void {
    const run = runs.get(sessionId)
    if (!run || starting.has(sessionId)) return // its message has not been written: delivery will see
    run.signal('SIGCONT')
    const session = deps.session(sessionId)
    const lines = session ? run.driver.interrupt(session) : []
    run.write(lines).catch((error) => warn('interrupting an agent', error))
    ladder.start(run, afterInterrupt(options))
  }

  const isIdle = ({ ending, sessionId }: Run): boolean =>
    !ending && !isBusy(sessionId) && !starting.has(sessionId)

  /** The session has its process no more; what that has left running in the background goes on. */
  function makeRoom(run: Run): Promise<void> {
    run.sparing = true
    return endRun(run).catch((error) => warn('ending an idle agent', error))
  }

  /** Ends what has been idle too long or is too much. */
  function evict(): void {
    const idle = [...runs.values()].filter(isIdle).sort((a, b) => a.usedAt - b.usedAt)
    const tooOld = Date.now() - options.idleMs
    idle.forEach((run, index) => {
      const spareRoom = run.driver.shared !== undefined || idle.length - index <= options.maxWarm
      if (run.usedAt < tooOld || !spareRoom) void makeRoom(run)
    })
  }

  /** What told that it is ready may be gone from its journal, or may never have been asked for; its answer tells it again. */
  async function arrive(run: Run, session: Session): Promise<void> {
    const { shared } = run.driver
    if (shared && session.turn && !session.turn.accepted) await run.write(shared.join(session))
    else void run.barrier(deps.newId(), session)
  }

  /** Takes up one process of an earlier daemon; true when it lives. */
  async function takeUp(row: RunRow, session: Session): Promise<boolean> {
    try {
      const run = adopt(row, catalog.driver(session.agent))
      if (session.nativeId) conversations.learn(session.agent, session.nativeId, session.id)
      starter.takeUp(row, run.driver)
      await run.follow()
      if (run.driver.handshake) await arrive(run, session)
      if (run.alive()) return true
      await run.gone
    } catch (error) {
      warn(`taking up agent ${row.pid}`, error)
      runs.delete(row.sessionId)
      const exit = { code: null, signal: null, stderr: String(error), expected: false }
      await untilCommitted(() => sink.exited(session.id, row.id, exit), {
        stopped: () => released,
        failed: (problem) => warn(`noting the exit of agent ${row.pid}`, problem),
      })
    }
    return false
  }

  return {
    prompt: delivery.prompt,
    async tell(sessionId, intent) {
      const underWay = starting.get(sessionId)
      const run = underWay ? await underWay.catch(() => null) : runs.get(sessionId)
      if (!run || run.ending || (await run.ready) || run.over) return false
      const session = deps.session(sessionId)
      if (!session) return false
      await run.tell(intent, session)
      return true
    },
    steer: delivery.steer,
    retract(sessionId, steerId) {
      const [run, session] = [runs.get(sessionId), deps.session(sessionId)]
      if (!run || !session || !run.driver.capabilities.steer || starting.has(sessionId)) return
      run.tell({ kind: 'retract', steerId }, session).catch((error) => warn('taking back a message', error))
    },
    interrupt,
    pause: (sessionId) => runs.get(sessionId)?.signal('SIGSTOP'),
    resume: (sessionId) => runs.get(sessionId)?.signal('SIGCONT'),
    end: (sessionId) => end(sessionId),
    async attach(rows, sessions) {
      sweep(options.runsDir, new Set(rows.map((row) => row.process)))
      starter.spares.fill()
      const alive = new Set<string>()
      await Promise.all(
        rows.map(async (row) => {
          const session = sessions.get(row.sessionId)
          if (session && (await takeUp(row, session))) alive.add(session.id)
        }),
      )
      return alive
    },
    models: starter.inquiry.models,
    spares: starter.spares,
    running: () =>
      [...runs.values()].map(({ sessionId, pid }) => ({ sessionId, pid, busy: isBusy(sessionId) })),
    async cool(sessionIds) {
      const chosen = sessionIds.flatMap((id) => runs.get(id) ?? []).filter(isIdle)
      await Promise.all(chosen.map(makeRoom))
    },
    async renew(agents) {
      starter.spares.renew(agents)
      const theirs = [...runs.values()].filter((run) => isIdle(run) && agents.includes(run.driver.name))
      await Promise.all(theirs.map(makeRoom))
    },
    async endAll() {
      const sessions = new Set([...runs.keys(), ...starting.keys()])
      await Promise.all([
        starter.spares.end(),
        starter.inquiry.end(),
        ...[...sessions].map((id) => end(id, LAST_ORDERS)),
      ])
    },
    release() {
      released = true
      void starter.spares.end()
      void starter.inquiry.end()
      clearInterval(heartbeat)
      clearInterval(housekeeping)
      ladder.stopAll()
      for (const run of runs.values()) run.detach()
      for (const name of catalog.names()) catalog.driver(name).letGo?.()
    },
  }
}
