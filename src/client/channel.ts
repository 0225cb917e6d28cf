import { ConnectionLost, type Link, type Notified } from './link.ts'

/** Who gets the notifications of a stream, by the stream's id. */
export type Listeners = Map<string, Notified>

/** What ends each kind of stream that a request begins. */
const STREAMS: Readonly<Record<string, { id: string; end: string }>> = {
  'events.subscribe': { id: 'subscriptionId', end: 'events.unsubscribe' },
  'session.watch': { id: 'watchId', end: 'session.unwatch' },
}

/** Tells a notification to whoever has begun its stream. */
export function toListeners(listeners: Listeners): Notified {
  return (method, params) => {
    const { subscriptionId, watchId } = (params ?? {}) as Record<string, unknown>
    const id = subscriptionId ?? watchId
    if (typeof id === 'string') listeners.get(id)?.(method, params)
  }
}

/**
 * A connection of its own, as far as anybody can tell, over one that many share. Closing it ends its streams only; when the
 * shared one is over, so is this.
 */
export function channelOver(shared: Link, listeners: Listeners, notified: Notified = () => {}): Link {
  const { promise: closed, resolve: ended } = Promise.withResolvers<void>()
  const streams = new Map<string, string>()
  let isOver = false
  void shared.closed.then(ended)

  /** The first notification may stand right behind the answer. */
  function begin(method: string, result: unknown): void {
    const id = String((result as Record<string, unknown>)[STREAMS[method]!.id])
    if (isOver) return end(method, id)
    streams.set(id, method)
    listeners.set(id, notified)
  }

  function end(method: string, id: string): void {
    listeners.delete(id)
    const { id: name, end: how } = STREAMS[method]!
    if (shared.open) shared.request(how, { [name]: id }).catch(() => {})
  }

  return {
    get open() {
      return shared.open && !isOver
    },
    request(method, params, answered) {
      if (isOver) return Promise.reject(new ConnectionLost())
      return shared.request(method, params, (result) => {
        if (STREAMS[method]) begin(method, result)
        answered?.(result)
      })
    },
    pause: () => false,
    resume: () => {},
    close() {
      isOver = true
      for (const [id, method] of streams) end(method, id)
      streams.clear()
      ended()
    },
    closed,
  }
}
