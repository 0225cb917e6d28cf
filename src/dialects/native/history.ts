import { CONVERSATION_TYPES } from '../../core/conversation/conversation.ts'
import type { Change } from '../../core/conversation/item.ts'
import { timeOf, type Event, type EventType } from '../../core/event.ts'
import type { Turn } from '../../core/turn.ts'
import type { HistoryItem } from './wire.ts'

/** The events that items are made of; each makes one at most. */
export const ITEM_TYPES: EventType[] = [
  'turn.started',
  'turn.steer_accepted',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'agent.plan',
  'agent.notice',
  'agent.compacted',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
]

/** The events that make no item, and that later items need all the same. */
export const SILENT_TYPES: EventType[] = CONVERSATION_TYPES.filter((type) => !ITEM_TYPES.includes(type))

/** What a turn ran with, as far as it is known by now; the event that began it knows only what was known then. */
export type RanWith = (turnId: string) => Pick<Turn, 'mode' | 'model'> | null

/** A change of the conversation as an item of its history; null where history has no word for it. */
export function historyItem(change: Change, event: Event, ranWith: RanWith = () => null): HistoryItem | null {
  const place = { seq: event.seq, at: timeOf(event), turnId: event.turnId ?? null }
  switch (change.type) {
    case 'said': {
      const { content, origin, steer } = change.message
      const { mode, model } = ranWith(change.turn.id) ?? change.turn
      return { kind: 'user', ...place, content: [...content], origin, ...(!steer && { mode, model }) }
    }
    case 'closed': {
      const { id: messageId, kind, text, aborted, parent } = change.message
      return {
        kind: kind === 'text' ? 'assistant' : 'thinking',
        ...place,
        messageId,
        text,
        aborted,
        parent,
      }
    }
    case 'call': {
      const { id: callId, tool, input, output, cut, parent } = change.call
      if (event.type === 'tool.started') return { kind: 'tool', ...place, callId, tool, input, parent }
      if (event.type !== 'tool.completed' || output === null) return null
      return { kind: 'result', ...place, callId, output, isError: event.isError, cut, parent }
    }
    case 'asked': {
      const { approval, asked } = change.question
      const { id, kind, tool, input, summary } = approval
      return { kind: 'approval', ...place, approvalId: id, ask: kind, tool, input, summary, asked }
    }
    case 'decided':
      return { kind: 'decision', ...place, ...change.verdict }
    case 'plan':
      return { kind: 'plan', ...place, entries: [...change.entries] }
    case 'notice': {
      const { level, code, message } = change
      return { kind: 'notice', ...place, level, code, message }
    }
    case 'compacted': {
      const { tokensBefore, tokensAfter, error } = change
      return { kind: 'compacted', ...place, tokensBefore, tokensAfter, error }
    }
    case 'ended': {
      const { outcome, usage, error } = change.end
      return { kind: 'end', ...place, outcome, usage, error }
    }
    default:
      return null
  }
}
