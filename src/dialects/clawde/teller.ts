import type { Engine } from '../../core/api.ts'
import { CONVERSATION_TYPES, step } from '../../core/conversation/conversation.ts'
import type { Change, Message } from '../../core/conversation/item.ts'
import type { Event, EventType, LoggedEvent } from '../../core/event.ts'
import type { Mode } from '../../core/mode.ts'
import {
  createActiveSessions,
  type ActiveSession,
  type ActiveSessions,
  type Mark,
} from './active-sessions.ts'
import { createHeldCalls, type HeldCalls } from './held-calls.ts'
import { isShown } from './items.ts'
import { PLAIN_TYPES, pushesOf, type Push } from './pushes.ts'
import { SESSIONLESS_TYPES, sessionlessPushes } from './sessionless-pushes.ts'
import { callCreated, opened, spell, updated } from './spell.ts'

/** A message is told again when it has grown by a sixty-fourth, or after this long: what goes out stays in proportion. */
const UPDATE_MS = 100
const UPDATE_SHARE = 64

const TOLD: ReadonlySet<EventType> = new Set([...CONVERSATION_TYPES, ...PLAIN_TYPES])
const SESSIONLESS: ReadonlySet<EventType> = new Set(SESSIONLESS_TYPES)

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
  readonly active: ActiveSessions
  readonly held: HeldCalls
  /** The last event that was looked at. */
  readonly last: number
}

export function createTeller(engine: Engine, later: Later, past?: Past): Teller {
  const { active, held } = past ?? { active: createActiveSessions(engine), held: createHeldCalls() }
  let last = past?.last ?? 0
  let timer: NodeJS.Timeout | null = null

  function watch(): void {
    if (timer !== null || held.size === 0) return
    timer = setTimeout(() => {
      timer = null
      const moment = performance.now() - later.silentMs
      const calls = held.release((sessionId) => isSilent(active.known(sessionId), moment))
      const seq = held.limit(last)
      const pushes = calls.map(({ sessionId, call }) => ({ ...callCreated(sessionId, call), seq }))
      if (pushes.length > 0) later.tell(pushes)
      watch()
    }, later.silentMs).unref()
  }

  /** What comes of one event, after what came before it. */
  function take(batch: Batch, event: Event, now: number): void {
    const session = active.of(event)
    session.heard = now
    const made = step(session.conversation, event)
    session.mode = modeAfter(session, event)
    const changes = held.sift(event, made, session.mode)
    if (event.type === 'message.delta') return streamed(batch, session, event, changes)
    const told = [...changes.flatMap((change) => spell(change, event)), ...pushesOf(engine, event)]
    // Only the last one carries the number: who has the others only may ask for this event again.
    batch.say(told.map((push, n) => ({ ...push, seq: n < told.length - 1 ? event.seq - 1 : event.seq })))
    for (const change of changes) if (change.type === 'closed') session.marks.delete(change.message.id)
    active.leave(event)
  }

  function tell(events: readonly LoggedEvent[]): Push[] {
    const batch = createBatch(held)
    const now = performance.now()
    for (const logged of events) {
      const { type, seq } = logged
      if (SESSIONLESS.has(type)) {
        batch.say(sessionlessPushes(engine, logged.event).map((told) => ({ ...told, sessionId: null, seq })))
      }
      if (TOLD.has(type)) take(batch, logged.event, now)
    }
    last = events.at(-1)?.seq ?? last
    watch()
    return batch.pushes()
  }

  watch()
  return {
    tell,
    get holdsBack() {
      return held.size > 0
    },
    copy: (its) => createTeller(engine, its, { active: active.copy(), held: held.copy(), last }),
    close() {
      if (timer !== null) clearTimeout(timer)
    },
  }
}

/** A piece is told with those that come with it, and the beginning of a message with its first pieces. */
function streamed(batch: Batch, session: ActiveSession, event: Event, changes: readonly Change[]): void {
  for (const change of changes) {
    if (change.type === 'call')
      batch.say(spell(change, event).map((push) => ({ ...push, seq: event.seq - 1 })))
    if (change.type !== 'grew' || !isShown(change.message)) continue
    const isNew = changes.some(({ type }) => type === 'opened')
    batch.grew(session, change.message, event, isNew)
  }
}

interface Batch {
  grew(session: ActiveSession, message: Message, event: Event, isNew: boolean): void
  /** Tells the pieces first. */
  say(pushes: readonly Push[]): void
  pushes(): Push[]
}

interface Growth {
  session: ActiveSession
  message: Message
  last: Event
  /** The number of the event that it began with; null: that has been told. */
  began: number | null
}

/** What is told of events that came together. Pieces that came after each other are told as one. */
function createBatch(held: HeldCalls): Batch {
  const pushes: Push[] = []
  const pending = new Map<string, Growth>()

  function add(push: Push): void {
    pushes.push(held.size === 0 ? push : { ...push, seq: held.limit(push.seq) })
  }

  function flush(): void {
    for (const { session, message, last, began } of pending.values()) {
      const { sessionId, seq, at } = last
      if (began === null && !isDue(message, session.marks.get(message.id), at)) continue
      if (began !== null) add({ ...opened(sessionId, message), seq: began - 1 })
      add({ ...updated(sessionId, message), seq })
      session.marks.set(message.id, { length: message.text.length, at })
    }
    pending.clear()
  }

  return {
    grew(session, message, last, isNew) {
      const began = isNew ? last.seq : (pending.get(message.id)?.began ?? null)
      pending.set(message.id, { session, message, last, began })
    },
    say(told) {
      if (told.length > 0) flush()
      for (const push of told) add(push)
    },
    pushes() {
      flush()
      return pushes
    },
  }
}

function isDue({ text }: Message, mark: Mark | undefined, at: number): boolean {
  if (!mark) return true
  return (text.length - mark.length) * UPDATE_SHARE >= text.length || at - mark.at >= UPDATE_MS
}

/** The mode that calls are made in. */
function modeAfter({ mode }: ActiveSession, event: Event): Mode | null {
  if (event.type === 'turn.started') return event.mode ?? null
  return event.type === 'session.changed' ? (event.mode ?? mode) : mode
}

/** Agents ask about one call after the other: while a question is open the next one waits. */
function isSilent(session: ActiveSession | undefined, moment: number): boolean {
  if (!session) return true
  const questions = [...session.conversation.questions.values()]
  return session.heard <= moment && !questions.some(({ asked }) => asked)
}
