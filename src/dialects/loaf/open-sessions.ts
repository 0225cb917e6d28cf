import { codeOf, unknownSession } from './errors.ts'
import { TYPES } from './conversation.ts'
import { OpenSession } from './open-session.ts'
import type { Output } from './output.ts'
import type { Corral, NewSession } from './ports.ts'
import { earlyId } from './record.ts'

export interface OpenSessionsParts {
  corral: Corral
  output: Output
  newId(): string
  now(): number
  wantsDebug(): boolean
}

/** The sessions that this client has open: those that it made, and those that it asked about. */
export class OpenSessions {
  readonly #parts: OpenSessionsParts
  readonly #open = new Map<string, OpenSession>()
  readonly #opening = new Map<string, Promise<OpenSession>>()
  /** The last piece of work in each session. */
  readonly #working = new Map<string, Promise<void>>()
  #early = 0

  constructor(parts: OpenSessionsParts) {
    this.#parts = parts
  }

  get all(): readonly OpenSession[] {
    return [...this.#open.values()]
  }

  create(title: string | null): OpenSession {
    return this.#add(this.#parts.newId(), title, this.#parts.now())
  }

  /** Makes the daemon's session for one that is open already. */
  async settle(session: OpenSession, wish: Omit<NewSession, 'id' | 'title'>): Promise<void> {
    const { id, title } = session
    await session.follow(await this.#parts.corral.create({ ...wish, id, title }), 0)
  }

  /** One that is open, or one of the daemon's that is opened now. */
  async find(sessionId: string): Promise<OpenSession> {
    const known = this.#opening.get(sessionId) ?? this.#open.get(sessionId)
    if (known) return known
    const found = this.#find(sessionId).finally(() => this.#opening.delete(sessionId))
    this.#opening.set(sessionId, found)
    return found
  }

  /** What changes a session, one after the other, in the order in which it was asked for. */
  async inTurn<T>(sessionId: string, work: (session: OpenSession) => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const before = this.#working.get(sessionId)
    this.#working.set(sessionId, promise)
    try {
      await before
      return await work(await this.find(sessionId))
    } finally {
      resolve()
      if (this.#working.get(sessionId) === promise) this.#working.delete(sessionId)
    }
  }

  /** Resolves when all of that is done. */
  async quiet(): Promise<void> {
    await Promise.all(this.#working.values())
  }

  close(): void {
    for (const session of this.#open.values()) session.close()
  }

  #add(id: string, title: string | null, createdAt: number): OpenSession {
    const nextEarlyId = (): number => earlyId(this.#early++)
    const session = new OpenSession({ ...this.#parts, id, title, createdAt, earlyId: nextEarlyId })
    this.#open.set(id, session)
    void session.over.then(() => this.#open.get(id) === session && this.#open.delete(id))
    return session
  }

  async #find(sessionId: string): Promise<OpenSession> {
    const { corral } = this.#parts
    const found = await corral.session(sessionId).catch((error: unknown) => {
      // What cannot be an id is not the id of anything.
      throw ['session_not_found', 'invalid'].includes(codeOf(error) ?? '') ? unknownSession(sessionId) : error
    })
    const until = await corral.lastSeq(sessionId, TYPES)
    const session = this.#add(sessionId, found.title, found.createdAt)
    await session.follow(found, until)
    return session
  }
}
