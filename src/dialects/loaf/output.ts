import type { Writable } from 'node:stream'
import { eventLine } from './framing.ts'

/** So much may wait for a client that does not read; whoever has more to say waits as well. */
const LIMIT = 4 * 1024 ** 2

export interface Output {
  line(text: string): void
  /** `seq` belongs to a session's events; others carry the newest one that was told. */
  event(type: string, payload: object, mark?: { seq: number; at: number }): void
  readonly blocked: boolean
  /** Resolves when there is room again, or nobody will ever read. */
  drained(): Promise<void>
  /** Resolves when all has been handed over, or the time is up. */
  flush(withinMs: number): Promise<void>
  /** Nobody reads any more. */
  readonly broken: Promise<void>
}

export function createOutput(stream: Writable, now: () => number): Output {
  const { promise: broken, resolve: isBroken } = Promise.withResolvers<void>()
  let newest = 0
  let over = false
  let waiting: (() => void)[] = []

  function wake(): void {
    if (!over && stream.writableLength > LIMIT / 4) return
    for (const resume of waiting.splice(0)) resume()
  }

  stream.on('error', () => {
    over = true
    isBroken()
    wake()
  })

  function line(text: string): void {
    if (over) return
    // Only who is waited for costs a callback.
    if (waiting.length > 0 || stream.writableLength > LIMIT) stream.write(`${text}\n`, wake)
    else stream.write(`${text}\n`)
  }

  return {
    line,
    event(type, payload, mark) {
      newest = Math.max(newest, mark?.seq ?? 0)
      const timestamp = new Date(mark?.at ?? now()).toISOString()
      line(eventLine({ type, timestamp, seq: mark?.seq ?? newest, payload }))
    },
    get blocked() {
      return !over && stream.writableLength > LIMIT
    },
    drained() {
      const { promise, resolve } = Promise.withResolvers<void>()
      waiting.push(resolve)
      if (over) wake()
      else stream.write('', wake)
      return promise
    },
    async flush(withinMs) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const timer = setTimeout(resolve, withinMs)
      if (over) resolve()
      else stream.write('', () => resolve())
      await Promise.race([promise, broken])
      clearTimeout(timer)
    },
    broken,
  }
}
