import type { Engine } from '../../core/api.ts'
import {
  copyOf,
  emptyConversation,
  isAtRest,
  type Conversation,
} from '../../core/conversation/conversation.ts'
import type { Event } from '../../core/event.ts'
import type { Mode } from '../../core/mode.ts'

/** What was last told of a message that is being streamed. */
export interface Mark {
  readonly length: number
  readonly at: number
}

/** What a teller knows of a session in which something is under way. */
export interface Room {
  readonly conversation: Conversation
  readonly marks: Map<string, Mark>
  /** Null: not known. */
  mode: Mode | null
  /** When something was last heard of it. */
  heard: number
}

export interface Rooms {
  /** The room of the session that this event belongs to, as it was before it. */
  of(event: Event): Room
  known(sessionId: string): Room | undefined
  /** After the event: a session that rests needs no room. */
  leave(event: Event): void
  copy(): Rooms
}

/** So many sessions are remembered to be at rest: what is under way in others is looked up in the log. */
const RESTING = 1000

export function createRooms(engine: Engine, rooms: Map<string, Room> = new Map()): Rooms {
  const resting = new Set<string>()

  function enter(event: Event): Room {
    const isNew = event.type === 'session.created' || resting.delete(event.sessionId)
    const conversation = isNew ? emptyConversation() : engine.sessions.conversationBefore(event)
    const room = { conversation, marks: new Map(), mode: conversation.turn?.mode ?? null, heard: 0 }
    rooms.set(event.sessionId, room)
    return room
  }

  return {
    of: (event) => rooms.get(event.sessionId) ?? enter(event),
    known: (sessionId) => rooms.get(sessionId),
    leave({ sessionId, type }) {
      const room = rooms.get(sessionId)
      if (!room || (type !== 'session.destroyed' && !isAtRest(room.conversation))) return
      rooms.delete(sessionId)
      resting.add(sessionId)
      if (resting.size > RESTING) resting.delete(resting.values().next().value!)
    },
    copy() {
      const copies = [...rooms].map(([id, room]): [string, Room] => [
        id,
        { ...room, conversation: copyOf(room.conversation), marks: new Map(room.marks) },
      ])
      return createRooms(engine, new Map(copies))
    },
  }
}
