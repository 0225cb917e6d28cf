import type { Api, Event, EventType } from './api.ts'
import { ConnectionLost, NativeError, type Dial, type Link } from './link.ts'

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
  types?: readonly EventType[]
  /**
   * The log has begun anew: says where to read on. Or events after the cursor were removed while the connection was
   * away: reading goes on with what is left. Without it, the iteration ends with the error `cursor_reset`.
   */
  onReset?(range: LogRange): number | 'now'
  /** A gap right at the beginning is one, too. Otherwise only `ready` says so. */
  whole?: boolean
  /** The connection was lost and is tried again; or it stands again. */
  onLink?(state: 'away' | 'back'): void
}

export interface StreamParts {
  /** Makes the connection that the events come over; with `reconnect` it tries until somebody answers. */
  dial(notified: Parameters<Dial>[0], signal: AbortSignal): Promise<Link>
  options: StreamOptions
  /** Otherwise a lost connection is the end. */
  reconnect: boolean
  signal: AbortSignal
}

type Subscribed = Api['events.subscribe']['result']

interface Opened {
  link: Link
  result: Subscribed
}

/** Events in order, each once, also across restarts of the daemon. Iterate it once. */
export class EventStream implements AsyncIterable<Event> {
  /** Resolves when the first subscription stands; with `reconnect`, however often the connection is lost before. */
  readonly ready: Promise<Pick<Subscribed, 'log' | 'after' | 'gap'>>
  readonly #parts: StreamParts
  readonly #closing = new AbortController()
  readonly #stop: AbortSignal
  readonly #filter: Pick<StreamOptions, 'sessionId' | 'types'>
  #cursor: Pick<StreamOptions, 'after' | 'log'>
  #opened: Promise<Opened> | null
  #buffer: Event[] = []
  #behind = false
  #wake: () => void = () => {}

  constructor(parts: StreamParts) {
    const { after = 'now', log, sessionId, types } = parts.options
    this.#parts = parts
    this.#stop = AbortSignal.any([parts.signal, this.#closing.signal])
    this.#filter = { ...(sessionId !== undefined && { sessionId }), ...(types && { types }) }
    this.#cursor = { after, ...(log !== undefined && { log }) }
    this.#opened = this.#openFirst()
    this.ready = this.#opened.then(({ result: { log, after, gap } }) => ({ log, after, gap }))
    this.ready.catch(() => {})
    this.#stop.addEventListener('abort', () => {
      this.#wake()
      void this.#opened?.then(
        ({ link }) => link.close(),
        () => {},
      )
    })
  }

  /** The last event that was read, and its log; null: the first subscription does not stand yet. */
  get cursor(): { log: string; seq: number } | null {
    const { after, log } = this.#cursor
    return typeof after === 'number' && log !== undefined ? { log, seq: after } : null
  }

  close(): void {
    this.#closing.abort()
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Event, void, undefined> {
    const { reconnect, options } = this.#parts
    let away = false
    try {
      for (;;) {
        const link = await this.#standing()
        if (link && away) options.onLink?.('back')
        if (link) yield* this.#drain(link)
        if (this.#stop.aborted) return
        this.#opened = null
        if (this.#behind) {
          this.#behind = false
          continue
        }
        if (!reconnect) throw new ConnectionLost()
        if (link || !away) options.onLink?.('away')
        away = true
      }
    } catch (error) {
      if (!this.#stop.aborted) throw error
    } finally {
      this.#closing.abort()
    }
  }

  async #openFirst(): Promise<Opened> {
    for (;;) {
      try {
        return await this.#open(true)
      } catch (error) {
        if (!this.#mayTryAgain(error)) throw error
      }
    }
  }

  #mayTryAgain(error: unknown): boolean {
    const isPassing =
      error instanceof ConnectionLost || (error instanceof NativeError && error.code === 'stopping')
    return isPassing && this.#parts.reconnect && !this.#stop.aborted
  }

  async #open(first: boolean): Promise<Opened> {
    let link: Link | null = null
    link = await this.#parts.dial((method, params) => {
      if (method === 'events') this.#receive(link, params)
      // The daemon could not read on; over another connection it may.
      else if (method === 'events.closed') link?.close()
    }, this.#stop)
    void link.closed.then(() => this.#wake())
    try {
      const result = await this.#subscribe(link)
      if (result.gap && (!first || this.#parts.options.whole)) await this.#skipGap(link)
      else this.#cursor = { after: result.after, log: result.log }
      return { link, result }
    } catch (error) {
      link.close()
      throw error
    }
  }

  async #subscribe(link: Link): Promise<Subscribed> {
    const { onReset } = this.#parts.options
    for (;;) {
      try {
        const params = { ...this.#filter, ...this.#cursor }
        return (await link.request('events.subscribe', params)) as Subscribed
      } catch (error) {
        if (!(error instanceof NativeError) || error.code !== 'cursor_reset' || !onReset) throw error
        this.#cursor = { after: onReset(error.data as unknown as LogRange) }
      }
    }
  }

  /** What was missed while away has been removed from the log. */
  async #skipGap(link: Link): Promise<void> {
    const { onReset } = this.#parts.options
    const { log } = (await link.request('daemon.status', {})) as Api['daemon.status']['result']
    const range = { log: log.id, head: log.head, oldest: log.oldest }
    if (onReset) return void onReset(range)
    const message = 'events after the cursor have been removed from the log'
    throw new NativeError({ code: -32012, message, data: { code: 'cursor_reset', ...range } })
  }

  #receive(link: Link | null, params: unknown): void {
    const wasFull = this.#buffer.length >= MAX_BUFFERED
    for (const event of (params as { events: Event[] }).events) this.#buffer.push(event)
    if (this.#buffer.length >= MAX_BUFFERED && link?.pause() === false && wasFull) {
      // What cannot be paused is left, and read on from the cursor when there is room again.
      this.#behind = true
      link.close()
    }
    this.#wake()
  }

  /** The connection, subscribed; null when it was lost before that and another try makes sense. */
  async #standing(): Promise<Link | null> {
    try {
      return (await (this.#opened ??= this.#open(false))).link
    } catch (error) {
      if (!this.#mayTryAgain(error)) throw error
      return null
    }
  }

  /** Everything that this connection brings, until it is over. */
  async *#drain(link: Link): AsyncGenerator<Event, void, undefined> {
    for (;;) {
      const batch = this.#buffer
      this.#buffer = []
      link.resume()
      for (const event of batch) {
        if (this.#stop.aborted) return
        this.#cursor = { ...this.#cursor, after: event.seq }
        yield event
      }
      if (this.#buffer.length > 0) continue
      if (!link.open || this.#stop.aborted) return
      const { promise, resolve } = Promise.withResolvers<void>()
      this.#wake = resolve
      await promise
    }
  }
}
