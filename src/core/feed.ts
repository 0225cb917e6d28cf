import type { SubscribeOptions, Subscription } from './api.ts'
import type { EventType, LoggedEvent } from './event.ts'
import type { Log } from './ports.ts'

/** Per read while a subscriber catches up: little enough to leave the event loop free in between, and memory to others. */
const PAGE = 500
const PAGE_BYTES = 1024 ** 2

type Deliver = (events: LoggedEvent[]) => boolean | void
type Failed = (error: unknown) => void

interface Subscriber {
  cursor: number
  live: boolean
  closed: boolean
  sessionId: string | undefined
  types: ReadonlySet<EventType> | null
  deliver: Deliver
  failed: Failed | undefined
}

export interface Feed {
  /** Hands committed events, in order, to everybody who is up to date. */
  publish(events: LoggedEvent[]): void
  subscribe(options: SubscribeOptions, deliver: Deliver, failed?: Failed): Subscription
}

/**
 * Live subscriptions over the log. A subscriber is either live, and gets what is published, or behind, and reads the log at
 * its own speed; nothing is buffered for it. `seq` decides at the seam, so there is no gap and no repeat.
 */
export function createFeed(
  log: Pick<Log, 'events' | 'head'>,
  warn: (message: string, error: unknown) => void,
): Feed {
  const ofAll = new Set<Subscriber>()
  const bySession = new Map<string, Set<Subscriber>>()

  function hand(subscriber: Subscriber, events: LoggedEvent[]): void {
    if (!subscriber.live || subscriber.closed) return
    const { cursor, types } = subscriber
    // Nearly always everything is wanted: the same array for all lets a dialect encode it once.
    const everything = events[0]!.seq > cursor && types === null
    const wanted = everything
      ? events
      : events.filter((e) => e.seq > cursor && (types === null || types.has(e.type)))
    subscriber.cursor = Math.max(cursor, events.at(-1)!.seq)
    if (wanted.length > 0 && !delivered(subscriber, wanted)) subscriber.live = false
  }

  /** A reader that breaks is closed; the others, and whoever waits for the commit, do not notice. */
  function delivered(subscriber: Subscriber, events: LoggedEvent[]): boolean {
    try {
      return subscriber.deliver(events) !== false
    } catch (error) {
      giveUp(subscriber, error)
      return false
    }
  }

  function giveUp(subscriber: Subscriber, error: unknown): void {
    leave(subscriber)
    warn('a reader of the log broke and was closed', error)
    try {
      subscriber.failed?.(error)
    } catch (again) {
      warn('telling a reader that it was closed', again)
    }
  }

  function leave(subscriber: Subscriber): void {
    subscriber.closed = true
    const { sessionId } = subscriber
    const home = sessionId === undefined ? ofAll : bySession.get(sessionId)
    if (home?.delete(subscriber) && home.size === 0 && sessionId !== undefined) bySession.delete(sessionId)
  }

  function catchUp(subscriber: Subscriber): void {
    if (subscriber.closed || subscriber.live) return
    const { cursor, sessionId, types } = subscriber
    const head = log.head
    let page: LoggedEvent[]
    try {
      page = log.events({
        after: cursor,
        limit: PAGE,
        maxBytes: PAGE_BYTES,
        ...(sessionId === undefined ? {} : { sessionId }),
        ...(types === null ? {} : { types: [...types] }),
      })
    } catch (error) {
      return giveUp(subscriber, error) // a damaged page, say: others may well read theirs
    }
    const last = page.at(-1)
    const complete = page.length < PAGE && bytesOf(page) <= PAGE_BYTES
    subscriber.cursor = Math.max(last?.seq ?? 0, complete ? head : cursor)
    if (complete) subscriber.live = true
    if (page.length > 0 && !delivered(subscriber, page)) {
      subscriber.live = false
      return
    }
    if (!complete) setImmediate(catchUp, subscriber)
  }

  return {
    publish(events) {
      if (events.length === 0) return
      for (const subscriber of ofAll) hand(subscriber, events)
      if (bySession.size === 0) return
      for (const [sessionId, group] of bySessionId(events)) {
        for (const subscriber of bySession.get(sessionId) ?? []) hand(subscriber, group)
      }
    },
    subscribe({ after, sessionId, types }, deliver, failed) {
      const subscriber: Subscriber = {
        cursor: after,
        live: false,
        closed: false,
        sessionId,
        types: types ? new Set(types) : null,
        deliver,
        failed,
      }
      let home = ofAll
      if (sessionId !== undefined) {
        home = bySession.get(sessionId) ?? new Set()
        bySession.set(sessionId, home)
      }
      home.add(subscriber)
      queueMicrotask(() => catchUp(subscriber))
      return {
        get cursor() {
          return subscriber.cursor
        },
        resume: () => void setImmediate(catchUp, subscriber),
        close: () => leave(subscriber),
      }
    },
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
