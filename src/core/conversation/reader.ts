import type { Event, EventType, LoggedEvent } from '../event.ts'
import type { EventQuery, Log, Moment } from '../ports.ts'
import type { Turn } from '../turn.ts'
import { emptyConversation, step, type Conversation } from './conversation.ts'
import type { UserMessage } from './item.ts'

/** What a conversation is read from. */
export type ConversationLog = Pick<Log, 'events' | 'turns' | 'approvals'>

const PAGE = 1000
/** More messages than ever wait in a queue. */
const MAX_WAITING = 1000
const APPROVALS: EventType[] = ['approval.requested', 'approval.resolved']
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
  if (rows.length === 0) return
  const later = laterThan(log, sessionId, moment.seq)
  const seqs = askedIn(log, sessionId, moment.seq)
  for (const row of rows.toReversed()) {
    const { sessionId: _, turnId, requestedAt, decision, decidedBy: __, decidedAt: ___, ...rest } = row
    if (later.asked.has(row.id) || (decision && !later.decided.has(row.id))) continue
    const { external, timeoutAt, deferredUntil: ____, ...approval } = rest
    const seq = seqs.get(row.id) ?? 0
    const event = { seq, at: requestedAt, sessionId, turnId, approval, external, timeoutAt, open: true }
    step(conversation, { type: 'approval.requested', ...event })
  }
}

/** The events that approvals were asked for with, up to this one. */
function askedIn(log: ConversationLog, sessionId: string, until: number): ReadonlyMap<string, number> {
  const seqs = new Map<string, number>()
  for (const { seq, event } of pages(log, { sessionId, before: until + 1, types: ['approval.requested'] })) {
    if (event.type === 'approval.requested') seqs.set(event.approval.id, seq)
  }
  return seqs
}

/** Approvals that were asked for, or decided, after an event. Their rows have times, and two events may have the same time. */
function laterThan(log: ConversationLog, sessionId: string, seq: number) {
  const later = { asked: new Set<string>(), decided: new Set<string>() }
  for (const { event } of pages(log, { sessionId, after: seq, types: APPROVALS })) {
    if (event.type === 'approval.requested') later.asked.add(event.approval.id)
    if (event.type === 'approval.resolved') later.decided.add(event.approvalId)
  }
  return later
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
  const query = { sessionId, after: from, before: until + 1 }
  for (const { event } of pages(log, query)) step(conversation, event)
}

function* pages(log: ConversationLog, query: Omit<EventQuery, 'limit'>): Generator<LoggedEvent> {
  for (let after = query.after ?? 0; ;) {
    const page = log.events({ ...query, after, limit: PAGE })
    yield* page
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
