import type { PendingApproval } from './approval.ts'
import type { HeldCall } from './call.ts'
import type { Content } from './content.ts'
import * as decide from './decide.ts'
import type { Drafts } from './draft.ts'
import type { Event, LoggedEvent } from './event.ts'
import type { AgentHost, Log, Telling } from './ports.ts'
import type { Session } from './session.ts'

interface ReactorDeps {
  drafts: Drafts
  log: Log
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
export function createReactor({ drafts, log, warn }: ReactorDeps): Reactor {
  let host: AgentHost | null = null
  let held = false
  const delivered = new Map<string, { ids: string[]; noted: Promise<unknown> }>()

  function prompt(
    agents: AgentHost,
    sessionId: string,
    turnId: string,
    inDoubt: boolean,
    said?: Content[],
  ): void {
    const input = held ? undefined : (said ?? log.turn(turnId)?.input)
    if (input) agents.prompt(sessionId, turnId, input, inDoubt)
  }

  function tell(agents: AgentHost, sessionId: string, intent: Telling): void {
    agents.tell(sessionId, intent).catch((error) => warn(`telling an agent its ${intent.kind}`, error))
  }

  /** Hands a decision to the agent and notes that it has it. */
  async function hand(agents: AgentHost, sessionId: string, approval: PendingApproval): Promise<void> {
    const { decision } = approval
    if (!decision || decision.behavior === 'cancelled') return
    const written = await agents.tell(sessionId, { kind: 'decision', approval, decision })
    if (written) await noteDelivered(sessionId, approval.id)
  }

  /** Of many that are written at once it is noted at once. */
  function noteDelivered(sessionId: string, approvalId: string): Promise<unknown> {
    const known = delivered.get(sessionId)
    known?.ids.push(approvalId)
    if (known) return known.noted
    const ids = [approvalId]
    const noted = new Promise((resolve) => setImmediate(resolve)).then(() => {
      delivered.delete(sessionId)
      const draft = drafts.of(sessionId)
      draft.add(...ids.map((id) => ({ type: 'approval.delivered' as const, approvalId: id })))
      return draft.commit()
    })
    delivered.set(sessionId, { ids, noted })
    return noted
  }

  function handOver(agents: AgentHost, session: Session | null, approvalId?: string): void {
    for (const approval of session?.approvals ?? []) {
      if (approvalId !== undefined && approval.id !== approvalId) continue
      hand(agents, session!.id, approval).catch((error) =>
        warn(`handing over the decision on ${approval.tool}`, error),
      )
    }
  }

  function bringResults(agents: AgentHost, session: Session | null, callId?: string): void {
    for (const call of session?.calls ?? []) {
      if (!call.result || (callId !== undefined && call.callId !== callId)) continue
      bring(agents, session!.id, call).catch((error) => warn(`bringing the result of ${call.tool}`, error))
    }
  }

  async function bring(agents: AgentHost, sessionId: string, call: HeldCall): Promise<void> {
    if (!(await agents.tell(sessionId, { kind: 'result', call }))) return
    const draft = drafts.of(sessionId)
    draft.add({ type: 'call.delivered', callId: call.callId })
    await draft.commit()
  }

  /** Those that had to wait for the agent to have the turn's own message. */
  function steerAll(agents: AgentHost, session: Session | null, before: number, inDoubt: boolean): void {
    for (const { id, seq } of session?.steers ?? []) {
      if (seq < before) agents.steer(session!.id, id, inDoubt)
    }
  }

  function end(agents: AgentHost, sessionId: string): Promise<void> {
    return agents.end(sessionId).catch((error) => warn(`ending the agent of session ${sessionId}`, error))
  }

  function one(agents: AgentHost, event: Event, batch: LoggedEvent[]): void {
    const { sessionId } = event
    switch (event.type) {
      case 'turn.started':
        return prompt(agents, sessionId, event.turnId, false, inputOf(event.turnId, batch))
      case 'turn.retried':
        // Whatever process there is holds the wrong conversation.
        void end(agents, sessionId).then(() => prompt(agents, sessionId, event.turnId, false))
        return
      case 'turn.interrupting':
        return agents.interrupt(sessionId)
      case 'turn.accepted':
        // An interrupt that overtook its message stopped nothing.
        if (drafts.peek(sessionId)?.turn?.interrupting) return agents.interrupt(sessionId)
        return steerAll(agents, drafts.peek(sessionId), event.seq, false)
      case 'turn.steered':
        return agents.steer(sessionId, event.steerId, false)
      case 'turn.cancelled':
        return agents.retract(sessionId, event.turnId)
      case 'approval.resolved':
        return handOver(agents, drafts.peek(sessionId), event.approvalId)
      case 'call.answered':
        return bringResults(agents, drafts.peek(sessionId), event.callId)
      case 'session.changed':
        return changed(agents, event)
      case 'session.destroyed':
        void end(agents, sessionId)
        return
      default:
    }
  }

  function changed(agents: AgentHost, event: Event & { type: 'session.changed' }): void {
    const { sessionId, paused, nativeId, mode, model, effort, reason } = event
    if (paused !== undefined) (paused ? agents.pause : agents.resume)(sessionId)
    if (reason === 'agent') return
    if (nativeId !== undefined) return void end(agents, sessionId)
    if (mode !== undefined) tell(agents, sessionId, { kind: 'mode', mode })
    if (model !== undefined) tell(agents, sessionId, { kind: 'model', model })
    if (effort !== undefined) tell(agents, sessionId, { kind: 'effort', effort })
  }

  /** A session as an earlier daemon left it. What that one was to tell its agent is told again: the same twice changes nothing. */
  function recover(agents: AgentHost, session: Session, alive: boolean): void {
    const { id, turn } = session
    if (session.destroyed) return void end(agents, id)
    if (alive && session.run?.stale) return void end(agents, id).then(() => takeUp(agents, id, false))
    if (alive) retell(agents, session)
    if (!turn) advance(id)
    else if (!turn.accepted) prompt(agents, id, turn.id, alive)
    else if (turn.interrupting) agents.interrupt(id)
    else steerAll(agents, session, Infinity, true)
  }

  function takeUp(agents: AgentHost, sessionId: string, alive: boolean): void {
    const session = drafts.peek(sessionId)
    if (session) recover(agents, session, alive)
  }

  function advance(sessionId: string): void {
    const draft = drafts.of(sessionId)
    draft.add(...decide.advance(draft.state))
    draft.commit().catch((error) => warn(`taking up the queue of session ${sessionId}`, error))
  }

  function retell(agents: AgentHost, session: Session): void {
    const { id, mode, model, effort, turn, paused } = session
    tell(agents, id, { kind: 'mode', mode })
    if (model !== null) tell(agents, id, { kind: 'model', model })
    if (effort) tell(agents, id, { kind: 'effort', effort })
    if (!paused) agents.resume(id)
    // A process that has not got the message yet has to be awake for it.
    else if (turn?.accepted) agents.pause(id)
    if (turn) for (const steerId of cancelledSteers(log, session)) agents.retract(id, steerId)
    handOver(agents, session)
    bringResults(agents, session)
  }

  function react(events: LoggedEvent[]): void {
    if (host) for (const { event } of events) one(host, event, events)
  }

  return {
    react,
    hold() {
      held = true
    },
    ended: (sessionId) => (host ? end(host, sessionId) : Promise.resolve()),
    async start(agents) {
      const unfinished = log.unfinished()
      const alive = await agents.attach(
        log.runs(),
        new Map(unfinished.map((session) => [session.id, session])),
      )
      host = agents
      for (const { id } of unfinished) takeUp(agents, id, alive.has(id))
    },
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
      event.type === 'turn.cancelled' && steers.has(event.turnId) ? [event.turnId] : [],
    )
}

/** A message that starts at once is still at hand; others are read from the log. */
function inputOf(turnId: string, batch: LoggedEvent[]): Content[] | undefined {
  for (const { event } of batch)
    if (event.type === 'turn.queued' && event.turnId === turnId) return event.input
  return undefined
}
