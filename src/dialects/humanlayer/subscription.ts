import { randomBytes } from 'node:crypto'
import type { Engine, Subscription } from '../../core/api.ts'
import type { LoggedEvent } from '../../core/event.ts'
import { Streaming } from '../../transports/jsonrpc.ts'
import { linesOf, wantedTypes, type WantedTypes } from './broadcast.ts'
import type { Following } from './following.ts'
import { runIdOf, sessionOrNull } from './ids.ts'
import { HumanLayerError } from './method.ts'
import { resultLine } from './rpc.ts'
import type { SubscribeParams } from './wire.ts'

const MAX_SUBSCRIPTIONS = 64
const CONFIRMED = 'Subscription established. Waiting for events...'
const HEARTBEAT = resultLine('{"message":"Connection alive","type":"heartbeat"}')
/** A session that there cannot be: nothing matches. */
const NOBODY = ''

export interface SubscriptionOptions {
  engine: Engine
  /** The conversations that all subscribers follow. */
  following: Following
  /** False: no more before there is room again. */
  send(line: string | Buffer): boolean
  heartbeatMs: number
  /** A reader that falls behind by more events than this goes on at the head of the log. */
  maxLag: number
  /** The log could not be read: nothing more comes. */
  failed(): void
}

interface Confirmation {
  subscription_id: string
  message: string
  seq: number
}

/** The subscriptions of one connection. */
export interface Subscriptions {
  /** Confirms, then replays what was asked for, then goes on live. */
  open(params: SubscribeParams): Streaming<Confirmation>
  close(id: string): boolean
  /** The connection has room again. */
  drained(): void
  closeAll(): void
}

export function createSubscriptions(options: SubscriptionOptions): Subscriptions {
  const { engine, send } = options
  const readers = new Map<string, Reader>()

  return {
    open(params) {
      if (readers.size >= MAX_SUBSCRIPTIONS) {
        const message = `too many subscriptions: a connection has ${MAX_SUBSCRIPTIONS} at the most`
        throw new HumanLayerError(message, { code: 'too_many_subscriptions' })
      }
      const id = subscriptionId()
      const { after, gap } = startOf(engine, params.since)
      return new Streaming({ subscription_id: id, message: CONFIRMED, seq: after }, () => {
        if (gap) send(gap)
        const sessionId = sessionOf(engine, params.session_id, params.run_id)
        const types = wantedTypes(params.event_types ?? [])
        readers.set(id, openReader(options, { after, sessionId, types }))
      })
    },
    close(id) {
      readers.get(id)?.close()
      return readers.delete(id)
    },
    drained() {
      for (const reader of readers.values()) reader.resume()
    },
    closeAll() {
      for (const reader of readers.values()) reader.close()
      readers.clear()
    },
  }
}

interface Selection {
  after: number
  sessionId: string | undefined
  types: WantedTypes
}

interface Reader {
  resume(): void
  close(): void
}

function openReader(
  { engine, following, send, heartbeatMs, maxLag, failed }: SubscriptionOptions,
  { after: start, sessionId, types }: Selection,
): Reader {
  const filter = sessionId === undefined ? {} : { sessionId }
  const follower = following.open()
  let full = false
  let subscription = follow(start)
  // Somebody who replays is behind by choice: slow is who falls further behind than it has been before.
  let leastBehind = behind()
  const timer = setInterval(() => full || say(HEARTBEAT), heartbeatMs).unref()

  // The types are not chosen by the engine: every reader gets the same array, and the same text is sent to all.
  function follow(after: number): Subscription {
    return engine.events.subscribe({ after, ...filter }, deliver, failed)
  }

  function behind(): number {
    return engine.events.head - subscription.cursor
  }

  function say(text: string | Buffer): void {
    full = !send(text)
  }

  function deliver(events: LoggedEvent[]): boolean {
    const text = linesOf(engine, follower, events, types)
    if (text.length > 0) say(text)
    if (full) leastBehind = Math.min(leastBehind, behind())
    return !full
  }

  function skip(): void {
    const { cursor } = subscription
    const { head } = engine.events
    subscription.close()
    subscription = follow(head)
    follower.skip()
    leastBehind = 0
    say(gapLine(cursor, head, `this reader was too slow: use since ${cursor} to read what was skipped`))
  }

  return {
    resume() {
      if (!full) return
      full = false
      if (behind() > leastBehind + maxLag) return skip()
      leastBehind = Math.min(leastBehind, behind())
      subscription.resume()
    },
    close() {
      clearInterval(timer)
      subscription.close()
      follower.close()
    },
  }
}

/** Where to begin, and what to say first if something between there and the client's cursor cannot be told. */
function startOf(engine: Engine, since: number | undefined): { after: number; gap: string | null } {
  const { head } = engine.events
  if (since === undefined) return { after: head, gap: null }
  if (since > head) {
    return {
      after: head,
      gap: gapLine(since, head, `there is no event ${since} here yet: read everything anew`),
    }
  }
  const { oldest } = engine.events
  if (since + 1 >= oldest) return { after: since, gap: null }
  const message = `these events are no longer kept: use since ${oldest - 1} or later`
  return { after: oldest - 1, gap: gapLine(since, oldest - 1, message) }
}

/** Events after `from` and up to `to` are not told. */
function gapLine(from: number, to: number, message: string): string {
  return resultLine(JSON.stringify({ type: 'gap', from, to, message }))
}

/** Either kind of id may come in either place; two that do not belong together match nothing. */
function sessionOf(engine: Engine, sessionId?: string, runId?: string): string | undefined {
  const ids: string[] = []
  if (sessionId) ids.push(known(engine, sessionId) ?? sessionId)
  if (runId) ids.push(known(engine, runId) ?? runIdOf(runId))
  return ids.every((id) => id === ids[0]) ? ids[0] : NOBODY
}

function known(engine: Engine, id: string): string | null {
  return (sessionOrNull(engine, id) ?? sessionOrNull(engine, runIdOf(id)))?.id ?? null
}

function subscriptionId(): string {
  const now = new Date().toISOString().replace(/\D/g, '').slice(0, 14)
  return `${now}-${randomBytes(8).toString('hex')}`
}
