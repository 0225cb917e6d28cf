import type { Checkpointing } from './checkpointing.ts'
import type { Content } from './content.ts'
import * as decide from './decide.ts'
import type { Drafts } from './draft.ts'
import { isPast, type Event, type LoggedEvent } from './event.ts'
import { Handover } from './handover.ts'
import type { AgentHost, Log, Telling } from './ports.ts'
import { recapOf } from './recap.ts'
import type { Session } from './session.ts'

interface ReactorDeps {
  drafts: Drafts
  log: Log
  /** Null: no checkpoints are taken. */
  checkpointing: Checkpointing | null
  warn: (message: string, error: unknown) => void
}

export interface Reactor {
  /** Does what committed events call for: agents are told things here and nowhere else. */
  react(events: LoggedEvent[]): void
  /** Resolves when the session's process is gone. */
  ended(sessionId: string): Promise<void>
  start(host: AgentHost): Promise<void>
  /** From now on no message is brought to an agent; the next daemon takes up what has started here. */
  hold(): void
}

/** Side effects, always after the commit that they follow from, so a crash between the two can be made good. */
export function createReactor(deps: ReactorDeps): Reactor {
  const { log } = deps
  const prompts = { held: false }
  let reactor: HostReactor | null = null
  return {
    react(events) {
      if (reactor) for (const { event } of events) reactor.react(event, events)
    },
    hold() {
      prompts.held = true
    },
    async ended(sessionId) {
      await reactor?.end(sessionId)
      await deps.checkpointing?.settled(sessionId)
    },
    async start(host) {
      const unfinished = log.unfinished()
      const alive = await host.attach(log.runs(), new Map(unfinished.map((session) => [session.id, session])))
      reactor = new HostReactor(deps, host, prompts)
      for (const { id } of unfinished) reactor.takeUp(id, alive.has(id))
      for (const id of log.checkpointsLeft()) void deps.checkpointing?.forget(id)
    },
  }
}

/** What the agents of a host are told: because of an event, or because of the state that an earlier daemon left. */
class HostReactor {
  readonly #deps: ReactorDeps
  readonly #host: AgentHost
  readonly #prompts: { readonly held: boolean }
  readonly #handover: Handover
  /** Turns whose message waits for a checkpoint. */
  readonly #waiting = new Set<string>()

  constructor(deps: ReactorDeps, host: AgentHost, prompts: { readonly held: boolean }) {
    this.#deps = deps
    this.#host = host
    this.#prompts = prompts
    this.#handover = new Handover({ ...deps, host })
  }

  react(event: Event, batch: LoggedEvent[]): void {
    const { sessionId } = event
    const host = this.#host
    if (isPast(event)) return
    switch (event.type) {
      case 'turn.started':
        return this.#begin(sessionId, event.turnId, batch)
      case 'turn.retried':
        // Whatever process there is holds the wrong conversation.
        void this.end(sessionId).then(() => this.#prompt(sessionId, event.turnId, false))
        return
      case 'turn.completed':
      case 'turn.failed':
      case 'turn.interrupted':
        if (!batch.some(isNext(sessionId))) this.#deps.checkpointing?.after(sessionId, event.turnId)
        return
      case 'turn.interrupting':
        // A message that waits for its checkpoint has not reached the host: whoever delivers it will see that it is not wanted.
        return this.#waiting.has(event.turnId) ? undefined : host.interrupt(sessionId)
      case 'turn.accepted':
        // An interrupt that overtook its message stopped nothing.
        if (this.#peek(sessionId)?.turn?.interrupting) return host.interrupt(sessionId)
        return this.#steerAll(this.#peek(sessionId), event.seq, false)
      case 'turn.steered':
        return host.steer(sessionId, event.steerId, false)
      case 'turn.cancelled':
        if (event.steered === undefined) host.retract(sessionId, event.turnId)
        return
      case 'approval.resolved':
        return this.#handover.decisions(this.#peek(sessionId), event.approvalId)
      case 'call.answered':
        return this.#handover.results(this.#peek(sessionId), event.callId)
      case 'session.changed':
        return this.#changed(event)
      case 'session.destroyed':
        void this.end(sessionId)
        void this.#deps.checkpointing?.forget(sessionId)
        return
      default:
    }
  }

  end(sessionId: string): Promise<void> {
    return this.#host
      .end(sessionId)
      .catch((error) => this.#deps.warn(`ending the agent of session ${sessionId}`, error))
  }

  /** A session as an earlier daemon left it. What that one was to tell its agent is told again: the same twice changes nothing. */
  takeUp(id: string, alive: boolean): void {
    const session = this.#peek(id)
    if (!session) return
    const { turn } = session
    if (session.destroyed) return void this.end(id)
    if (alive && session.run?.stale) return void this.end(id).then(() => this.takeUp(id, false))
    if (alive) this.#retell(session)
    if (!turn) this.#advance(id)
    // Nobody can have had the message: there was no process that it could have been written to.
    else if (!turn.accepted && !alive && !session.run && turn.attempts === 1) this.#begin(id, turn.id, [])
    else if (!turn.accepted) this.#prompt(id, turn.id, alive)
    else if (turn.interrupting) this.#host.interrupt(id)
    else this.#steerAll(session, Infinity, true)
  }

  #peek(sessionId: string): Session | null {
    return this.#deps.drafts.peek(sessionId)
  }

  /** The files as they are before the agent hears of the turn are kept first, unless it may have begun by itself. */
  #begin(sessionId: string, turnId: string, batch: LoggedEvent[]): void {
    const prompt = (): void => this.#prompt(sessionId, turnId, false, inputOf(turnId, batch))
    const { checkpointing } = this.#deps
    if (!checkpointing || batch.some(isKnownToAgent(turnId))) return prompt()
    this.#waiting.add(turnId)
    void checkpointing.before(sessionId, turnId, endedIn(sessionId, batch)).then(() => {
      this.#waiting.delete(turnId)
      if (this.#peek(sessionId)?.turn?.id === turnId) prompt()
    })
  }

  #prompt(sessionId: string, turnId: string, inDoubt: boolean, said?: Content[]): void {
    const { log } = this.#deps
    const input = this.#prompts.held ? undefined : (said ?? log.turn(turnId)?.input)
    if (!input) return
    const session = this.#peek(sessionId)
    const told = session?.recap ? [...recapOf(log, session), ...input] : input
    this.#host.prompt(sessionId, turnId, told, inDoubt)
  }

  #tell(sessionId: string, intent: Telling): void {
    this.#host
      .tell(sessionId, intent)
      .catch((error) => this.#deps.warn(`telling an agent its ${intent.kind}`, error))
  }

  /** Those that had to wait for the agent to have the turn's own message. */
  #steerAll(session: Session | null, before: number, inDoubt: boolean): void {
    for (const { id, seq } of session?.steers ?? []) {
      if (seq < before) this.#host.steer(session!.id, id, inDoubt)
    }
  }

  #changed(event: Event & { type: 'session.changed' }): void {
    const { sessionId, paused, nativeId, mode, model, effort, reason } = event
    if (paused === true) this.#host.pause(sessionId)
    if (paused === false) this.#host.resume(sessionId)
    if (reason === 'agent') return
    if (nativeId !== undefined) return void this.end(sessionId)
    if (mode !== undefined) this.#tell(sessionId, { kind: 'mode', mode })
    if (model !== undefined) this.#tell(sessionId, { kind: 'model', model })
    if (effort !== undefined) this.#tell(sessionId, { kind: 'effort', effort })
  }

  #advance(sessionId: string): void {
    const draft = this.#deps.drafts.of(sessionId)
    draft.add(...decide.advance(draft.state))
    draft.commit().catch((error) => this.#deps.warn(`taking up the queue of session ${sessionId}`, error))
  }

  #retell(session: Session): void {
    const { id, mode, model, effort, turn, paused } = session
    this.#tell(id, { kind: 'mode', mode })
    if (model !== null) this.#tell(id, { kind: 'model', model })
    if (effort) this.#tell(id, { kind: 'effort', effort })
    if (!paused) this.#host.resume(id)
    // A process that has not got the message yet has to be awake for it.
    else if (turn?.accepted) this.#host.pause(id)
    if (turn) for (const steerId of cancelledSteers(this.#deps.log, session)) this.#host.retract(id, steerId)
    this.#handover.decisions(session)
    this.#handover.results(session)
  }
}

/** Messages to the running turn that were taken back since: the agent may have read them. */
function cancelledSteers(log: Log, { id: sessionId, turn }: Session): string[] {
  const since = { sessionId, after: turn!.startedSeq, limit: 10_000 }
  const steers = new Set(
    log
      .events({ ...since, types: ['turn.steered'] })
      .map(({ event }) => event.type === 'turn.steered' && event.steerId),
  )
  return log
    .events({ ...since, types: ['turn.cancelled'] })
    .flatMap(({ event }) =>
      event.type === 'turn.cancelled' && event.steered === undefined && steers.has(event.turnId)
        ? [event.turnId]
        : [],
    )
}

/** What follows an end in the same commit: another turn, or nothing at all. */
function isNext(sessionId: string): (logged: LoggedEvent) => boolean {
  return ({ sessionId: id, type }) =>
    id === sessionId && (type === 'turn.started' || type === 'session.destroyed')
}

/** The agent has it already, or had it as a message to the turn before and may have begun it. */
function isKnownToAgent(turnId: string): (logged: LoggedEvent) => boolean {
  return ({ event }) =>
    (event.type === 'turn.accepted' && event.turnId === turnId) ||
    (event.type === 'turn.queued' && event.turnId === turnId && event.late === true)
}

/** The turn that ended in the same commit. */
function endedIn(sessionId: string, batch: LoggedEvent[]): string | null {
  const ends: readonly string[] = ['turn.completed', 'turn.failed', 'turn.interrupted']
  const end = batch.find((logged) => logged.sessionId === sessionId && ends.includes(logged.type))
  return end?.event.turnId ?? null
}

/** A message that starts at once is still at hand; others are read from the log. */
function inputOf(turnId: string, batch: LoggedEvent[]): Content[] | undefined {
  for (const { event } of batch)
    if (event.type === 'turn.queued' && event.turnId === turnId) return event.input
  return undefined
}
