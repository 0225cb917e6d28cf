import type { Event } from '../../core/event.ts'
import { createConversation, TYPES, type Conversation } from './conversation.ts'
import { providerOf } from './models.ts'
import type { Output } from './output.ts'
import { Pauses, type Pause } from './pauses.ts'
import type { Chosen, Corral, SessionView } from './ports.ts'
import { seqOf, type WireEvent } from './record.ts'
import { within } from './within.ts'

export interface OpenSessionParts {
  corral: Corral
  output: Output
  id: string
  title: string | null
  createdAt: number
  /** The next number for a message that comes before all events. */
  earlyId(): number
  /** Whether everything is wanted that only helps to find faults. */
  wantsDebug(): boolean
}

/**
 * A session that this client has open. Until there is an agent for it, it is no more than an id and a title; from then on
 * all that happens in it is told, whoever makes it happen.
 */
export class OpenSession {
  readonly id: string
  readonly title: string | null
  readonly conversation: Conversation
  /** Messages were sent from here: what runs ends with this client's wish to. */
  used = false
  readonly #parts: OpenSessionParts
  readonly #pauses = new Pauses()
  readonly #over = Promise.withResolvers<void>()
  /** Null while there is no session of Corral's yet. */
  #session: SessionView | null = null
  #events: ReturnType<Corral['events']> | null = null
  /** What comes from now on is told. */
  #live = false
  #idle = Promise.withResolvers<void>()

  constructor(parts: OpenSessionParts) {
    this.#parts = parts
    this.id = parts.id
    this.title = parts.title
    this.conversation = createConversation({
      sessionId: parts.id,
      provider: () => (this.#session ? providerOf(this.#session.agent) : null),
      earlyId: () => parts.earlyId(),
    })
  }

  get createdAt(): number {
    return this.#session?.createdAt ?? this.#parts.createdAt
  }

  /** Null while there is no session of Corral's yet. */
  get agent(): string | null {
    return this.#session?.agent ?? null
  }

  /** In the agent's own names; null: its own choice. */
  get chosen(): Chosen {
    const { model = null, effort = null } = this.#session ?? {}
    return { model, effort, ...this.conversation.chosen }
  }

  /** Resolves when the session is gone. */
  get over(): Promise<void> {
    return this.#over.promise
  }

  /** Begins to follow the session; resolves when what has been in it is known. */
  follow(session: SessionView, until: number): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    this.#session = session
    const onReset = (): void => void this.#recheck()
    this.#events = this.#parts.corral.events({ sessionId: this.id, types: TYPES, onReset })
    this.#read(this.#events, until, resolve)
      .catch(reject)
      .finally(() => this.close())
    return promise
  }

  pauseAt(isIt: (event: Event) => boolean): Pause {
    return this.#pauses.at(isIt)
  }

  /** What is told beside the log. */
  say({ events, first }: { events: readonly WireEvent[]; first: number }): void {
    this.#tell(events, first, Date.now())
  }

  /** Resolves when nothing runs any more, or the time is up. */
  async idle(withinMs: number): Promise<void> {
    if (this.conversation.busy) await within(withinMs, this.#idle.promise)
  }

  close(): void {
    this.#events?.close()
    this.#pauses.end(new Error('the session was closed'))
    this.#idle.resolve()
    this.#over.resolve()
  }

  #tell(events: readonly WireEvent[], seq: number, at: number): void {
    for (const [index, { type, payload }] of events.entries()) {
      if (type === 'session.debug' && !this.#parts.wantsDebug()) continue
      this.#parts.output.event(type, payload, { seq: seq + index, at })
    }
  }

  async #read(events: AsyncIterable<Event>, until: number, isReady: () => void): Promise<void> {
    const goLive = (): void => {
      this.#live = true
      isReady()
    }
    if (until === 0) goLive()
    for await (const event of events) {
      if (!this.#live && event.seq > until) goLive()
      await this.#take(event)
      if (!this.#live && event.seq >= until) goLive()
      if (event.type === 'session.destroyed') throw new Error('the session was removed')
    }
  }

  async #take(event: Event): Promise<void> {
    const { output } = this.#parts
    const told = this.conversation.step(event)
    if (this.#live) this.#tell(told, seqOf(event, 0), event.at)
    if (!this.conversation.busy) {
      this.#idle.resolve()
      this.#idle = Promise.withResolvers()
    }
    await this.#pauses.pass(event)
    if (this.#live && output.blocked) await output.drained()
  }

  /** Events are missing: at least it must not look as if something ran for ever. */
  async #recheck(): Promise<void> {
    const now = await this.#parts.corral.session(this.id).catch(() => null)
    if (now?.turn || !this.conversation.busy) return
    this.say(this.conversation.lost('what happened meanwhile is not in the log any more'))
  }
}
