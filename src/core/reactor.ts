import type { ConfigureSession } from './command.ts'
import * as decide from './decide.ts'
import type { Drafts } from './draft.ts'
import type { Event, LoggedEvent } from './event.ts'
import type { AgentHost, Log } from './ports.ts'
import type { PendingApproval } from './approval.ts'
import type { Session } from './session.ts'

interface ReactorDeps {
  drafts: Drafts
  log: Log
  warn: (message: string, error: unknown) => void
}

export interface Reactor {
  /** Does what committed events call for: agents are told things here and nowhere else. */
  react(events: LoggedEvent[]): void
  configured(session: Session, command: ConfigureSession): void
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
  const endings = new Map<string, Promise<void>>()

  function prompt(agents: AgentHost, sessionId: string, turnId: string, inDoubt: boolean): void {
    if (held) return
    const session = drafts.peek(sessionId)
    const turn = log.turn(turnId)
    if (session?.turn?.id === turnId && turn) agents.prompt(session, turnId, turn.input, inDoubt)
  }

  /** Hands a decision to the agent and notes that it has it. */
  async function hand(agents: AgentHost, session: Session, approval: PendingApproval): Promise<void> {
    if (!approval.decision || approval.decision.behavior === 'cancelled') return
    const written = await agents.tell(session, { kind: 'decision', approval, decision: approval.decision })
    if (!written) return
    const draft = drafts.of(session.id)
    draft.add({ type: 'approval.delivered', approvalId: approval.id })
    await draft.commit()
  }

  function decided(agents: AgentHost, event: Event & { type: 'approval.resolved' }): void {
    const session = drafts.peek(event.sessionId)
    const approval = session?.approvals.find((a) => a.id === event.approvalId)
    if (!session || !approval) return
    hand(agents, session, approval).catch((error) =>
      warn(`handing over the decision on ${approval.tool}`, error),
    )
  }

  function end(agents: AgentHost, sessionId: string): void {
    const ending = agents.end(sessionId).finally(() => endings.delete(sessionId))
    ending.catch((error) => warn(`ending the agent of session ${sessionId}`, error))
    endings.set(sessionId, ending)
  }

  function one(agents: AgentHost, event: Event): void {
    const { sessionId } = event
    switch (event.type) {
      case 'turn.started':
        return prompt(agents, sessionId, event.turnId, false)
      case 'turn.retried':
        // Whatever process there is holds the wrong conversation.
        void agents.end(sessionId).then(() => prompt(agents, sessionId, event.turnId, false))
        return
      case 'turn.interrupting': {
        const session = drafts.peek(sessionId)
        if (session) agents.interrupt(session)
        return
      }
      case 'approval.resolved':
        return decided(agents, event)
      case 'session.changed': {
        const session = drafts.peek(sessionId)
        if (!session || event.paused === undefined) return
        return event.paused ? agents.pause(session) : agents.resume(session)
      }
      case 'session.destroyed':
        return end(agents, sessionId)
      default:
    }
  }

  /** A session as an earlier daemon left it. */
  function recover(agents: AgentHost, session: Session, alive: boolean): void {
    if (session.destroyed) return end(agents, session.id)
    if (!session.turn) {
      const draft = drafts.of(session.id)
      draft.add(...decide.advance(draft.state))
      draft.commit().then(react, (error) => warn(`taking up the queue of session ${session.id}`, error))
      return
    }
    if (!session.turn.accepted) return prompt(agents, session.id, session.turn.id, alive)
    if (session.turn.interrupting) agents.interrupt(session)
    for (const approval of session.approvals) {
      hand(agents, session, approval).catch((error) =>
        warn(`handing over the decision on ${approval.tool}`, error),
      )
    }
  }

  function react(events: LoggedEvent[]): void {
    if (host) for (const { event } of events) one(host, event)
  }

  return {
    react,
    configured(session, command) {
      if (!host || !session.run) return
      if (command.nativeId !== undefined) return end(host, session.id)
      const tell = (intent: Parameters<AgentHost['tell']>[1]): void => {
        host!.tell(session, intent).catch((error) => warn(`telling the agent its new ${intent.kind}`, error))
      }
      if (command.mode !== undefined) tell({ kind: 'mode', mode: command.mode })
      if (command.model !== undefined) tell({ kind: 'model', model: command.model })
    },
    hold() {
      held = true
    },
    ended: (sessionId) => endings.get(sessionId) ?? Promise.resolve(),
    async start(agents) {
      const unfinished = log.unfinished()
      const alive = await agents.attach(
        log.runs(),
        new Map(unfinished.map((session) => [session.id, session])),
      )
      host = agents
      for (const { id } of unfinished) {
        const session = drafts.peek(id)
        if (session) recover(agents, session, alive.has(id))
      }
    },
  }
}
