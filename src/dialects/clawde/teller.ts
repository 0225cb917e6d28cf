import type { Engine } from '../../core/api.ts'
import type { Event, EventType, LoggedEvent } from '../../core/event.ts'
import {
  add,
  callIdOf,
  CONVERSATION_TYPES,
  copyOf,
  emptyConversation,
  type Change,
  type Conversation,
  type Message,
  type ToolCall,
} from './conversation.ts'
import { HOUSE_TYPES, houseNews } from './house.ts'
import { created, PLAIN_TYPES, pushesOf, pushOfChange, updated, type Push } from './pushes.ts'
import { riskOf } from './risk.ts'

/** A message is told again when it has grown by a sixty-fourth, or after this long: what goes out stays in proportion. */
const UPDATE_MS = 100
const UPDATE_SHARE = 64
const PAGE = 1000

const TOLD: ReadonlySet<EventType> = new Set([
  ...CONVERSATION_TYPES,
  ...PLAIN_TYPES,
  'turn.started',
  'message.delta',
])
const HOUSE: ReadonlySet<EventType> = new Set(HOUSE_TYPES)
/** After these a session may be at rest. */
const RESTS: ReadonlySet<EventType> = new Set([
  ...PLAIN_TYPES,
  'approval.resolved',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
])

/** What was last told of a message that is being streamed. */
interface Mark {
  length: number
  at: number
}

interface Room {
  conversation: Conversation
  marks: Map<string, Mark>
}

/** Turns events into pushes. It remembers what its listeners have been told of the turns that run, and nothing else. */
export interface Teller {
  tell(events: readonly LoggedEvent[]): Push[]
  /** Another one that has told the same. */
  copy(): Teller
}

export function createTeller(engine: Engine, rooms: Map<string, Room> = new Map()): Teller {
  /** Pieces that came after each other are told as one. */
  function tell(events: readonly LoggedEvent[]): Push[] {
    const pushes: Push[] = []
    const pending = new Map<string, { message: Message; seq: number; isNew: boolean; at: number }>()

    function flush(): void {
      for (const { message, seq, isNew, at } of pending.values()) {
        const { marks } = rooms.get(message.sessionId)!
        const mark = marks.get(message.id)
        if (isNew) pushes.push(created(message, seq))
        else if (isDue(message, mark, at)) pushes.push(updated(message, seq, mark?.length ?? 0))
        else continue
        marks.set(message.id, { length: message.content.length, at })
      }
      pending.clear()
    }

    function streamed({ kind, message }: Change & { message: Message }, { seq, at }: Event): void {
      const isNew = kind === 'message' || pending.get(message.id)?.isNew === true
      pending.set(message.id, { message, seq, isNew, at })
    }

    for (const logged of events) {
      if (HOUSE.has(logged.type)) {
        const { seq } = logged
        flush()
        pushes.push(...houseNews(engine, logged.event).map((told) => ({ ...told, sessionId: null, seq })))
      }
      if (!TOLD.has(logged.type)) continue
      const { event } = logged
      const room = roomOf(event)
      const changes = add(room.conversation, event, (id) => askedBefore(engine, id))
      if (event.type === 'message.delta') {
        for (const change of changes) if ('message' in change) streamed(change, event)
        continue
      }
      const news = pushesOf(engine, event)
      if (changes.length + news.length > 0) flush()
      const told = [...changes.map((change) => pushOf(room, change, event.seq)), ...news]
      // Only the last one carries the number: who has the others only may ask for this event again.
      pushes.push(...told.map((push, n) => (n < told.length - 1 ? { ...push, seq: event.seq - 1 } : push)))
      if (isOver(room, event)) rooms.delete(event.sessionId)
    }
    flush()
    return pushes
  }

  /** What a session was in the middle of when this one began to listen is in the log. */
  function roomOf(event: Event): Room {
    let room = rooms.get(event.sessionId)
    if (room) return room
    room = { conversation: emptyConversation(), marks: new Map() }
    rooms.set(event.sessionId, room)
    if (event.type !== 'turn.started' && event.type !== 'turn.queued') prime(engine, room.conversation, event)
    return room
  }

  return {
    tell,
    copy() {
      const copies = [...rooms].map(([id, { conversation, marks }]): [string, Room] => [
        id,
        { conversation: copyOf(conversation), marks: new Map(marks) },
      ])
      return createTeller(engine, new Map(copies))
    },
  }
}

function pushOf({ marks }: Room, change: Change, seq: number): Push {
  if (change.kind !== 'content') return pushOfChange(change, seq)
  const told = marks.get(change.message.id)?.length ?? 0
  marks.delete(change.message.id)
  return updated(change.message, seq, told)
}

function isDue({ content }: Message, mark: Mark | undefined, at: number): boolean {
  if (!mark) return true
  return (content.length - mark.length) * UPDATE_SHARE >= content.length || at - mark.at >= UPDATE_MS
}

/** Nothing is under way that the next event could be about. */
function isOver({ conversation: { open, calls, asked } }: Room, { type }: Event): boolean {
  if (type === 'session.destroyed') return true
  return RESTS.has(type) && open.size + calls.size + asked.size === 0
}

/** Messages that were being streamed before this event. */
function prime(engine: Engine, conversation: Conversation, { sessionId, seq }: Event): void {
  for (let after = 0; ;) {
    const page = engine.events({ sessionId, after, types: ['message.delta'], limit: PAGE })
    for (const { event } of page) if (event.seq < seq) add(conversation, event)
    const last = page.at(-1)
    if (!last || last.seq >= seq || page.length < PAGE) return
    after = last.seq
  }
}

function askedBefore(engine: Engine, approvalId: string): ToolCall | null {
  try {
    const row = engine.approval(approvalId)
    const { sessionId, tool: name, input, external, requestedAt: at } = row
    const about = { id: callIdOf(row), sessionId, name, input, external, at, riskLevel: riskOf(name) }
    return { ...about, parent: null, output: null, status: 'pending' }
  } catch {
    return null
  }
}
