import type { Content } from '../../core/content.ts'
import { CorralError } from '../../core/error.ts'
import type { Telling } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Failure, Steer } from '../../core/turn.ts'
import { untilCommitted } from './patience.ts'
import type { HostDeps } from './deps.ts'
import type { Roster } from './roster.ts'
import type { Run } from './run.ts'

interface DeliveryDeps extends Pick<HostDeps, 'sink' | 'session' | 'newId' | 'warn'> {
  roster: Roster
  ensure: (session: Session) => Promise<Run>
  interrupt: (sessionId: string) => void
}

/** Brings messages to agents. Between two steps the world may have changed: what is wanted is asked again before each. */
export class Delivery {
  readonly #deps: DeliveryDeps

  constructor(deps: DeliveryDeps) {
    this.#deps = deps
  }

  prompt(sessionId: string, turnId: string, input: Content[], inDoubt: boolean): void {
    const { sink, roster, warn } = this.#deps
    this.#bring(sessionId, turnId, input, inDoubt).catch((error: unknown) =>
      untilCommitted(() => sink.failedToStart(sessionId, turnId, failureOf(error)), {
        stopped: () => roster.released,
        failed: (problem) => warn(`noting that session ${sessionId} has no agent`, problem),
      }),
    )
  }

  steer(sessionId: string, steerId: string, inDoubt: boolean): void {
    this.#guide(sessionId, steerId, inDoubt).catch((error) =>
      this.#deps.warn(`steering session ${sessionId}`, error),
    )
  }

  /** Tells a running agent something; false when no process is there to be told. */
  async tell(sessionId: string, intent: Telling): Promise<boolean> {
    const { runs, starting } = this.#deps.roster
    const underWay = starting.get(sessionId)
    const run = underWay ? await underWay.catch(() => null) : runs.get(sessionId)
    if (!run || run.ending || (await run.ready) || run.over) return false
    const session = this.#deps.session(sessionId)
    if (!session) return false
    await run.tell(intent, session)
    return true
  }

  retract(sessionId: string, steerId: string): void {
    const { roster, warn } = this.#deps
    const [run, session] = [roster.runs.get(sessionId), this.#deps.session(sessionId)]
    if (!run || !session || !run.driver.capabilities.steer || roster.starting.has(sessionId)) return
    run.tell({ kind: 'retract', steerId }, session).catch((error) => warn('taking back a message', error))
  }

  async #bring(sessionId: string, turnId: string, input: Content[], inDoubt: boolean): Promise<void> {
    const { sink } = this.#deps
    const before = this.#wanting(sessionId, turnId)
    if (!before) return
    if (before.turn!.interrupting && !inDoubt) return sink.abandoned(sessionId, turnId)
    const run = await this.#deps.ensure(before)
    run.usedAt = Date.now()
    const problem = await run.ready
    if (run.over && !run.ending) return // its exit says what becomes of the turn
    if (problem) throw new Unready(problem)
    const steered = run.steered.has(turnId)
    if (inDoubt || steered) {
      const has = await this.#hasIt(run, turnId)
      if (has === 'gone') return // its exit says what becomes of the turn
      if (has)
        return this.#wanting(sessionId, turnId)?.turn?.interrupting
          ? this.#deps.interrupt(sessionId)
          : undefined
    } else await run.tidy()
    const session = this.#wanting(sessionId, turnId)
    if (!session) return
    // What an agent may begin by itself cannot be kept from it; it is stopped as soon as it has begun.
    if (session.turn!.interrupting && !steered) return sink.abandoned(sessionId, turnId)
    run.steered.clear()
    await write(run, session, turnId, input)
    if (this.#deps.session(sessionId)?.paused) run.signal('SIGSTOP')
  }

  /** The session, if it still wants this very message brought. */
  #wanting(sessionId: string, turnId: string): Session | null {
    const session = this.#deps.session(sessionId)
    return session?.turn?.id === turnId && !this.#deps.roster.released ? session : null
  }

  /** True when the agent turned out to have the message already. */
  async #hasIt(run: Run, turnId: string): Promise<boolean | 'gone'> {
    if (run.acceptedTurn === turnId) return true
    const session = this.#deps.session(run.sessionId)
    if (!session || !(await run.barrier(this.#deps.newId(), session))) return 'gone'
    return run.acceptedTurn === turnId
  }

  async #guide(sessionId: string, steerId: string, inDoubt: boolean): Promise<void> {
    const { runs, starting } = this.#deps.roster
    const run = starting.has(sessionId) ? undefined : runs.get(sessionId)
    const before = this.#steering(sessionId, steerId)
    if (!run || run.over || run.ending || !before) return
    const doubtful = inDoubt || run.steered.has(steerId)
    if (doubtful && !run.hasRead(steerId) && !(await run.barrier(this.#deps.newId(), before.session))) return
    const wanted = this.#steering(sessionId, steerId)
    if (!wanted || (doubtful && run.hasRead(steerId))) return
    run.steered.add(steerId)
    await run.tell({ kind: 'steer', steer: wanted.steer }, wanted.session)
  }

  /** The session and the steer, if its turn runs on and has not taken it. What is not brought becomes the next turn. */
  #steering(sessionId: string, steerId: string): { session: Session; steer: Steer } | null {
    const session = this.#deps.session(sessionId)
    const steer = session?.steers.find(({ id }) => id === steerId)
    const open = session?.turn?.accepted && !session.turn.interrupting && !this.#deps.roster.released
    return steer && open ? { session, steer } : null
  }
}

async function write(run: Run, session: Session, turnId: string, input: Content[]): Promise<void> {
  try {
    await run.tell({ kind: 'prompt', turnId, input }, session)
  } catch (error) {
    // A process that died under a long message: its exit says what becomes of the turn.
    if (run.alive() && !run.over) throw error
  }
}

/** An agent that could not open its conversation. */
class Unready extends Error {
  readonly failure: Failure

  constructor(failure: Failure) {
    super(failure.message)
    this.failure = failure
  }
}

function failureOf(thrown: unknown): Failure {
  if (thrown instanceof Unready) return thrown.failure
  const code = thrown instanceof CorralError && thrown.code !== 'internal' ? thrown.code : 'agent_start'
  return { code, message: thrown instanceof Error ? thrown.message : String(thrown) }
}
