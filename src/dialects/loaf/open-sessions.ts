import { codeOf, unknownSession } from './errors.ts'
import { TYPES } from './conversation.ts'
import { createRoom, type Room } from './room.ts'
import type { Output } from './output.ts'
import type { Corral, NewSession } from './ports.ts'
import { earlyId } from './record.ts'

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
  /** What changes a session, one after the other, in the order in which it was asked for. */
  inTurn<T>(sessionId: string, work: (room: Room) => Promise<T>): Promise<T>
  /** Resolves when all of that is done. */
  quiet(): Promise<void>
  close(): void
}

export function createRooms({ corral, output, newId, now, wantsDebug }: RoomsParts): Rooms {
  const rooms = new Map<string, Room>()
  const opening = new Map<string, Promise<Room>>()
  /** The last piece of work in each session. */
  const working = new Map<string, Promise<void>>()

  let early = 0
  const nextEarlyId = (): number => earlyId(early++)

  function add(id: string, title: string | null, createdAt: number): Room {
    const room = createRoom({ corral, output, id, title, createdAt, wantsDebug, earlyId: nextEarlyId })
    rooms.set(id, room)
    void room.over.then(() => rooms.get(id) === room && rooms.delete(id))
    return room
  }

  async function open(sessionId: string): Promise<Room> {
    const session = await corral.session(sessionId).catch((error: unknown) => {
      // What cannot be an id is not the id of anything.
      throw ['session_not_found', 'invalid'].includes(codeOf(error) ?? '') ? unknownSession(sessionId) : error
    })
    const until = await corral.lastSeq(sessionId, TYPES)
    const room = add(sessionId, session.title, session.createdAt)
    await room.follow(session, until)
    return room
  }

  async function find(sessionId: string): Promise<Room> {
    const known = opening.get(sessionId) ?? rooms.get(sessionId)
    if (known) return known
    const found = open(sessionId).finally(() => opening.delete(sessionId))
    opening.set(sessionId, found)
    return found
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
    find,
    async inTurn(sessionId, work) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const before = working.get(sessionId)
      working.set(sessionId, promise)
      try {
        await before
        return await work(await find(sessionId))
      } finally {
        resolve()
        if (working.get(sessionId) === promise) working.delete(sessionId)
      }
    },
    async quiet() {
      await Promise.all(working.values())
    },
    close() {
      for (const room of rooms.values()) room.close()
    },
  }
}
