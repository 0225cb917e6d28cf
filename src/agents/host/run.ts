import { existsSync, rmSync, statSync, truncateSync } from 'node:fs'
import type { ExitInfo, Intent, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Failure } from '../../core/turn.ts'
import type { AgentDriver, AgentService } from '../agent.ts'
import { Group } from './group.ts'
import { Intake, type IntakeDeps } from './intake.ts'
import { isWorn, Journal, MAX_LINE } from './journal.ts'
import { isDiskFull, readExit, tail } from './last-words.ts'
import { untilCommitted } from './patience.ts'
import { descendants, endKnown, endMarked } from './process.ts'
import { Reading } from './reading.ts'
import type { Seat } from './seats.ts'
import { watchRun } from './watching.ts'
import { markOf, runFiles, wakeWatcher } from './wrapper.ts'

/** A journal above this is emptied when its agent is idle. */
const TRUNCATE_ABOVE = 1024 * 1024

export interface RunDeps extends IntakeDeps {
  dir: string
  seat: Seat
  session: () => Session | null
  driver: AgentDriver
  /** What this side does for the process; ends with it. */
  service: AgentService | undefined
  /** The process is gone, which began at this time; nothing else is started for its session before this is done. */
  tidyUp: (since: number) => Promise<void>
  /** Nobody is left in its process, and nobody comes any more. */
  vacate: () => boolean
  /** The process is gone and everything it said is in the log. */
  onExit: () => void
}

/** One agent process: its journal on the way in, its FIFO on the way out. */
export class Run {
  readonly id: string
  readonly sessionId: string
  readonly pid: number
  readonly driver: AgentDriver
  /** When it was last asked to do something. */
  usedAt = Date.now()
  /** Corral has told it to end, or it is not a session's yet: its exit is no surprise. */
  ending = false
  /** What it has left running in the background may go on: only the agent itself has to make room. */
  sparing = false
  /** Steers that were written to it; one that came too late it may begin by itself. */
  readonly steered = new Set<string>()
  readonly gone: Promise<void>
  /** Resolves when messages may come: null, or why they never may. */
  readonly ready: Promise<Failure | null>

  readonly #deps: RunDeps
  readonly #row: RunRow
  readonly #files: ReturnType<typeof runFiles>
  readonly #seat: Seat
  readonly #journal: Journal
  readonly #reading: Reading
  readonly #intake: Intake
  readonly #group: Group
  readonly #isGone: () => void
  readonly #barriers = new Map<string, (reached: boolean) => void>()
  readonly #whenEnded: (() => void)[] = []
  /** The message that was written last, as long as its turn has not ended. */
  #given: string | null = null
  #over = false
  #finished = false
  #detached = false
  #unwatch: (() => void) | null = null
  /** What it had started when it was told to end. */
  readonly #started = new Map<number, string>()

  constructor(deps: RunDeps) {
    const { row, driver, seat, dir } = deps
    this.id = row.id
    this.sessionId = row.sessionId
    this.pid = row.pid
    this.driver = driver
    this.#deps = deps
    this.#row = row
    this.#files = runFiles(dir)
    this.#seat = seat
    this.#group = new Group(row)
    this.#journal = new Journal(this.#files.journal, row.turnOffset, MAX_LINE)
    const { promise: ready, resolve: isReady } = Promise.withResolvers<Failure | null>()
    const { promise: gone, resolve: isGone } = Promise.withResolvers<void>()
    this.ready = ready
    this.gone = gone
    this.#isGone = isGone
    this.#reading = new Reading(this.#journal, driver, deps.session, {
      barrier: (id) => this.#settleBarrier(id, true),
      ready: isReady,
      ended: () => {
        this.#given = null
        this.#whenEnded.splice(0).forEach((resolve) => resolve())
      },
    })
    this.#intake = new Intake(deps, this.#reading, {
      stopped: () => this.#detached || this.#finished,
      drained: () => (this.#over ? this.#finish() : undefined),
    })
    // Who has ended a turn was ready for it.
    if (!driver.handshake || (!driver.shared && row.turnOffset > 0)) isReady(null)
    void gone.then(() =>
      isReady({ code: 'agent_exited', message: `${driver.title} ended before it was ready` }),
    )
  }

  /** Its end has been seen. */
  get over(): boolean {
    return this.#over
  }

  /** A spare that did not become this session's process. */
  get refused(): boolean {
    return this.#reading.refused
  }

  /** The last turn whose message the agent has confirmed. */
  get acceptedTurn(): string | null {
    return this.#reading.acceptedTurn
  }

  /** Whether it has read this steer, in the turn that runs. */
  hasRead(steerId: string): boolean {
    return this.#reading.arrived(steerId)
  }

  alive(): boolean {
    return this.#group.alive()
  }

  /** Nobody else is in its process. */
  alone(): boolean {
    return this.#seat.alone()
  }

  /** Nobody else may come into its process: it is about to end. */
  shut(): void {
    this.#seat.shut()
  }

  /** It has been given a message and has not finished with it. */
  busy(): boolean {
    return this.#reading.inTurn || this.#given !== null
  }

  /** It rests in a process that many share and that has said too much: the next turn had better begin elsewhere. */
  worn(): boolean {
    return this.driver.shared !== undefined && !this.busy() && isWorn(this.#files.journal)
  }

  /** Looks whether the process is still there, which costs more than reading. */
  check(): void {
    this.#over ||= existsSync(this.#files.exit) || !this.alive()
    this.#intake.pump()
  }

  /** Starts following the journal; resolves when all that is in it now has been committed. */
  async follow(): Promise<void> {
    this.#reading.rewind(this.#row)
    this.#unwatch = watchRun(this.#deps.dir, {
      pump: () => this.#intake.pump(),
      check: () => this.check(),
      failed: (error) => this.#deps.warn(`watching agent ${this.pid}`, error),
    })
    const quiet = this.#intake.quiet()
    this.check()
    await quiet
  }

  write(lines: string[]): Promise<void> {
    return this.#seat.fifo.write(lines)
  }

  tell(intent: Intent, session: Session): Promise<void> {
    const { driver } = this
    const { state } = this.#reading
    if (intent.kind === 'prompt') this.#given = intent.turnId
    const done = intent.kind === 'decision' && this.#deps.service?.carryOut?.(intent, session, state)
    return done ? done.then((lines) => this.write(lines)) : this.write(driver.encode(intent, session, state))
  }

  async answer(request: unknown): Promise<string[]> {
    const session = this.#deps.session()
    return (session && (await this.#deps.service?.answer(request, session))) ?? []
  }

  /** Resolves true once everything written before has been read by the agent, false when it is gone. */
  barrier(id: string, session: Session): Promise<boolean> {
    return new Promise((resolve) => {
      this.#barriers.set(id, resolve)
      // A line that was cut off by a crash is ended first; the agent may not survive it, and then starts anew.
      this.write(['', ...this.driver.barrier(id, session)]).catch(() => this.#settleBarrier(id, false))
      void this.gone.then(() => this.#settleBarrier(id, false))
    })
  }

  #settleBarrier(id: string, reached: boolean): void {
    this.#barriers.get(id)?.(reached)
    this.#barriers.delete(id)
  }

  /** Before the next turn of an idle agent: keeps its files small. */
  async tidy(): Promise<void> {
    const { errors } = this.#files
    if ((statSync(errors, { throwIfNoEntry: false })?.size ?? 0) > TRUNCATE_ABOVE) truncateSync(errors)
    if (!this.alone() || this.#intake.committing) return
    const size = this.#journal.size()
    if (size <= TRUNCATE_ABOVE || this.#journal.offset !== size) return
    const position = this.#reading.empty()
    await this.#deps.sink.output(this.sessionId, { runId: this.id, ...position }, [])
  }

  /** Before it is told to end: what it has started loses its parent with it, and may have nothing else that tells whose it is. */
  lookBelow(): void {
    for (const [pid, start] of descendants(this.pid)) this.#started.set(pid, start)
  }

  /** Others in the same process are left alone, unless nothing else helps; who joins it must find it awake. */
  signal(name: NodeJS.Signals): void {
    if (!this.#group.ours() || (!this.alone() && name !== 'SIGKILL')) return
    if (name === 'SIGSTOP' && this.driver.shared) return
    if (name !== 'SIGCONT' && name !== 'SIGSTOP') this.shut()
    if (!this.#over && (name === 'SIGTERM' || name === 'SIGKILL')) this.lookBelow()
    this.#group.signal(name)
    if (name === 'SIGSTOP') wakeWatcher(this.#deps.dir)
  }

  /** Leaves a process to the others in it: waits for the end of the turn if told how long, says its last lines, and is gone. */
  async leave(session: Session | null, patienceMs: number): Promise<void> {
    const { shared } = this.driver
    const turnOver = new Promise<void>((resolve) => this.#whenEnded.push(resolve))
    if (patienceMs > 0) {
      const late = Promise.withResolvers<void>()
      const timer = setTimeout(late.resolve, patienceMs)
      await Promise.race([turnOver, late.promise, this.gone]).finally(() => clearTimeout(timer))
    }
    if (this.#finished) return this.gone
    const lines = session ? shared?.leave(session, this.#reading.state) : []
    await this.write(lines ?? []).catch(() => undefined)
    if (session?.destroyed)
      await shared?.clear(session).catch((error) => this.#deps.warn('clearing up', error))
    this.#finished = true
    this.#seat.finish()
    await this.#report({ code: 0, signal: null, stderr: '', expected: true })
  }

  /** Stops following without touching the process. */
  detach(): void {
    if (this.#detached) return
    this.#detached = true
    this.#unwatch?.()
    this.#seat.leave()
    this.#journal.close()
    this.#deps.service?.letGo?.()
  }

  /** The end: all of the journal has been read; what is left of the group goes, and the exit is told. */
  #finish(): void {
    this.#finished = true
    if (this.#seat.finish()) {
      this.signal('SIGKILL')
      if (!this.sparing) {
        endMarked(markOf(this.#row.process))
        endKnown(this.#started)
      }
    }
    void this.#exited()
  }

  async #exited(): Promise<void> {
    const diskFull = isDiskFull(this.#deps.dir) // now: there may be room again when its end can be written down
    await this.#group.untilDead()
    const { exit, errors } = this.#files
    await this.#report({ ...readExit(exit), stderr: tail(errors), expected: this.ending, diskFull })
  }

  async #report(exit: ExitInfo): Promise<void> {
    const { dir, sink, warn } = this.#deps
    this.#deps.service?.end?.()
    await this.#deps.tidyUp(statSync(dir, { throwIfNoEntry: false })?.birthtimeMs ?? Date.now())
    await untilCommitted(() => sink.exited(this.sessionId, this.id, exit), {
      stopped: () => this.#detached,
      failed: (error) => warn(`noting the exit of agent ${this.pid}`, error),
    })
    if (this.#detached) return
    this.detach()
    if (this.#deps.vacate()) {
      // The last one out ends the process, if it has not ended by itself.
      await this.#group.end()
      rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
    }
    this.#deps.onExit()
    this.#isGone()
  }
}
