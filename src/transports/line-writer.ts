import type { Socket } from 'node:net'

export interface LineWriter {
  /** Queues a line; false when more than the limit is unsent. */
  send(line: string): boolean
  flush(): void
  /** The same, but for what `gather` has in hand. */
  now(): void
  /** Whatever the work sends goes out right after it, in one write. */
  gather(work: () => void): void
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
  let scheduled = false
  let held = false
  let blocked = false

  function written(): void {
    if (!blocked || socket.destroyed || gathered.length + socket.writableLength > limit / 4) return
    blocked = false
    on.drained()
  }

  function flush(): void {
    scheduled = false
    if (gathered === '' || socket.destroyed || socket.writableEnded) return
    const text = gathered
    gathered = ''
    // Only who is blocked waits for room; everybody else is spared the callback.
    if (blocked) socket.write(text, written)
    else socket.write(text)
  }

  function send(line: string): boolean {
    if (socket.destroyed || socket.writableEnded) return false
    gathered += `${line}\n`
    if (!scheduled && !held) {
      scheduled = true
      atTickEnd(flush)
    }
    if (!blocked && gathered.length + socket.writableLength > limit) {
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
