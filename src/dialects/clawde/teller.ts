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
import { createHeldCalls, type HeldCalls } from './held.ts'
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
  /** Something has happened that nobody has been told of yet. */
  readonly holdsBack: boolean
  /** Another one that has told the same. */
  copy(later: Later): Teller
  close(): void
}

/** What is told because nothing has happened for a while. */
export interface Later {
  /** How long a session is silent before a call is taken for one that nobody is asked about. */
  readonly silentMs: number
  tell(pushes: Push[]): void
}

interface Past {
  readonly rooms: Map<string, Room>
  readonly held: HeldCalls
  /** The last event that was looked at. */
  readonly last: number
}

export function createTeller(engine: Engine, later: Later, past?: Past): Teller {
  const { rooms, held } = past ?? { rooms: new Map<string, Room>(), held: createHeldCalls(engine) }
  let last = past?.last ?? 0
  let timer: NodeJS.Timeout | null = null

  function watch(): void {
    if (timer !== null || held.size === 0) return
    timer = setTimeout(() => {
      timer = null
      const changes = held.silentSince(performance.now() - later.silentMs)
      if (changes.length > 0) later.tell(changes.map((change) => pushOfChange(change, held.limit(last))))
      watch()
    }, later.silentMs).unref()
  }

  /** What comes of one event, after what came before it. */
  function take(batch: Batch, event: Event, now: number): void {
    const room = roomOf(event)
    const made = add(room.conversation, event, (id) => askedBefore(engine, id))
    const changes = held.sift(event, made, now)
    if (event.type === 'message.delta') {
      for (const change of changes) {
        if ('message' in change) batch.streamed(room, change, event)
        else batch.say(pushOfChange(change, event.seq - 1))
      }
      return
    }
    const news = pushesOf(engine, event)
    if (changes.length + news.length > 0) batch.flush()
    const told = [...changes.map((change) => pushOf(room, change, event.seq)), ...news]
    // Only the last one carries the number: who has the others only may ask for this event again.
    batch.say(...told.map((push, n) => (n < told.length - 1 ? { ...push, seq: event.seq - 1 } : push)))
    if (isOver(room, event)) rooms.delete(event.sessionId)
  }

  function tell(events: readonly LoggedEvent[]): Push[] {
    const batch = createBatch(held)
    const now = performance.now()
    for (const logged of events) {
      const { type, seq } = logged
      if (HOUSE.has(type)) {
        batch.say(...houseNews(engine, logged.event).map((told) => ({ ...told, sessionId: null, seq })))
      }
      if (TOLD.has(type)) take(batch, logged.event, now)
    }
    last = events.at(-1)?.seq ?? last
    watch()
    return batch.pushes()
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

  watch()
  return {
    tell,
    get holdsBack() {
      return held.size > 0
    },
    copy(its) {
      const copies = [...rooms].map(([id, { conversation, marks }]): [string, Room] => [
        id,
        { conversation: copyOf(conversation), marks: new Map(marks) },
      ])
      return createTeller(engine, its, { rooms: new Map(copies), held: held.copy(), last })
    },
    close() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}

interface Batch {
  streamed(room: Room, change: Change & { message: Message }, event: Event): void
  /** Tells the pieces first. */
  say(...pushes: Push[]): void
  flush(): void
  pushes(): Push[]
}

/** What is told of events that came together. Pieces that came after each other are told as one. */
function createBatch(held: HeldCalls): Batch {
  const pushes: Push[] = []
  const pending = new Map<string, { room: Room; message: Message; seq: number; isNew: boolean; at: number }>()

  function add(push: Push): void {
    pushes.push(held.size === 0 ? push : { ...push, seq: held.limit(push.seq) })
  }

  function flush(): void {
    for (const { room, message, seq, isNew, at } of pending.values()) {
      const mark = room.marks.get(message.id)
      if (!isNew && !isDue(message, mark, at)) continue
      if (isNew) add(created({ ...message, content: '' }, seq - 1))
      add(updated(message, seq, mark?.length ?? 0))
      room.marks.set(message.id, { length: message.content.length, at })
    }
    pending.clear()
  }

  return {
    streamed(room, { kind, message }, { seq, at }) {
      const isNew = kind === 'message' || pending.get(message.id)?.isNew === true
      pending.set(message.id, { room, message, seq, isNew, at })
    },
    flush,
    say(...told) {
      if (told.length > 0) flush()
      for (const push of told) add(push)
    },
    pushes() {
      flush()
      return pushes
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
