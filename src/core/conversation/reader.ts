import type { Engine } from '../api.ts'
import type { EventType } from '../event.ts'
import type { Turn } from '../turn.ts'
import { emptyConversation, step, type Conversation } from './conversation.ts'
import type { UserMessage } from './item.ts'

/** What a conversation is read from. */
export type ConversationLog = Pick<Engine, 'events' | 'turns' | 'approvals'>

/** A place in the log: after the event of this number, which happened then. */
interface Point {
  seq: number
  at: number
}

const PAGE = 1000
/** More messages than ever wait in a queue. */
const MAX_WAITING = 1000
const ENDS: EventType[] = ['turn.completed', 'turn.failed', 'turn.interrupted', 'turn.cancelled']

/**
 * What was under way in a session after this event: where a fold goes on that does not begin with the session. Only the turn that
 * ran then is read. `at` is the time of the event.
 */
export function conversationAt(log: ConversationLog, sessionId: string, { seq, at }: Point): Conversation {
  const conversation = emptyConversation()
  const isOver = ({ id, endedAt }: Turn): boolean =>
    endedAt !== null &&
    (endedAt < at || !log.events({ sessionId, turnId: id, types: ENDS, after: seq, limit: 1 })[0])
  const turns = log.turns(sessionId, MAX_WAITING).filter((turn) => turn.seq <= seq && !isOver(turn))
  for (const turn of turns.toReversed()) conversation.waiting.set(turn.id, messageOf(turn))
  ask(log, conversation, sessionId, { seq, at })
  const started = turns.map(({ id }) => startOf(log, sessionId, id, seq)).filter((start) => start !== null)
  if (started.length > 0) readOn(log, conversation, sessionId, Math.min(...started) - 1, seq)
  return conversation
}

/** What was under way in a session before the event of this number, be it there or not. */
export function conversationBefore(log: ConversationLog, sessionId: string, seq: number): Conversation {
  const [last] = log.events({ sessionId, before: seq, limit: 1 })
  return last ? conversationAt(log, sessionId, last.event) : emptyConversation()
}

function messageOf({ id, input, key, origin, queuedAt }: Turn): UserMessage {
  return { id, content: input, key, origin, steer: false, sentAt: queuedAt }
}

/** Questions from outside that belong to no turn. */
function ask(log: ConversationLog, conversation: Conversation, sessionId: string, point: Point): void {
  const isLater = (time: number, type: AboutApproval, id: string): boolean =>
    time > point.at || (time === point.at && comesAfter(log, sessionId, point.seq, type, id))
  for (const row of log.approvals({ sessionId, limit: PAGE })) {
    const { sessionId: _, turnId, requestedAt, decision: __, decidedBy: ___, decidedAt, ...rest } = row
    const { external, timeoutAt, ...approval } = rest
    if (!external || isLater(requestedAt, 'approval.requested', row.id)) continue
    if (decidedAt !== null && !isLater(decidedAt, 'approval.resolved', row.id)) continue
    const event = { seq: 0, at: requestedAt, sessionId, turnId, approval, external, timeoutAt, open: true }
    step(conversation, { type: 'approval.requested', ...event })
  }
}

type AboutApproval = 'approval.requested' | 'approval.resolved'

/** Of what happened in the same millisecond only the log knows the order. */
function comesAfter(
  log: ConversationLog,
  sessionId: string,
  after: number,
  type: AboutApproval,
  id: string,
): boolean {
  return log.events({ sessionId, after, types: [type], limit: PAGE }).some(({ event }) => {
    if (event.type === 'approval.requested') return event.approval.id === id
    return event.type === 'approval.resolved' && event.approvalId === id
  })
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
