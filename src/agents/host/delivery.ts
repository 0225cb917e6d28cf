import type { Content } from '../../core/content.ts'
import { CorralError } from '../../core/error.ts'
import type { AgentSink } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Failure, Steer } from '../../core/turn.ts'
import { untilCommitted } from './patience.ts'
import type { Run } from './run.ts'

interface DeliveryDeps {
  sink: AgentSink
  session: (id: string) => Session | null
  ensure: (session: Session) => Promise<Run>
  running: (sessionId: string) => Run | undefined
  interrupt: (sessionId: string) => void
  released: () => boolean
  newId: () => string
  warn: (message: string, error: unknown) => void
}

export interface Delivery {
  prompt(sessionId: string, turnId: string, input: Content[], inDoubt: boolean): void
  steer(sessionId: string, steerId: string, inDoubt: boolean): void
}

/** Brings messages to agents. Between two steps the world may have changed: what is wanted is asked again before each. */
export function createDelivery(deps: DeliveryDeps): Delivery {
  const { sink, warn, newId } = deps

  /** The session, if it still wants this very message brought. */
  function wanting(sessionId: string, turnId: string): Session | null {
    const session = deps.session(sessionId)
    return session?.turn?.id === turnId && !deps.released() ? session : null
  }

  /** True when the agent turned out to have the message already. */
  async function hasIt(run: Run, turnId: string): Promise<boolean | 'gone'> {
    if (run.acceptedTurn === turnId) return true
    const session = deps.session(run.sessionId)
    if (!session || !(await run.barrier(newId(), session))) return 'gone'
    return run.acceptedTurn === turnId
  }

  async function bring(sessionId: string, turnId: string, input: Content[], inDoubt: boolean): Promise<void> {
    const before = wanting(sessionId, turnId)
    if (!before) return
    if (before.turn!.interrupting && !inDoubt) return sink.abandoned(sessionId, turnId)
    const run = await deps.ensure(before)
    run.usedAt = Date.now()
    const problem = await run.ready
    if (run.over && !run.ending) return // its exit says what becomes of the turn
    if (problem) throw new Unready(problem)
    const steered = run.steered.has(turnId)
    if (inDoubt || steered) {
      const answer = await hasIt(run, turnId)
      if (answer === 'gone') return // its exit says what becomes of the turn
      if (answer)
        return wanting(sessionId, turnId)?.turn?.interrupting ? deps.interrupt(sessionId) : undefined
    } else await run.tidy()
    const session = wanting(sessionId, turnId)
    if (!session) return
    // What an agent may begin by itself cannot be kept from it; it is stopped as soon as it has begun.
    if (session.turn!.interrupting && !steered) return sink.abandoned(sessionId, turnId)
    run.steered.clear()
    await write(run, session, turnId, input)
    if (deps.session(sessionId)?.paused) run.signal('SIGSTOP')
  }

  /** The session and the steer, if its turn runs on and has not taken it. What is not brought becomes the next turn. */
  function steering(sessionId: string, steerId: string): { session: Session; steer: Steer } | null {
    const session = deps.session(sessionId)
    const steer = session?.steers.find(({ id }) => id === steerId)
    const open = session?.turn?.accepted && !session.turn.interrupting && !deps.released()
    return steer && open ? { session, steer } : null
  }

  async function guide(sessionId: string, steerId: string, inDoubt: boolean): Promise<void> {
    const run = deps.running(sessionId)
    const before = steering(sessionId, steerId)
    if (!run || run.over || run.ending || !before) return
    const doubtful = inDoubt || run.steered.has(steerId)
    if (doubtful && !run.hasRead(steerId) && !(await run.barrier(newId(), before.session))) return
    const wanted = steering(sessionId, steerId)
    if (!wanted || (doubtful && run.hasRead(steerId))) return
    run.steered.add(steerId)
    await run.tell({ kind: 'steer', steer: wanted.steer }, wanted.session)
  }

  async function write(run: Run, session: Session, turnId: string, input: Content[]): Promise<void> {
    try {
      await run.tell({ kind: 'prompt', turnId, input }, session)
    } catch (error) {
      // A process that died under a long message: its exit says what becomes of the turn.
      if (run.alive() && !run.over) throw error
    }
  }

  return {
    steer(sessionId, steerId, inDoubt) {
      guide(sessionId, steerId, inDoubt).catch((error) => warn(`steering session ${sessionId}`, error))
    },
    prompt(sessionId, turnId, input, inDoubt) {
      bring(sessionId, turnId, input, inDoubt).catch((error: unknown) =>
        untilCommitted(() => sink.failedToStart(sessionId, turnId, failureOf(error)), {
          stopped: deps.released,
          failed: (problem) => warn(`noting that session ${sessionId} has no agent`, problem),
        }),
      )
    },
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
