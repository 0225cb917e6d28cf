import type { Event } from './event.ts'
import type { Write } from './ports.ts'

/** What an event changes in the read models beside the session's own row. */
export function readModels(event: Event): Write[] {
  switch (event.type) {
    case 'turn.queued':
      return [
        {
          op: 'turn',
          turn: {
            id: event.turnId,
            sessionId: event.sessionId,
            state: 'queued',
            input: event.input,
            key: event.key,
            origin: event.origin,
            queuedAt: event.at,
            startedAt: null,
            endedAt: null,
            seq: event.seq,
            usage: null,
            error: null,
            text: null,
          },
        },
      ]
    case 'turn.started':
      return [{ op: 'turn.update', id: event.turnId, patch: { state: 'running', startedAt: event.at } }]
    case 'turn.completed':
      return [
        ended(event.turnId, { state: 'completed', endedAt: event.at, usage: event.usage, text: event.text }),
      ]
    case 'turn.interrupted':
      return [ended(event.turnId, { state: 'interrupted', endedAt: event.at, usage: event.usage })]
    case 'turn.failed':
      return [
        ended(event.turnId, { state: 'failed', endedAt: event.at, usage: event.usage, error: event.error }),
      ]
    case 'turn.cancelled':
      return [ended(event.turnId, { state: 'cancelled', endedAt: event.at })]
    case 'approval.requested':
      return [
        {
          op: 'approval',
          approval: {
            ...event.approval,
            external: event.external,
            timeoutAt: event.timeoutAt,
            sessionId: event.sessionId,
            turnId: event.turnId,
            requestedAt: event.at,
            decision: null,
            decidedBy: null,
            decidedAt: null,
          },
        },
      ]
    case 'approval.resolved':
      return [
        { op: 'approval.update', id: event.approvalId, decision: event.decision, by: event.by, at: event.at },
      ]
    case 'session.destroyed':
      return [
        { op: 'bookmarks.drop', sessionId: event.sessionId },
        { op: 'search.drop', sessionId: event.sessionId },
      ]
    case 'agent.limits': {
      const { agent, plan, windows, at } = event
      return [{ op: 'limits', agent, limits: { ...(plan !== undefined && { plan }), windows, at } }]
    }
    case 'agent.exited':
      return [{ op: 'run.delete', id: event.runId }]
    default:
      return []
  }
}

type TurnUpdate = Extract<Write, { op: 'turn.update' }>

function ended(id: string, patch: TurnUpdate['patch']): TurnUpdate {
  return { op: 'turn.update', id, patch }
}
