import type { EventEmitter } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { NEXT_REQUEST } from './http-message.ts'

export interface SseOptions {
  /** Unsent bytes beyond which `send` says stop. */
  maxBacklog?: number
  /** Sent every `everyMs` while the reader keeps up: an event, or a frame of any kind. */
  ping?: { everyMs: number } & ({ data: string } | { frame: string })
  /** The reader has caught up after `send` said stop. */
  onDrain?(): void
  /** The response is over, in whatever way. Called once. */
  onClose?(): void
  /**
   * Whether the client has all of it, as far as that can be known: it asked for something else on the same connection, or
   * closed it in order. A client that goes with bytes unread resets the connection. Called once, after `onClose`.
   */
  onSettled?(received: boolean): void
}

export interface SseWriter {
  /** Adds one event. False: the backlog is full; send nothing more until `onDrain` (what was given is kept). */
  send(data: string, id?: string | number): boolean
  /** The same for what is framed already: an event with a name, a comment, a text that many readers get. */
  write(frame: string): boolean
  /** No more events after this one. */
  end(data?: string): void
  /** Cuts the connection. */
  abort(): void
  /** False once the connection is gone or the stream has been ended. */
  readonly open: boolean
  /** Whether every byte up to the end was handed to the operating system. */
  readonly finished: Promise<boolean>
}

const MAX_BACKLOG = 1024 * 1024
const KEEP_ALIVE_MS = 30_000
const SSE_HEADERS = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache',
  'x-accel-buffering': 'no',
}

/** Server-sent events over one response: what one tick brings goes out in one write. */
export function createSseWriter(res: ServerResponse, options: SseOptions = {}): SseWriter {
  const { promise: finished, resolve } = Promise.withResolvers<boolean>()
  const { socket } = res
  let open = !res.destroyed
  const outbox = createOutbox(res, options.maxBacklog ?? MAX_BACKLOG, () => open && options.onDrain?.())

  function write(frame: string): boolean {
    return open && outbox.add(frame)
  }

  function send(data: string, id?: string | number): boolean {
    return write(id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`)
  }

  const { ping } = options
  const sayPing = (): boolean => ('frame' in ping! ? write(ping.frame) : send(ping!.data))
  const timer = ping && setInterval(() => res.writableNeedDrain || sayPing(), ping.everyMs).unref()

  function closed(): void {
    open = false
    clearInterval(timer)
    outbox.clear()
    options.onClose?.()
    resolve(res.writableFinished)
    whenSettled(res, socket, (received) => options.onSettled?.(received))
  }

  if (open) {
    res.writeHead(200, SSE_HEADERS)
    socket?.setKeepAlive(true, KEEP_ALIVE_MS)
  }
  res.on('error', () => res.destroy())
  // The client may have gone before this writer was made: its `close` is over then.
  if (res.destroyed) setImmediate(closed)
  else res.once('close', closed)
  outbox.schedule()

  return {
    send,
    write,
    end(data) {
      if (!open) return
      if (data !== undefined) send(data)
      outbox.flush()
      open = false
      clearInterval(timer)
      res.end()
    },
    abort() {
      open = false
      res.destroy()
    },
    get open() {
      return open
    },
    finished,
  }
}

/** Frames on their way to a response; `onDrain` is called when it takes more again after `add` said stop. */
function createOutbox(res: ServerResponse, maxBacklog: number, onDrain: () => void) {
  let pending: string[] = []
  let pendingBytes = 0
  let scheduled = false
  let stopped = false

  function drained(): void {
    if (!stopped) return
    stopped = false
    onDrain()
  }

  function flush(): void {
    scheduled = false
    if (res.destroyed || res.writableEnded) return
    if (pending.length === 0) return res.flushHeaders()
    const chunk = pending.length === 1 ? pending[0]! : pending.join('')
    pending = []
    pendingBytes = 0
    // A write that is taken whole brings no `drain`.
    if (res.write(chunk) && stopped) setImmediate(drained)
  }

  function schedule(): void {
    if (scheduled) return
    scheduled = true
    setImmediate(flush)
  }

  res.on('drain', drained)
  return {
    /** False: the backlog is full. */
    add(frame: string): boolean {
      pending.push(frame)
      pendingBytes += Buffer.byteLength(frame)
      schedule()
      if (pendingBytes + res.writableLength > maxBacklog) stopped = true
      return !stopped
    },
    flush,
    schedule,
    clear(): void {
      pending = []
    },
  }
}

/** Handed to the system is not received: the connection's next sign of life tells. */
function whenSettled(
  res: ServerResponse,
  socket: (Socket & EventEmitter) | null,
  settled: (received: boolean) => void,
): void {
  if (!res.writableFinished || !socket) return settled(false)
  if (socket.destroyed) return settled(socket.errored === null)
  const settle = (received: boolean): void => {
    socket.off('close', onSocketClose)
    socket.off(NEXT_REQUEST, onNextRequest)
    settled(received)
  }
  const onSocketClose = (failed: boolean): void => settle(!failed)
  const onNextRequest = (): void => settle(true)
  socket.once('close', onSocketClose)
  socket.once(NEXT_REQUEST, onNextRequest)
}
