import type { Event } from '../../core/event.ts'
import { createConversation, TYPES, type Conversation } from './conversation.ts'
import { providerOf } from './models.ts'
import type { Output } from './output.ts'
import type { Chosen, Corral, SessionView } from './ports.ts'
import { seqOf, type Told } from './record.ts'

export interface RoomParts {
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

/** A place in the flow of events where nothing more is told until somebody has been answered. */
export interface Stop {
  /** Resolves when the event has been told of, and rejects when it never will be. */
  reached: Promise<void>
  release(): void
}

interface Gate {
  isIt(event: Event): boolean
  reached: PromiseWithResolvers<void>
  released: PromiseWithResolvers<void>
}

/**
 * A session that this client has open. Until there is an agent for it, it is no more than an id and a title; from then on
 * all that happens in it is told, whoever makes it happen.
 */
export interface Room {
  readonly id: string
  readonly title: string | null
  readonly createdAt: number
  readonly conversation: Conversation
  /** Null while there is no session of Corral's yet. */
  readonly agent: string | null
  /** In the agent's own names; null: its own choice. */
  readonly chosen: Chosen
  /** Messages were sent from here: what runs ends with this client's wish to. */
  used: boolean
  /** Begins to follow the session; resolves when what has been in it is known. */
  follow(session: SessionView, until: number): Promise<void>
  stopAt(isIt: (event: Event) => boolean): Stop
  /** What is told beside the log. */
  say(beside: { told: Told[]; first: number }): void
  /** Resolves when nothing runs any more, or the time is up. */
  idle(withinMs: number): Promise<void>
  /** Resolves when the session is gone. */
  readonly over: Promise<void>
  close(): void
}

export function createRoom(parts: RoomParts): Room {
  const { corral, output, id } = parts
  const gates = new Set<Gate>()
  const over = Promise.withResolvers<void>()
  let session: SessionView | null = null
  let events: ReturnType<Corral['events']> | null = null
  let live = false
  let onIdle: (() => void)[] = []

  const conversation = createConversation({
    sessionId: id,
    provider: () => (session ? providerOf(session.agent) : null),
    earlyId: parts.earlyId,
  })

  function tell(told: readonly Told[], seq: number, at: number): void {
    for (const [index, { type, payload }] of told.entries()) {
      if (type === 'session.debug' && !parts.wantsDebug()) continue
      output.event(type, payload, { seq: seq + index, at })
    }
  }

  async function take(event: Event): Promise<void> {
    const told = conversation.step(event)
    if (live) tell(told, seqOf(event, 0), event.at)
    if (!conversation.busy) for (const resume of onIdle.splice(0)) resume()
    for (const gate of [...gates].filter(({ isIt }) => isIt(event))) {
      gate.reached.resolve()
      await gate.released.promise
    }
    if (live && output.blocked) await output.drained()
  }

  async function read(until: number, isReady: () => void): Promise<void> {
    const goLive = (): void => {
      live = true
      isReady()
    }
    if (until === 0) goLive()
    for await (const event of events!) {
      if (!live && event.seq > until) goLive()
      await take(event)
      if (!live && event.seq >= until) goLive()
      if (event.type === 'session.destroyed') throw new Error('the session was removed')
    }
  }

  /** Events are missing: at least it must not look as if something ran for ever. */
  async function recheck(): Promise<void> {
    const now = await corral.session(id).catch(() => null)
    if (now?.turn || !conversation.busy) return
    say(conversation.lost('what happened meanwhile is not in the log any more'))
  }

  function say({ told, first }: { told: Told[]; first: number }): void {
    tell(told, first, Date.now())
  }

  function close(): void {
    events?.close()
    const gone = new Error('the session was closed')
    for (const { reached, released } of gates) {
      reached.reject(gone)
      released.resolve()
    }
    for (const resume of onIdle.splice(0)) resume()
    over.resolve()
  }

  return {
    id,
    title: parts.title,
    conversation,
    used: false,
    get createdAt() {
      return session?.createdAt ?? parts.createdAt
    },
    get agent() {
      return session?.agent ?? null
    },
    get chosen() {
      return { model: session?.model ?? null, effort: session?.effort ?? null, ...conversation.chosen }
    },
    follow(found, until) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      session = found
      events = corral.events({ sessionId: id, types: TYPES, onReset: () => void recheck() })
      read(until, resolve).then(
        () => close(),
        (error: unknown) => {
          reject(error as Error)
          close()
        },
      )
      return promise
    },
    stopAt(isIt) {
      const reached = Promise.withResolvers<void>()
      reached.promise.catch(() => {})
      const gate = { isIt, reached, released: Promise.withResolvers<void>() }
      gates.add(gate)
      return {
        reached: reached.promise,
        release() {
          gates.delete(gate)
          gate.released.resolve()
        },
      }
    },
    say,
    async idle(withinMs) {
      if (!conversation.busy) return
      const { promise, resolve } = Promise.withResolvers<void>()
      onIdle.push(resolve)
      const timer = setTimeout(resolve, withinMs)
      await promise
      clearTimeout(timer)
    },
    over: over.promise,
    close,
  }
}
