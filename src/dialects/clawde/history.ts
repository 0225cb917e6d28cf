import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../core/api.ts'
import type { Event } from '../../core/event.ts'
import {
  add,
  CONVERSATION_TYPES,
  emptyConversation,
  isShown,
  type Change,
  type Message,
} from './conversation.ts'
import { ClawdeError } from './errors.ts'

const PAGE = 500

export interface HistoryQuery {
  sessionId: string
  limit: number
  /** Messages before this one. */
  before?: string | undefined
}

/** The last messages of a session, the oldest of them first. Read from the end, as far as needed. */
export async function messagesOf(engine: Engine, query: HistoryQuery): Promise<Message[]> {
  const { sessionId, limit, before } = query
  const events: Event[] = openDeltas(engine, sessionId)
  let found = before === undefined || events.some((event) => idOf(event) === before)
  let count = 0
  let end = engine.head + 1
  const types = [...CONVERSATION_TYPES]
  for (;;) {
    const page = engine.events({ sessionId, before: end, types, whole: true, limit: PAGE })
    for (const { event } of page.toReversed()) {
      const id = idOf(event)
      if (id === null) continue
      if (found) count += 1
      else found = id === before
    }
    events.unshift(...page.map(({ event }) => event))
    const isAll = page.length < PAGE
    // One more than asked for: the first page may begin in the middle of something.
    if (isAll || count > limit) break
    end = page[0]!.seq
    await setImmediate()
  }
  const messages = fold(events)
  const index = before === undefined ? messages.length : messages.findIndex(({ id }) => id === before)
  if (index < 0) {
    throw new ClawdeError('invalidParams', `before: there is no message ${before}`, { field: 'before' })
  }
  return messages.slice(Math.max(0, index - limit), index)
}

/** The message that an event makes; null when it makes none. */
function idOf(event: Event): string | null {
  switch (event.type) {
    case 'turn.queued':
      return event.turnId
    case 'turn.steer_accepted':
      return event.steerId
    case 'message.delta':
      return isShown(event) ? event.messageId : null
    case 'message.completed':
      return isShown(event) && event.text !== '' ? event.messageId : null
    case 'tool.started':
      return event.callId
    case 'approval.requested':
      return event.open && event.approval.callId === null ? event.approval.id : null
    default:
      return null
  }
}

/** Of messages that are complete there are none. */
function openDeltas(engine: Engine, sessionId: string): Event[] {
  const deltas: Event[] = []
  for (let after = 0; ;) {
    const page = engine.events({ sessionId, after, types: ['message.delta'], limit: PAGE })
    deltas.push(...page.map(({ event }) => event))
    if (page.length < PAGE) return deltas
    after = page.at(-1)!.seq
  }
}

function fold(events: readonly Event[]): Message[] {
  const conversation = emptyConversation()
  const messages = new Map<string, Message>()
  for (const event of events) for (const change of add(conversation, event)) keep(messages, change)
  return [...messages.values()]
}

function keep(messages: Map<string, Message>, change: Change): void {
  if ('message' in change) return void messages.set(change.message.id, change.message)
  const { call } = change
  // A call whose beginning is on an earlier page is no message of this one.
  if (change.kind === 'call.status' && !messages.has(call.id)) return
  const { id, sessionId, at, output } = call
  const status = call.status === 'pending' || call.status === 'running' ? 'streaming' : 'done'
  messages.set(id, { id, sessionId, role: 'tool', content: output ?? '', status, at, call })
}
