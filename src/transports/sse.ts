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
  const maxBacklog = options.maxBacklog ?? MAX_BACKLOG
  const { promise: finished, resolve } = Promise.withResolvers<boolean>()
  let pending: string[] = []
  let pendingBytes = 0
  let scheduled = false
  let stopped = false
  let open = !res.destroyed
  const socket: (Socket & EventEmitter) | null = res.socket

  if (open) {
    res.writeHead(200, SSE_HEADERS)
    socket?.setKeepAlive(true, KEEP_ALIVE_MS)
  }

  function drained(): void {
    if (!stopped || !open) return
    stopped = false
    options.onDrain?.()
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

  function send(data: string, id?: string | number): boolean {
    return write(id === undefined ? `data: ${data}\n\n` : `id: ${id}\ndata: ${data}\n\n`)
  }

  function write(frame: string): boolean {
    if (!open) return false
    pending.push(frame)
    pendingBytes += Buffer.byteLength(frame)
    schedule()
    if (pendingBytes + res.writableLength > maxBacklog) stopped = true
    return !stopped
  }

  const { ping } = options
  const sayPing = (): boolean => ('frame' in ping! ? write(ping.frame) : send(ping!.data))
  const timer = ping ? setInterval(() => res.writableNeedDrain || sayPing(), ping.everyMs) : undefined
  timer?.unref()

  res.on('drain', drained)
  res.on('error', () => res.destroy())
  function closed(): void {
    open = false
    clearInterval(timer)
    pending = []
    options.onClose?.()
    resolve(res.writableFinished)
    settle()
  }

  /** Handed to the system is not received: the connection's next sign of life tells. */
  function settle(): void {
    const settled = (received: boolean): void => {
      socket?.off('close', onSocketClose)
      socket?.off(NEXT_REQUEST, onNextRequest)
      options.onSettled?.(received)
    }
    const onSocketClose = (failed: boolean): void => settled(!failed)
    const onNextRequest = (): void => settled(true)
    if (!res.writableFinished || !socket) return settled(false)
    if (socket.destroyed) return settled(socket.errored === null)
    socket.once('close', onSocketClose)
    socket.once(NEXT_REQUEST, onNextRequest)
  }

  // The client may have gone before this writer was made: its `close` is over then.
  if (res.destroyed) setImmediate(closed)
  else res.once('close', closed)
  schedule()

  return {
    send,
    write,
    end(data) {
      if (!open) return
      if (data !== undefined) send(data)
      flush()
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
