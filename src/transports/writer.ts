import type { Socket } from 'node:net'

/** What waits for the end of the tick, in the form of its transport. */
export interface WriteBatch<T> {
  /** In bytes, or nearly so. */
  readonly size: number
  add(item: T): void
  /** All of it, in few pieces; the batch is empty then. */
  take(): (string | Buffer)[]
}

export interface Writer<T> {
  /** Queues an item; false when more than the limit is unsent. */
  send(item: T): boolean
  flush(): void
  /** The same, but for what is held. */
  now(): void
  /** From here on, until `release`, everything that is sent waits. */
  hold(): void
  /** Whatever was held goes out, in one write. */
  release(): void
  readonly blocked: boolean
}

export interface WriterOptions<T> {
  socket: Socket
  /** Unsent bytes beyond which it is blocked, until a quarter of that is left. */
  limit: number
  batch: WriteBatch<T>
  /** False once nothing more may be written. */
  isOpen(): boolean
  onBlocked(): void
  onDrained(): void
}

/** How many sockets are written to in a row: with a thousand of them, whoever asks something must not wait for all. */
const WRITES_IN_A_ROW = 64
let due: (() => void)[] = []

function atTickEnd(write: () => void): void {
  if (due.length === 0) setImmediate(writeSome)
  due.push(write)
}

function writeSome(): void {
  const some = due.slice(0, WRITES_IN_A_ROW)
  due = due.slice(WRITES_IN_A_ROW)
  if (due.length > 0) setImmediate(writeSome)
  for (const write of some) write()
}

/** Gathers what one tick brings into one write and watches how much is unsent. */
export function createWriter<T>(options: WriterOptions<T>): Writer<T> {
  const { socket, limit, batch, isOpen } = options
  let scheduled = false
  let held = false
  let blocked = false

  function written(): void {
    if (!blocked || !isOpen() || batch.size + socket.writableLength > limit / 4) return
    blocked = false
    options.onDrained()
  }

  function flush(): void {
    scheduled = false
    if (batch.size === 0 || !isOpen()) return
    const pieces = batch.take()
    if (pieces.length === 1) return write(pieces[0]!)
    socket.cork()
    for (const piece of pieces) write(piece)
    socket.uncork()
  }

  function write(piece: string | Buffer): void {
    // Only who is blocked waits for room; everybody else is spared the callback.
    if (blocked) socket.write(piece, written)
    else socket.write(piece)
  }

  return {
    send(item) {
      if (!isOpen()) return false
      batch.add(item)
      if (!scheduled && !held) {
        scheduled = true
        atTickEnd(flush)
      }
      if (!blocked && batch.size + socket.writableLength > limit) {
        blocked = true
        options.onBlocked()
      }
      return !blocked
    },
    flush,
    now() {
      if (!held) flush()
    },
    hold: () => void (held = true),
    release() {
      held = false
      flush()
    },
    get blocked() {
      return blocked
    },
  }
}
