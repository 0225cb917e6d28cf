import type { Event, Events, EventType } from './api.ts'
import type { NativeClient } from './calls.ts'
import type { EventStream, LogRange } from './event-stream.ts'

/** A place in a log: keep it, and read on from it later. */
export interface Cursor {
  log: string
  seq: number
}

export interface EventOptions<T extends EventType = EventType> {
  /** After this event, from the beginning of the log, or from now on (the default). */
  from?: Cursor | 'start' | 'now' | undefined
  /** Only events of these types. */
  types?: readonly T[] | undefined
  /**
   * Events after the cursor are gone: retention has removed them, or the log has begun anew (then `log` is another one). Says
   * where to read on. Without it the iteration throws `NativeError` with the code `cursor_reset`.
   */
  onGap?: ((range: LogRange) => 'start' | 'now') | undefined
  /** The connection was lost, and it is tried again; or it stands again. */
  onLink?: ((state: 'away' | 'back') => void) | undefined
  /** Ends the iteration. */
  signal?: AbortSignal | undefined
}

/** Events in order, each once, across lost connections and restarts of the daemon. It begins at once; iterate it once. */
export interface EventFeed<E = Event> extends AsyncIterable<E>, AsyncDisposable {
  /** The last event that was read; null: the subscription does not stand yet. */
  readonly cursor: Cursor | null
  /** Resolves when the subscription stands: what happens from then on is told. */
  readonly ready: Promise<void>
  close(): void
}

export function eventFeed<T extends EventType = EventType>(
  client: NativeClient,
  options: EventOptions<T> = {},
  sessionId?: string,
): EventFeed<Events[T]> {
  const { from = 'now', types, onGap, onLink, signal } = options
  const place =
    from === 'now' ? { after: from } : from === 'start' ? { after: 0 } : { after: from.seq, log: from.log }
  const stream = client.events({
    ...place,
    whole: typeof from === 'object',
    ...(sessionId !== undefined && { sessionId }),
    ...(types && { types }),
    ...(onLink && { onLink }),
    ...(onGap && {
      onReset: (range: LogRange) => (onGap(range) === 'now' ? 'now' : Math.max(range.oldest - 1, 0)),
    }),
  })
  const stop = (): void => stream.close()
  signal?.addEventListener('abort', stop, { once: true })
  if (signal?.aborted) stop()
  return feedOf(stream, () => signal?.removeEventListener('abort', stop))
}

function feedOf<E>(stream: EventStream, ended: () => void): EventFeed<E> {
  const ready = stream.ready.then(() => {})
  ready.catch(() => {}) // the iteration says so
  function close(): void {
    ended()
    stream.close()
  }
  return {
    get cursor() {
      return stream.cursor
    },
    ready,
    close,
    async *[Symbol.asyncIterator]() {
      try {
        yield* stream as AsyncIterable<unknown> as AsyncIterable<E>
      } finally {
        ended()
      }
    },
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}
