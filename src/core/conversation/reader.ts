import type { Event, EventType } from '../event.ts'
import type { ApprovalRow, Log, Moment } from '../ports.ts'
import type { Turn } from '../turn.ts'
import { emptyConversation, step, type Conversation } from './conversation.ts'
import type { UserMessage } from './item.ts'

/** What a conversation is read from. */
export type ConversationLog = Pick<Log, 'events' | 'turns' | 'approvals'>

const PAGE = 1000
/** More messages than ever wait in a queue. */
const MAX_WAITING = 1000
const ENDS: EventType[] = ['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']

/**
 * What was under way in a session after this event: where a fold goes on that does not begin with the session. Only the turn that
 * ran then is read. `at` is the time of the event.
 */
export function conversationAt(log: ConversationLog, sessionId: string, { seq, at }: Moment): Conversation {
  const conversation = emptyConversation()
  const isOver = ({ id, endedAt }: Turn): boolean =>
    endedAt !== null && !log.events({ sessionId, turnId: id, types: ENDS, after: seq, limit: 1 })[0]
  const turns = log.turns(sessionId, MAX_WAITING, { seq, at }).filter((turn) => !isOver(turn))
  for (const turn of turns.toReversed()) conversation.waiting.set(turn.id, messageOf(turn))
  ask(log, conversation, sessionId, { seq, at })
  const started = turns.map(({ id }) => startOf(log, sessionId, id, seq)).filter((start) => start !== null)
  if (started.length > 0) readOn(log, conversation, sessionId, Math.min(...started) - 1, seq)
  return conversation
}

function messageOf({ id, input, key, origin, queuedAt }: Turn): UserMessage {
  return { id, content: input, key, origin, steer: false, sentAt: queuedAt }
}

/** Questions from outside that belong to no turn. */
function ask(log: ConversationLog, conversation: Conversation, sessionId: string, moment: Moment): void {
  const rows = log.approvals({ sessionId, moment, limit: PAGE }).filter(({ external }) => external)
  for (const row of rows.toReversed()) {
    const { sessionId: _, turnId, requestedAt, decision, decidedBy: __, decidedAt: ___, ...rest } = row
    const isLater = comesLater(log, row, moment, 'approval.requested')
    if (isLater || (decision && !comesLater(log, row, moment, 'approval.resolved'))) continue
    const { external, timeoutAt, ...approval } = rest
    const event = { seq: 0, at: requestedAt, sessionId, turnId, approval, external, timeoutAt, open: true }
    step(conversation, { type: 'approval.requested', ...event })
  }
}

/** A row has the time and not the number of its events: two may have the same time. */
function comesLater(
  log: ConversationLog,
  { id, sessionId }: ApprovalRow,
  { seq: after }: Moment,
  type: 'approval.requested' | 'approval.resolved',
): boolean {
  const later = log.events({ sessionId, types: [type], after, limit: PAGE })
  return later.some(({ event }) =>
    event.type === 'approval.requested'
      ? event.approval.id === id
      : event.type === 'approval.resolved' && event.approvalId === id,
  )
}

function startOf(log: ConversationLog, sessionId: string, turnId: string, seq: number): number | null {
  const [found] = log.events({ sessionId, turnId, types: ['turn.started'], before: seq + 1, limit: 1 })
  return found?.seq ?? null
}

function readOn(
  log: ConversationLog,
  conversation: Conversation,
  sessionId: string,
  from: number,
  until: number,
): void {
  for (let after = from; ;) {
    const page = log.events({ sessionId, after, before: until + 1, limit: PAGE })
    for (const { event } of page) step(conversation, event)
    if (page.length < PAGE) return
    after = page.at(-1)!.seq
  }
}

/** What was under way when this event came. Where it is the first that retention has left, the turns tell what waited. */
export function conversationBefore(
  log: ConversationLog,
  { sessionId, seq }: Pick<Event, 'sessionId' | 'seq'>,
): Conversation {
  const [last] = log.events({ sessionId, before: seq, limit: 1 })
  return conversationAt(log, sessionId, last?.event ?? { seq: seq - 1, at: 0 })
}
