import { existsSync, rmSync, statSync, truncateSync, watch, type FSWatcher } from 'node:fs'
import { CorralError } from '../../core/error.ts'
import type { AgentOutput } from '../../core/event.ts'
import type { AgentSink, ExitInfo, Intent, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Failure } from '../../core/turn.ts'
import type { AgentDriver } from '../agent.ts'
import { isForEngine } from '../output.ts'
import { isWorn, MAX_LINE, openJournal } from './journal.ts'
import { readExit, tail } from './last-words.ts'
import { untilCommitted } from './patience.ts'
import { BOOT_ID, endMarked, signalGroup, startTime } from './process.ts'
import { createReading } from './reading.ts'
import type { Seat } from './seats.ts'
import { markOf, runFiles, wakeWatcher } from './wrapper.ts'

/** A journal above this is emptied when its agent is idle. */
const TRUNCATE_ABOVE = 1024 * 1024
/** What says nothing is read again after a restart, if it is not more than this. */
const SILENT_BYTES = 256 * 1024
/** Commits under way before reading on waits: the journal is the buffer, memory is not. */
const MAX_IN_FLIGHT = 4
/** How often a process is looked at although nothing has stirred; faster where the system cannot say that it has. */
const POLL_MS = 500
const BLIND_POLL_MS = 50
const RETRY_MS = 1000

export interface RunDeps {
  row: RunRow
  dir: string
  seat: Seat
  session: () => Session | null
  driver: AgentDriver
  sink: AgentSink
  /** The committed row, to start over from when a commit failed. */
  committed: (runId: string) => RunRow | null
  /** Its protocol wants an answer; told before what was read is committed, so after a crash it may be told again. */
  onRequest: (request: unknown) => void
  /** What it said has been committed. */
  onOutput: (outputs: AgentOutput[]) => void
  /** The process is gone, which began at this time; nothing else is started for its session before this is done. */
  tidyUp: (since: number) => Promise<void>
  /** Nobody is left in its process, and nobody comes any more. */
  vacate: () => boolean
  /** The process is gone and everything it said is in the log. */
  onExit: () => void
  warn: (message: string, error: unknown) => void
}

/** One agent process: its journal on the way in, its FIFO on the way out. */
export interface Run {
  readonly id: string
  readonly sessionId: string
  readonly pid: number
  readonly driver: AgentDriver
  /** When it was last asked to do something. */
  usedAt: number
  /** Corral has told it to end, or it is not a session's yet: its exit is no surprise. */
  ending: boolean
  /** What it has left running in the background may go on: only the agent itself has to make room. */
  sparing: boolean
  /** Its end has been seen. */
  readonly over: boolean
  /** A spare that did not become this session's process. */
  readonly refused: boolean
  /** The last turn whose message the agent has confirmed. */
  readonly acceptedTurn: string | null
  /** Steers that were written to it; one that came too late it may begin by itself. */
  readonly steered: Set<string>
  /** Whether it has read this steer, in the turn that runs. */
  hasRead(steerId: string): boolean
  readonly gone: Promise<void>
  /** Resolves when messages may come: null, or why they never may. */
  readonly ready: Promise<Failure | null>
  alive(): boolean
  /** Looks whether the process is still there. */
  check(): void
  /** Starts following the journal; resolves when all that is in it now has been committed. */
  follow(): Promise<void>
  write(lines: string[]): Promise<void>
  tell(intent: Intent, session: Session): Promise<void>
  /** Resolves true once everything written before has been read by the agent, false when it is gone. */
  barrier(id: string, session: Session): Promise<boolean>
  /** Before the next turn of an idle agent: keeps its files small. */
  tidy(): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Nobody else is in its process. */
  alone(): boolean
  /** Nobody else may come into its process: it is about to end. */
  shut(): void
  /** It has been given a message and has not finished with it. */
  busy(): boolean
  /** It rests in a process that many share and that has said too much: the next turn had better begin elsewhere. */
  worn(): boolean
  /** Leaves a process to the others in it: waits for the end of the turn if told how long, says its last lines, and is gone. */
  leave(session: Session | null, patienceMs: number): Promise<void>
  /** Stops following without touching the process. */
  detach(): void
}

export function createRun(deps: RunDeps): Run {
  const { row, dir, seat, driver, sink, warn } = deps
  const files = runFiles(dir)
  const journal = openJournal(files.journal, row.turnOffset, MAX_LINE)
  const { fifo } = seat
  const barriers = new Map<string, (reached: boolean) => void>()
  const { promise: ready, resolve: isReady } = Promise.withResolvers<Failure | null>()
  const whenQuiet: (() => void)[] = []
  const whenEnded: (() => void)[] = []
  const reading = createReading(journal, driver, deps.session, {
    barrier: (id) => settleBarrier(id, true),
    ready: isReady,
    ended() {
      given = null
      whenEnded.splice(0).forEach((resolve) => resolve())
    },
  })
  const { promise: gone, resolve: isGone } = Promise.withResolvers<void>()
  /** The message that was written last, as long as its turn has not ended. */
  let given: string | null = null
  let committed = row.offset
  let inFlight = 0
  let failed = false
  let over = false
  let finished = false
  let detached = false
  let scheduled = false
  let watcher: FSWatcher | null = null
  let poll: NodeJS.Timeout | null = null

  const busy = (): boolean => reading.inTurn || given !== null

  function settleBarrier(id: string, reached: boolean): void {
    barriers.get(id)?.(reached)
    barriers.delete(id)
  }

  function ingest(): boolean {
    const page = reading.next()
    if (!page) return false
    // What says nothing is hardly worth a commit: read again after a crash, it says nothing again.
    if (page.outputs.length === 0 && page.position.offset - committed < SILENT_BYTES) return true
    committed = page.position.offset
    for (const output of page.outputs) if (output.type === 'agent.request') deps.onRequest(output.request)
    const outputs = page.outputs.filter(isForEngine)
    inFlight++
    sink
      .output(row.sessionId, { runId: row.id, ...page.position }, outputs)
      .then(() => deps.onOutput(outputs))
      .catch((error: unknown) => {
        // What the log cannot take now it takes later; anything else would fail again in the same way.
        failed ||= error instanceof CorralError && error.code === 'storage'
        warn(`reading agent ${row.pid}`, error)
      })
      .finally(() => {
        inFlight--
        if (!failed) soon()
        else if (inFlight === 0) setTimeout(startOver, RETRY_MS)
      })
    return true
  }

  /** The log could not be written: nothing is lost, the journal has it. */
  function startOver(): void {
    if (detached) return
    const committed = deps.committed(row.id)
    failed = false
    if (committed) reading.rewind(committed)
    pump()
  }

  /** In a turn of the event loop of its own, so that others get theirs and a failure is known before more is read. */
  function soon(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(() => {
      scheduled = false
      pump()
    })
  }

  function pump(): void {
    if (detached || failed || finished) return
    while (inFlight < MAX_IN_FLIGHT && ingest());
    if (inFlight > 0) return
    for (const resolve of whenQuiet.splice(0)) resolve()
    if (over) finish()
  }

  /** Also finds out whether the process is still there, which costs more than reading. */
  function check(): void {
    over ||= existsSync(files.exit) || !alive()
    pump()
  }

  function alive(): boolean {
    return row.bootId === BOOT_ID && startTime(row.pid) === row.startTime
  }

  /** Its pid is not somebody else's by now; the leader of a group may be gone before the rest of it. */
  function ours(): boolean {
    return row.bootId === BOOT_ID && [row.startTime, null].includes(startTime(row.pid))
  }

  /** Others in the same process are left alone, unless nothing else helps; who joins it must find it awake. */
  function signal(name: NodeJS.Signals): void {
    if (!ours() || (!seat.alone() && name !== 'SIGKILL') || (name === 'SIGSTOP' && driver.shared)) return
    if (name !== 'SIGCONT' && name !== 'SIGSTOP') seat.shut()
    signalGroup(row.pid, name)
    if (name === 'SIGSTOP') wakeWatcher(dir)
  }

  /** The end: all of the journal has been read; what is left of the group goes, and the exit is told. */
  function finish(): void {
    finished = true
    if (seat.finish()) {
      signal('SIGKILL')
      if (!run.sparing) endMarked(markOf(row.process))
    }
    void exited()
  }

  /** What was told to go takes a moment. */
  async function untilDead(): Promise<void> {
    for (let tries = 0; alive() && tries < 200; tries++)
      await new Promise((resolve) => setTimeout(resolve, 5))
  }

  async function exited(): Promise<void> {
    await untilDead()
    await report({ ...readExit(files.exit), stderr: tail(files.errors), expected: run.ending })
  }

  async function report(exit: ExitInfo): Promise<void> {
    await deps.tidyUp(statSync(dir, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now())
    await untilCommitted(() => sink.exited(row.sessionId, row.id, exit), {
      stopped: () => detached,
      failed: (error) => warn(`noting the exit of agent ${row.pid}`, error),
    })
    if (detached) return
    run.detach()
    if (deps.vacate()) await vacate()
    deps.onExit()
    isGone()
  }

  /** The last one out ends the process, if it has not ended by itself. */
  async function vacate(): Promise<void> {
    if (alive()) signalGroup(row.pid, 'SIGTERM')
    await untilDead()
    if (ours()) signalGroup(row.pid, 'SIGKILL')
    rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
  }

  /** Without a watch (the system's limit on them is reached) reading is merely less prompt. */
  function startWatching(): void {
    try {
      watcher = watch(dir, (_, file) => (file === 'exit' ? check() : pump()))
      watcher.on('error', (error) => warn(`watching agent ${row.pid}`, error))
    } catch (error) {
      warn(`watching agent ${row.pid}`, error)
    }
    poll = setInterval(check, watcher ? POLL_MS : BLIND_POLL_MS)
  }

  // Who has ended a turn was ready for it.
  if (!driver.handshake || (!driver.shared && row.turnOffset > 0)) isReady(null)
  void gone.then(() =>
    isReady({ code: 'agent_exited', message: `${driver.title} ended before it was ready` }),
  )

  const run: Run = {
    id: row.id,
    sessionId: row.sessionId,
    pid: row.pid,
    driver,
    usedAt: Date.now(),
    ending: false,
    sparing: false,
    get over() {
      return over
    },
    get refused() {
      return reading.refused
    },
    get acceptedTurn() {
      return reading.acceptedTurn
    },
    steered: new Set(),
    hasRead: reading.arrived,
    gone,
    ready,
    alive,
    check,
    async follow() {
      reading.rewind(row)
      startWatching()
      const quiet = new Promise<void>((resolve) => whenQuiet.push(resolve))
      check()
      await quiet
    },
    write: (lines) => fifo.write(lines),
    tell(intent, session) {
      if (intent.kind === 'prompt') given = intent.turnId
      const done = intent.kind === 'decision' && driver.carryOut?.(intent, session, reading.state)
      return done ? done.then(fifo.write) : fifo.write(driver.encode(intent, session, reading.state))
    },
    barrier(id, session) {
      return new Promise((resolve) => {
        barriers.set(id, resolve)
        // A line that was cut off by a crash is ended first; the agent may not survive it, and then starts anew.
        fifo.write(['', ...driver.barrier(id, session)]).catch(() => settleBarrier(id, false))
        void gone.then(() => settleBarrier(id, false))
      })
    },
    async tidy() {
      if ((statSync(files.errors, { throwIfNoEntry: false })?.size ?? 0) > TRUNCATE_ABOVE)
        truncateSync(files.errors)
      if (
        !seat.alone() ||
        journal.size() <= TRUNCATE_ABOVE ||
        inFlight > 0 ||
        journal.offset !== journal.size()
      )
        return
      const position = reading.empty()
      await sink.output(row.sessionId, { runId: row.id, ...position }, [])
    },
    signal,
    alone: seat.alone,
    shut: seat.shut,
    busy,
    worn: () => driver.shared !== undefined && !busy() && isWorn(files.journal),
    async leave(session, patienceMs) {
      const turnOver = new Promise<void>((resolve) => whenEnded.push(resolve))
      if (patienceMs > 0) {
        const late = Promise.withResolvers<void>()
        const timer = setTimeout(late.resolve, patienceMs)
        await Promise.race([turnOver, late.promise, gone]).finally(() => clearTimeout(timer))
      }
      if (finished) return gone
      const lines = session ? driver.shared?.leave(session, reading.state) : []
      await fifo.write(lines ?? []).catch(() => undefined)
      if (session?.destroyed) await driver.shared?.clear(session).catch((error) => warn('clearing up', error))
      finished = true
      seat.finish()
      await report({ code: 0, signal: null, stderr: '', expected: true })
    },
    detach() {
      if (detached) return
      detached = true
      watcher?.close()
      if (poll) clearInterval(poll)
      seat.leave()
      journal.close()
    },
  }
  return run
}
