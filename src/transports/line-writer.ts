import type { Socket } from 'node:net'

export interface LineWriter {
  /** Queues a line; false when more than the limit is unsent. */
  send(line: string | Buffer): boolean
  flush(): void
  /** The same, but for what `gather` has in hand. */
  now(): void
  /** Whatever the work sends goes out right after it, in one write. */
  gather(work: () => void): void
}

/** Below this a copy for each costs less than writing it on its own. */
const LARGE = 64 * 1024

/** A line that many connections are going to send: a large one is encoded now, and all of them hold the same bytes. */
export function forMany(line: string): string | Buffer {
  return line.length > LARGE ? Buffer.from(line) : line
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

/** Gathers the lines of one tick into one write and watches how much is unsent. */
export function createLineWriter(
  socket: Socket,
  limit: number,
  on: { blocked(): void; drained(): void },
): LineWriter {
  let gathered = ''
  /** Goes out before `gathered`: there is something only where a Buffer came. */
  let ahead: (string | Buffer)[] = []
  let size = 0
  let scheduled = false
  let held = false
  let blocked = false

  function written(): void {
    if (!blocked || socket.destroyed || size + socket.writableLength > limit / 4) return
    blocked = false
    on.drained()
  }

  function flush(): void {
    scheduled = false
    if (size === 0 || socket.destroyed || socket.writableEnded) return
    const parts = [...ahead, gathered]
    ahead = []
    gathered = ''
    size = 0
    for (const part of parts) {
      // Only who is blocked waits for room; everybody else is spared the callback.
      if (blocked) socket.write(part, written)
      else socket.write(part)
    }
  }

  function queue(line: string | Buffer): void {
    size += line.length + 1
    if (typeof line === 'string') {
      gathered += `${line}\n`
      return
    }
    if (gathered !== '') ahead.push(gathered)
    ahead.push(line)
    gathered = '\n'
  }

  function send(line: string | Buffer): boolean {
    if (socket.destroyed || socket.writableEnded) return false
    queue(line)
    if (!scheduled && !held) {
      scheduled = true
      atTickEnd(flush)
    }
    if (!blocked && size + socket.writableLength > limit) {
      blocked = true
      on.blocked()
    }
    return !blocked
  }

  return {
    send,
    flush,
    now() {
      if (!held) flush()
    },
    gather(work) {
      held = true
      try {
        work()
      } finally {
        held = false
      }
      flush()
    },
  }
}
