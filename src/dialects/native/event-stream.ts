import type { Event, EventType } from '../../core/event.ts'
import { dial, type Target } from './dial.ts'
import { ConnectionLost, NativeError, type Link, type Notified } from './link.ts'
import type { Api } from './methods.ts'

const MAX_BUFFERED = 1000

export interface LogRange {
  log: string
  head: number
  oldest: number
}

export interface StreamOptions {
  /** The last `seq` that is known; `now` (the default) starts with what happens from here on. */
  after?: number | 'now'
  /** The log that the cursor belongs to. */
  log?: string
  sessionId?: string
  types?: EventType[]
  /**
   * The log has begun anew: says where to read on. Or events after the cursor were removed while the connection was
   * away: reading goes on with what is left. Without it, the iteration ends with the error `cursor_reset`.
   */
  onReset?(range: LogRange): number | 'now'
  /** The connection was lost and is tried again; or it stands again. */
  onLink?(state: 'away' | 'back'): void
}

/** Events in order, each once, also across restarts of the daemon. Iterate it once. */
export interface EventStream extends AsyncIterable<Event> {
  /** Resolves when the first subscription stands. */
  readonly ready: Promise<{ log: string; after: number; gap: boolean }>
  close(): void
}

type Redial = (target: Target, giveUpMs: number, signal: AbortSignal, notified: Notified) => Promise<Link>

export interface StreamParts {
  target: Target
  options: StreamOptions
  /** How to come back; null when a lost connection is the end. */
  again: Redial | null
  giveUpMs: number
  signal: AbortSignal
}

export function openStream({ target, options, again, giveUpMs, signal }: StreamParts): EventStream {
  const closing = new AbortController()
  const stop = AbortSignal.any([signal, closing.signal])
  const { onReset, onLink, ...wanted } = options
  let cursor: { after: number | 'now'; log?: string } = { after: wanted.after ?? 'now', ...pick(wanted.log) }
  let buffer: Event[] = []
  let wake: () => void = () => {}

  function receive(held: Link | null, params: unknown): void {
    buffer.push(...(params as { events: Event[] }).events)
    if (buffer.length >= MAX_BUFFERED) held?.pause()
    wake()
  }

  async function subscribe(link: Link): Promise<Api['events.subscribe']['result']> {
    for (;;) {
      try {
        const filter = { ...wanted, ...cursor }
        return (await link.request('events.subscribe', filter)) as Api['events.subscribe']['result']
      } catch (error) {
        if (!(error instanceof NativeError) || error.code !== 'cursor_reset' || !onReset) throw error
        cursor = { after: onReset(error.data as unknown as LogRange) }
        delete wanted.log
      }
    }
  }

  async function open(first: boolean) {
    let link: Link | null = null
    const notified = (_: string, params: unknown): void => receive(link, params)
    link = again ? await again(target, giveUpMs, stop, notified) : await dial(target, notified)
    void link.closed.then(() => wake())
    try {
      const result = await subscribe(link)
      if (result.gap && !first) await skipGap(link)
      else cursor = { after: result.after, log: result.log }
      return { link, result }
    } catch (error) {
      link.close()
      throw error
    }
  }

  /** What was missed while away has been removed from the log. */
  async function skipGap(link: Link): Promise<void> {
    const { log } = (await link.request('daemon.status', {})) as Api['daemon.status']['result']
    const range = { log: log.id, head: log.head, oldest: log.oldest }
    if (onReset) return void onReset(range)
    const message = 'events after the cursor have been removed from the log'
    throw new NativeError({ code: -32012, message, data: { code: 'cursor_reset', ...range } })
  }

  let opened: Promise<{ link: Link; result: Api['events.subscribe']['result'] }> | null = open(true)
  const ready = opened.then(({ result: { log, after, gap } }) => ({ log, after, gap }))
  ready.catch(() => {})

  async function* iterate(): AsyncGenerator<Event, void, undefined> {
    let away = false
    try {
      for (;;) {
        const link = await standing()
        if (link && away) onLink?.('back')
        if (link) yield* drain(link)
        if (stop.aborted) return
        if (!again) throw new ConnectionLost()
        opened = null
        if (link || !away) onLink?.('away')
        away = true
      }
    } catch (error) {
      if (!stop.aborted) throw error
    } finally {
      closing.abort()
    }
  }

  /** The connection, subscribed; null when it was lost before that and another try makes sense. */
  async function standing(): Promise<Link | null> {
    try {
      return (await (opened ??= open(false))).link
    } catch (error) {
      const passing =
        error instanceof ConnectionLost || (error instanceof NativeError && error.code === 'stopping')
      if (!again || !passing) throw error
      return null
    }
  }

  /** Everything that this connection brings, until it is over. */
  async function* drain(link: Link): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      const batch = buffer
      buffer = []
      link.resume()
      for (const event of batch) {
        if (stop.aborted) return
        cursor = { ...cursor, after: event.seq }
        yield event
      }
      if (buffer.length > 0) continue
      if (!link.open || stop.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      wake = resolve
      await promise
    }
  }

  stop.addEventListener('abort', () => {
    wake()
    void opened?.then(
      ({ link }) => link.close(),
      () => {},
    )
  })

  return { ready, close: () => closing.abort(), [Symbol.asyncIterator]: iterate }
}

function pick(log: string | undefined): { log?: string } {
  return log === undefined ? {} : { log }
}
