import type { Engine, Subscription, SubscribeOptions } from '../../core/api.ts'
import { CorralError } from '../../core/error.ts'
import type { LoggedEvent } from '../../core/event.ts'
import type { Share } from '../../transports/connection.ts'
import { notification } from '../../transports/jsonrpc.ts'
import { forMany } from '../../transports/line-writer.ts'

const LINE_BYTES = 1024 ** 2
const MAX_SUBSCRIPTIONS = 64

/** The subscriptions of one connection. */
export interface Feed {
  /** Reserves an id; `start` begins to deliver. */
  open(options: SubscribeOptions): { id: string; start(): void }
  close(id: string): boolean
  /** The connection has room again. */
  drained(): void
  closeAll(): void
}

export function createFeed(
  engine: Engine,
  send: (line: string | Buffer) => boolean,
  share: Share = forMany,
): Feed {
  const subscriptions = new Map<string, Subscription | null>()
  let last = 0
  let full = false

  function deliver(id: string, events: LoggedEvent[]): boolean {
    for (const line of linesOf(share, id, engine.events.logId, events)) {
      if (!send(line)) full = true
    }
    return !full
  }

  return {
    open(options) {
      if (subscriptions.size >= MAX_SUBSCRIPTIONS) {
        const message = `a connection has ${MAX_SUBSCRIPTIONS} subscriptions at the most`
        throw new CorralError('invalid', message, { field: 'subscriptions' })
      }
      const id = `s${++last}`
      subscriptions.set(id, null)
      return {
        id,
        start() {
          if (!subscriptions.has(id)) return
          const subscription = engine.events.subscribe(
            options,
            (events) => deliver(id, events),
            () => {
              subscriptions.delete(id)
              send(
                notification(
                  'events.closed',
                  `{"subscriptionId":"${id}","reason":"the log could not be read"}`,
                ),
              )
            },
          )
          subscriptions.set(id, subscription)
        },
      }
    },
    close(id) {
      subscriptions.get(id)?.close()
      return subscriptions.delete(id)
    },
    drained() {
      full = false
      for (const subscription of subscriptions.values()) subscription?.resume()
    },
    closeAll() {
      for (const subscription of subscriptions.values()) subscription?.close()
      subscriptions.clear()
    },
  }
}

/**
 * A batch goes to many subscribers as the same array, and nearly all of them have the same id: each its connection's
 * first. There is one such memory for each kind of connection.
 */
type Lines = WeakMap<LoggedEvent[], Map<string, (string | Buffer)[]>>
const caches = new Map<Share, Lines>()

function linesOf(share: Share, id: string, logId: string, events: LoggedEvent[]): (string | Buffer)[] {
  const cache: Lines = caches.get(share) ?? new WeakMap()
  caches.set(share, cache)
  const byId = cache.get(events) ?? new Map<string, (string | Buffer)[]>()
  cache.set(events, byId)
  let lines = byId.get(id)
  if (!lines) {
    const head = `{"subscriptionId":"${id}","log":${JSON.stringify(logId)},"events":[`
    lines = joined(events).map((part) => share(notification('events', `${head}${part}]}`)))
    byId.set(id, lines)
  }
  return lines
}

/** The events as JSON, in parts that fit a line; an event larger than that gets its own. */
function joined(events: LoggedEvent[]): string[] {
  const parts: string[] = []
  let part = ''
  for (const event of events) {
    if (part !== '' && part.length + event.json.length > LINE_BYTES) {
      parts.push(part)
      part = ''
    }
    part += part === '' ? event.json : `,${event.json}`
  }
  if (part !== '') parts.push(part)
  return parts
}
