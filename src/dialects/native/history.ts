import type { Event, EventType } from '../../core/event.ts'
import type { Turn } from '../../core/turn.ts'
import type { HistoryItem } from './wire.ts'

/** The events that a conversation is made of. A message counts from when its turn starts, not from when it queued. */
export const HISTORY_TYPES: EventType[] = [
  'turn.started',
  'turn.steer_accepted',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
]

export type TurnOf = (
  turnId: string,
) => Pick<Turn, 'input' | 'origin'> & Partial<Pick<Turn, 'mode' | 'model'>>

export function historyItem(event: Event, turnOf: TurnOf): HistoryItem | null {
  const place = { seq: event.seq, at: event.at, turnId: event.turnId ?? null }
  switch (event.type) {
    case 'turn.started': {
      const turn = turnOf(event.turnId)
      // What the agent has told since is in the turn itself, if that is at hand.
      const { mode = event.mode ?? null, model = event.model ?? null } = turn
      return { kind: 'user', ...place, content: turn.input, origin: turn.origin, mode, model }
    }
    case 'turn.steer_accepted':
      return { kind: 'user', ...place, content: event.input, origin: event.origin }
    case 'message.completed': {
      const { messageId, text, aborted, parent } = event
      return {
        kind: event.kind === 'text' ? 'assistant' : 'thinking',
        ...place,
        messageId,
        text,
        aborted,
        parent,
      }
    }
    case 'tool.started': {
      const { callId, tool, input, parent } = event
      return { kind: 'tool', ...place, callId, tool, input, parent }
    }
    case 'tool.completed': {
      const { callId, output, isError, cut, parent } = event
      return { kind: 'result', ...place, callId, output, isError, cut, parent }
    }
    case 'approval.requested': {
      const { id, kind, tool, input, summary } = event.approval
      return { kind: 'approval', ...place, approvalId: id, ask: kind, tool, input, summary }
    }
    case 'approval.resolved':
      return {
        kind: 'decision',
        ...place,
        approvalId: event.approvalId,
        decision: event.decision,
        by: event.by,
      }
    case 'turn.completed':
      return { kind: 'end', ...place, outcome: 'completed', usage: event.usage, error: null }
    case 'turn.interrupted':
      return { kind: 'end', ...place, outcome: 'interrupted', usage: event.usage, error: null }
    case 'turn.failed':
      return { kind: 'end', ...place, outcome: 'failed', usage: event.usage, error: event.error }
    default:
      return null
  }
}
