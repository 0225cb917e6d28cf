import type { ServerResponse } from 'node:http'
import { createSseWriter, type SseWriter } from '../../transports/sse.ts'
import type { Numbered, Ring } from '../../relay/records/ring.ts'

export interface FeedOptions<T extends Numbered> {
  ring: Ring<T>
  frameOf(item: T): string
  keepAliveMs?: number
  /** How many items a reader may be behind. */
  maxBehind?: number
  /** Unsent bytes of one reader. */
  maxBacklog?: number
}

/** What is added to a ring, as server-sent events for any number of readers. */
export interface Feed {
  /** `lastEventId` is the header: what came after it is told first, as far as it is still there. */
  open(res: ServerResponse, lastEventId?: string): void
  readonly readers: number
  close(): void
}

interface Reader {
  writer: SseWriter
  /** The position that it gets next. */
  next: number
  /** It asked for what it missed, and may be further behind than others. */
  replaying: boolean
  full: boolean
}

const KEEP_ALIVE_MS = 15_000
const MAX_BEHIND = 256
const MAX_BACKLOG = 256 * 1024
const KEEP_ALIVE = ': keep-alive\n\n'

/** Nothing is kept for a reader but where it is: who is slow reads the ring later, or has missed what has left it. */
export function createFeed<T extends Numbered>(options: FeedOptions<T>): Feed {
  const { ring, keepAliveMs: everyMs = KEEP_ALIVE_MS, maxBehind = MAX_BEHIND } = options
  const { maxBacklog = MAX_BACKLOG } = options
  const readers = new Set<Reader>()
  const frames = new WeakMap<T, string>()

  function frameOf(item: T): string {
    let frame = frames.get(item)
    if (frame === undefined) frames.set(item, (frame = options.frameOf(item)))
    return frame
  }

  function skip(reader: Reader): void {
    const reach = reader.replaying ? ring.first : Math.max(ring.first, ring.end - maxBehind)
    const dropped = reach - reader.next
    if (dropped <= 0) return
    reader.next = reach
    reader.full = !reader.writer.write(lagged(dropped))
  }

  function pump(reader: Reader): void {
    if (reader.full) return
    skip(reader)
    while (!reader.full && reader.next < ring.end) {
      reader.full = !reader.writer.write(frameOf(ring.at(reader.next)!))
      reader.next += 1
    }
    if (reader.next === ring.end) reader.replaying = false
  }

  ring.onAdd(() => readers.forEach(pump))

  return {
    open(res, lastEventId) {
      const seen = lastEventId !== undefined && /^\d{1,16}$/.test(lastEventId) ? Number(lastEventId) : null
      const writer = createSseWriter(res, {
        maxBacklog,
        ping: { frame: KEEP_ALIVE, everyMs },
        onDrain() {
          reader.full = false
          pump(reader)
        },
        onClose: () => void readers.delete(reader),
      })
      const next = seen === null ? ring.end : ring.after(seen)
      const reader: Reader = { writer, next, replaying: true, full: false }
      readers.add(reader)
      if (seen !== null && seen < ring.lost) reader.full = !writer.write(lagged(null))
      pump(reader)
    },
    get readers() {
      return readers.size
    },
    close() {
      for (const { writer } of readers) writer.end()
    },
  }
}

/** It has no id: whoever comes back begins where it was. Null: nobody has counted what was lost before it came, but something was. */
function lagged(dropped: number | null): string {
  const data = dropped === null ? { dropped: 1, atLeast: true } : { dropped }
  return `event: lagged\ndata: ${JSON.stringify(data)}\n\n`
}
