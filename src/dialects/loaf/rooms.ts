import { codeOf, unknownSession } from './errors.ts'
import { TYPES } from './conversation.ts'
import { createRoom, type Room } from './room.ts'
import type { Output } from './output.ts'
import type { Corral, NewSession } from './ports.ts'

export interface RoomsParts {
  corral: Corral
  output: Output
  newId(): string
  now(): number
  wantsDebug(): boolean
}

/** The sessions that this client has open: those that it made, and those that it asked about. */
export interface Rooms {
  readonly all: readonly Room[]
  create(title: string | null): Room
  /** Makes the session that the room has been for. */
  settle(room: Room, wish: Omit<NewSession, 'id' | 'title'>): Promise<void>
  /** One that is open, or one of the daemon's that is opened now. */
  find(sessionId: string): Promise<Room>
  close(): void
}

export function createRooms({ corral, output, newId, now, wantsDebug }: RoomsParts): Rooms {
  const rooms = new Map<string, Room>()
  const opening = new Map<string, Promise<Room>>()

  function add(id: string, title: string | null, createdAt: number): Room {
    const room = createRoom({ corral, output, id, title, createdAt, wantsDebug })
    rooms.set(id, room)
    void room.over.then(() => rooms.get(id) === room && rooms.delete(id))
    return room
  }

  async function open(sessionId: string): Promise<Room> {
    const session = await corral.session(sessionId).catch((error: unknown) => {
      throw codeOf(error) === 'session_not_found' ? unknownSession(sessionId) : error
    })
    const until = await corral.lastSeq(sessionId, TYPES)
    const room = add(sessionId, session.title, session.createdAt)
    await room.follow(session, until)
    return room
  }

  return {
    get all() {
      return [...rooms.values()]
    },
    create: (title) => add(newId(), title, now()),
    async settle(room, wish) {
      const session = await corral.create({ ...wish, id: room.id, title: room.title })
      await room.follow(session, 0)
    },
    async find(sessionId) {
      const known = opening.get(sessionId) ?? rooms.get(sessionId)
      if (known) return known
      const found = open(sessionId).finally(() => opening.delete(sessionId))
      opening.set(sessionId, found)
      return found
    },
    close() {
      for (const room of rooms.values()) room.close()
    },
  }
}
