import { setImmediate } from 'node:timers/promises'
import type { Engine } from '../../core/api.ts'
import { CONVERSATION_TYPES, emptyConversation, step } from '../../core/conversation/conversation.ts'
import type { Event, LoggedEvent } from '../../core/event.ts'
import { ClawdeError } from './errors.ts'
import { isShown, newItem, type Item } from './items.ts'
import { answerView, callMessageView, userView } from './views.ts'

const PAGE = 500

interface HistoryQuery {
  sessionId: string
  limit: number
  /** Messages before this one. */
  before?: string | undefined
}

/** The last messages of a session, the oldest of them first. The log is read from its end, turn by turn, as far as needed. */
export async function messagesOf(engine: Engine, { sessionId, limit, before }: HistoryQuery) {
  const pieces = openPieces(engine, sessionId)
  const types = [...CONVERSATION_TYPES]
  let events: LoggedEvent[] = []
  let isNamed = before === undefined
  for (let end = engine.events.head + 1; ;) {
    const page = engine.events.read({ sessionId, before: end, types, whole: true, limit: PAGE })
    const isAll = page.length < PAGE
    events = [...page, ...events]
    isNamed ||= page.some(({ json }) => json.includes(JSON.stringify(before)))
    // A turn begins where nothing is under way, so that is where a fold may begin.
    const start = isAll ? 0 : page.findIndex(({ type }) => type === 'turn.started')
    if (isNamed && start >= 0) {
      const items = itemsOf(engine, events.slice(start), pieces)
      const index = before === undefined ? items.length : items.findIndex((item) => idOf(item) === before)
      if (index >= limit || (isAll && index >= 0)) {
        return items.slice(Math.max(0, index - limit), index).map((item) => viewOf(sessionId, item))
      }
    }
    if (isAll) break
    end = page[0]!.seq
    await setImmediate()
  }
  throw new ClawdeError('invalidParams', `before: there is no message ${before}`, { field: 'before' })
}

/** Pieces of the messages that are not complete. */
function openPieces(engine: Engine, sessionId: string): Event[] {
  const pieces: Event[] = []
  for (let after = 0; ;) {
    const page = engine.events.read({ sessionId, after, types: ['message.delta'], limit: PAGE })
    pieces.push(...page.map(({ event }) => event))
    if (page.length < PAGE) return pieces
    after = page.at(-1)!.seq
  }
}

/** A list: an id that comes twice, as in logs of older versions, is two messages. What still grows comes last. */
function itemsOf(engine: Engine, events: readonly LoggedEvent[], pieces: readonly Event[]): Item[] {
  const conversation = events[0] ? engine.sessions.conversationBefore(events[0].event) : emptyConversation()
  const items: Item[] = []
  const calls = new Map<string, number>()
  for (const { event } of events) {
    for (const change of step(conversation, event)) {
      const item = newItem(change, event)
      if (item) items.push(item)
      if (change.type !== 'call') continue
      const { call } = change
      if (item) calls.set(call.id, items.length - 1)
      else if (calls.has(call.id)) items[calls.get(call.id)!] = { call }
    }
  }
  for (const piece of pieces) step(conversation, piece)
  const open = [...conversation.open.values()].filter(isShown)
  return [...items, ...open.map((answer) => ({ answer }))]
}

function idOf(item: Item): string {
  return 'said' in item ? item.said.id : 'answer' in item ? item.answer.id : item.call.id
}

function viewOf(sessionId: string, item: Item) {
  if ('said' in item) return userView(sessionId, item.said, item.at)
  return 'answer' in item ? answerView(sessionId, item.answer) : callMessageView(sessionId, item.call)
}
