import { timeOf, type Event, type EventOf, type EventType } from '../event.ts'
import { asks, begins, decides, finishes, leaves } from './calls.ts'
import type { Call, Change, Message, OpenTurn, ApprovalItem, UserMessage } from './item.ts'

/**
 * What is under way in one session's conversation: all that the next event can be about. What is over is in the log, and in the
 * changes that were told. Whoever holds a conversation owns it: `step` moves it on in place, `copyOf` makes another one.
 */
export interface Conversation {
  turn: OpenTurn | null
  /** Messages that wait for their turn, and steers that the agent has not taken yet. */
  readonly waiting: Map<string, UserMessage>
  readonly open: Map<string, Message>
  /** Calls of the running turn; of turns that are over, questions from outside that still wait. */
  readonly calls: Map<string, Call>
  readonly questions: Map<string, ApprovalItem>
  /** Calls that a rule or a mode has refused before the agent began them. */
  readonly denied: Set<string>
}

/** The events that a conversation is made of. All others leave it as it is. */
export const CONVERSATION_TYPES: readonly EventType[] = [
  'turn.queued',
  'turn.moved',
  'turn.edited',
  'turn.cancelled',
  'turn.started',
  'turn.steered',
  'turn.steer_accepted',
  'turn.interrupting',
  'turn.retried',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'message.delta',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'agent.plan',
  'agent.notice',
  'agent.compacting',
  'agent.compacted',
]

export function emptyConversation(): Conversation {
  return {
    turn: null,
    waiting: new Map(),
    open: new Map(),
    calls: new Map(),
    questions: new Map(),
    denied: new Set(),
  }
}

export function copyOf({ turn, waiting, open, calls, questions, denied }: Conversation): Conversation {
  return {
    turn,
    waiting: new Map(waiting),
    open: new Map(open),
    calls: new Map(calls),
    questions: new Map(questions),
    denied: new Set(denied),
  }
}

/** Nothing is under way: an empty conversation is as good as this one. */
export function isAtRest({ turn, waiting, open, calls, questions }: Conversation): boolean {
  return turn === null && waiting.size + open.size + calls.size + questions.size === 0
}

/** The next event of the session, in the order of the log; returns what it changes. */
export function step(conversation: Conversation, event: Event): Change[] {
  switch (event.type) {
    case 'turn.queued':
      return waits(conversation, event)
    case 'turn.moved':
      return [{ type: 'moved', id: event.turnId, position: event.position }]
    case 'turn.edited':
      return edited(conversation, event)
    case 'turn.cancelled':
      return withdrawn(conversation, event)
    case 'turn.started':
      return started(conversation, event)
    case 'turn.steered':
      return steers(conversation, event)
    case 'turn.steer_accepted':
      return steered(conversation, event)
    case 'turn.interrupting':
      if (conversation.turn) conversation.turn = { ...conversation.turn, interrupting: true }
      return [{ type: 'interrupting', turnId: event.turnId, byDaemon: event.reason === 'stopping' }]
    case 'turn.retried':
      return leaves(conversation, 'failed')
    case 'message.delta':
      return grew(conversation, event)
    case 'message.completed':
      return closed(conversation, event)
    case 'tool.started':
      return begins(conversation, event)
    case 'tool.completed':
      return finishes(conversation, event)
    case 'approval.requested':
      return asks(conversation, event)
    case 'approval.resolved':
      return decides(conversation, event)
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.interrupted':
      return ended(conversation, event)
    default:
      return remark(event)
  }
}

type Sent = Event & EventOf<'turn.queued' | 'turn.steered' | 'turn.steer_accepted'>

function messageOf(event: Sent, id: string, key: string | null): UserMessage {
  const { input: content, origin, type } = event
  return { id, content, key, origin, steer: type !== 'turn.queued', sentAt: timeOf(event) }
}

function waits({ waiting }: Conversation, event: Event & EventOf<'turn.queued'>): Change[] {
  const { turnId, key, position, late = false } = event
  const message = messageOf(event, turnId, waiting.get(turnId)?.key ?? key)
  waiting.set(turnId, message)
  return [{ type: 'waits', message, position, late }]
}

/** It is told once, as it is when its turn begins. */
function edited({ waiting }: Conversation, event: Event & EventOf<'turn.edited'>): Change[] {
  const { turnId, input: content, at } = event
  const message = { ...(waiting.get(turnId) ?? unknownMessage(turnId, at)), content }
  waiting.set(turnId, message)
  return [{ type: 'edited', message }]
}

/** One that becomes a steer waits on, for the agent to take it. */
function withdrawn({ waiting }: Conversation, event: Event & EventOf<'turn.cancelled'>): Change[] {
  const { turnId, reason, steered = null, at } = event
  const message = waiting.get(turnId) ?? unknownMessage(turnId, at)
  if (steered === null) waiting.delete(turnId)
  else waiting.set(turnId, { ...message, steer: true })
  return [{ type: 'withdrawn', message, reason, steered }]
}

function steers({ waiting }: Conversation, event: Event & EventOf<'turn.steered'>): Change[] {
  const { steerId, key } = event
  waiting.set(steerId, messageOf(event, steerId, key ?? waiting.get(steerId)?.key ?? null))
  return []
}

/** A user's message stands where its turn begins, so one that is withdrawn before never was there. */
function started(conversation: Conversation, event: Event & EventOf<'turn.started'>): Change[] {
  const { turnId: id, mode = null, model = null, at } = event
  const message = conversation.waiting.get(id) ?? unknownMessage(id, at)
  conversation.waiting.delete(id)
  const turn = { id, mode, model, interrupting: false }
  conversation.turn = turn
  return [{ type: 'said', message, turn }]
}

/** Retention has removed it. */
function unknownMessage(id: string, sentAt: number): UserMessage {
  return { id, content: [], key: null, origin: null, steer: false, sentAt }
}

/** A steer stands where the agent has taken it. */
function steered(conversation: Conversation, event: Event & EventOf<'turn.steer_accepted'>): Change[] {
  const { steerId, turnId } = event
  const key = conversation.waiting.get(steerId)?.key ?? null
  conversation.waiting.delete(steerId)
  const turn = conversation.turn ?? { id: turnId, mode: null, model: null, interrupting: false }
  return [{ type: 'said', message: messageOf(event, steerId, key), turn }]
}

function grew({ open }: Conversation, event: Event & EventOf<'message.delta'>): Change[] {
  const { messageId, text: piece } = event
  const known = open.get(messageId)
  const before = known ?? openedBy(event)
  const message: Message = { ...before, text: before.text + piece }
  open.set(messageId, message)
  const growth: Change = { type: 'grew', message, piece }
  return known ? [growth] : [{ type: 'opened', message: before }, growth]
}

function openedBy(event: Event & EventOf<'message.delta' | 'message.completed'>): Message {
  const { messageId: id, kind, parent } = event
  return { id, kind, parent, openedAt: timeOf(event), text: '', open: true, aborted: false }
}

/** A message that nothing was said in is none; a cut-off one has at least what was streamed of it. */
function closed({ open }: Conversation, event: Event & EventOf<'message.completed'>): Change[] {
  const { messageId, text, aborted } = event
  const known = open.get(messageId)
  open.delete(messageId)
  if (!known && text === '') return []
  const before = known ?? openedBy(event)
  const whole = text === '' ? before.text : text
  const rest = whole.startsWith(before.text) ? whole.slice(before.text.length) : whole
  const closing: Change = {
    type: 'closed',
    message: { ...before, text: whole, open: false, aborted },
    rest,
  }
  return known ? [closing] : [{ type: 'opened', message: before }, closing]
}

type End = Event & EventOf<'turn.completed' | 'turn.failed' | 'turn.interrupted'>

/** Nothing stays under way that nobody will finish. */
function ended(conversation: Conversation, event: End): Change[] {
  const left = leaves(conversation, event.type === 'turn.completed' ? 'done' : 'failed')
  conversation.turn = null
  conversation.open.clear()
  const { turnId, usage } = event
  const end = { turnId, usage, error: null, text: null }
  switch (event.type) {
    case 'turn.completed':
      return [...left, { type: 'ended', end: { ...end, outcome: 'completed', text: event.text } }]
    case 'turn.failed':
      return [...left, { type: 'ended', end: { ...end, outcome: 'failed', error: event.error } }]
    case 'turn.interrupted':
      return [...left, { type: 'ended', end: { ...end, outcome: 'interrupted' } }]
  }
}

/** What is told beside the conversation, and leaves it as it is. */
function remark(event: Event): Change[] {
  switch (event.type) {
    case 'agent.plan':
      return [{ type: 'plan', entries: event.entries }]
    case 'agent.notice': {
      const { level, code, message, data } = event
      return [{ type: 'notice', level, code, message, data }]
    }
    case 'agent.compacting': {
      const { tokens, window } = event
      return [{ type: 'compacting', tokens, window }]
    }
    case 'agent.compacted': {
      const { tokensBefore, tokensAfter, window, error } = event
      return [{ type: 'compacted', tokensBefore, tokensAfter, window, error }]
    }
    default:
      return []
  }
}
