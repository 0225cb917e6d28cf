import type { SubscribeOptions, Subscription } from './api.ts'
import type { EventType, LoggedEvent } from './event.ts'
import type { Log } from './ports.ts'

/** Per read while a subscriber catches up: little enough to leave the event loop free in between, and memory to others. */
const PAGE = 500
const PAGE_BYTES = 1024 ** 2

type Deliver = (events: LoggedEvent[]) => boolean | void
type Failed = (error: unknown) => void

export interface Feed {
  /** Hands committed events, in order, to everybody who is up to date. */
  publish(events: LoggedEvent[]): void
  subscribe(options: SubscribeOptions, deliver: Deliver, failed?: Failed): Subscription
}

type FeedLog = Pick<Log, 'events' | 'head'>
type Warn = (message: string, error: unknown) => void

/**
 * Live subscriptions over the log. A subscriber is either live, and gets what is published, or behind, and reads the log at
 * its own speed; nothing is buffered for it. `seq` decides at the seam, so there is no gap and no repeat.
 */
export function createFeed(log: FeedLog, warn: Warn): Feed {
  const ofAll = new Set<Subscriber>()
  const bySession = new Map<string, Set<Subscriber>>()

  function enter(subscriber: Subscriber): void {
    const { sessionId } = subscriber
    if (sessionId === undefined) return void ofAll.add(subscriber)
    const group = bySession.get(sessionId)
    if (group) group.add(subscriber)
    else bySession.set(sessionId, new Set([subscriber]))
  }

  function leave(subscriber: Subscriber): void {
    const { sessionId } = subscriber
    const group = sessionId === undefined ? ofAll : bySession.get(sessionId)
    if (group?.delete(subscriber) && group.size === 0 && sessionId !== undefined) bySession.delete(sessionId)
  }

  return {
    publish(events) {
      if (events.length === 0) return
      for (const subscriber of ofAll) subscriber.hand(events)
      if (bySession.size === 0) return
      for (const [sessionId, group] of bySessionId(events)) {
        for (const subscriber of bySession.get(sessionId) ?? []) subscriber.hand(group)
      }
    },
    subscribe(options, deliver, failed) {
      const subscriber = new Subscriber(options, { log, warn, deliver, failed, leave })
      enter(subscriber)
      queueMicrotask(() => subscriber.catchUp())
      return {
        get cursor() {
          return subscriber.cursor
        },
        resume: () => void setImmediate(() => subscriber.catchUp()),
        close: () => subscriber.close(),
      }
    },
  }
}

interface SubscriberDeps {
  log: FeedLog
  warn: Warn
  deliver: Deliver
  failed: Failed | undefined
  leave: (subscriber: Subscriber) => void
}

class Subscriber {
  readonly sessionId: string | undefined
  readonly #types: ReadonlySet<EventType> | null
  readonly #own: boolean
  readonly #deps: SubscriberDeps
  cursor: number
  #live = false
  #closed = false

  constructor({ after, sessionId, types, own = false }: SubscribeOptions, deps: SubscriberDeps) {
    this.cursor = after
    this.sessionId = sessionId
    this.#types = types ? new Set(types) : null
    this.#own = own
    this.#deps = deps
  }

  /** What was published just now, if it is up to date. */
  hand(events: LoggedEvent[]): void {
    if (!this.#live || this.#closed) return
    const { cursor } = this
    const types = this.#types
    const own = this.#own
    // Nearly always everything is wanted: the same array for all lets a dialect encode it once.
    const everything = events[0]!.seq > cursor && types === null && !own
    const wanted = everything
      ? events
      : events.filter(
          (e) =>
            e.seq > cursor &&
            (types === null || types.has(e.type)) &&
            (!own || e.event.machine === undefined),
        )
    this.cursor = Math.max(cursor, events.at(-1)!.seq)
    if (wanted.length > 0 && !this.#delivered(wanted)) this.#live = false
  }

  catchUp(): void {
    if (this.#closed || this.#live) return
    const { cursor } = this
    const { head } = this.#deps.log
    let page: LoggedEvent[]
    try {
      page = this.#read()
    } catch (error) {
      return this.#giveUp(error) // a damaged page, say: others may well read theirs
    }
    const complete = page.length < PAGE && bytesOf(page) <= PAGE_BYTES
    // It never goes back: what is read may be committed before the head says so.
    this.cursor = Math.max(cursor, page.at(-1)?.seq ?? 0, complete ? head : 0)
    if (complete) this.#live = true
    if (page.length > 0 && !this.#delivered(page)) this.#live = false
    else if (!complete) setImmediate(() => this.catchUp())
  }

  close(): void {
    this.#closed = true
    this.#deps.leave(this)
  }

  #read(): LoggedEvent[] {
    return this.#deps.log.events({
      after: this.cursor,
      limit: PAGE,
      maxBytes: PAGE_BYTES,
      ...(this.sessionId !== undefined && { sessionId: this.sessionId }),
      ...(this.#types && { types: [...this.#types] }),
      ...(this.#own && { own: true }),
    })
  }

  /** A reader that breaks is closed; the others, and whoever waits for the commit, do not notice. */
  #delivered(events: LoggedEvent[]): boolean {
    try {
      return this.#deps.deliver(events) !== false
    } catch (error) {
      this.#giveUp(error)
      return false
    }
  }

  #giveUp(error: unknown): void {
    const { warn, failed } = this.#deps
    this.close()
    warn('a reader of the log broke and was closed', error)
    try {
      failed?.(error)
    } catch (again) {
      warn('telling a reader that it was closed', again)
    }
  }
}

function bytesOf(events: LoggedEvent[]): number {
  return events.reduce((bytes, { json }) => bytes + Buffer.byteLength(json), 0)
}

/** Batches are nearly always of one session: then nothing is copied. */
function bySessionId(events: LoggedEvent[]): Iterable<[string, LoggedEvent[]]> {
  const first = events[0]!.sessionId
  if (events.every((event) => event.sessionId === first)) return [[first, events]]
  return Map.groupBy(events, (event) => event.sessionId)
}
