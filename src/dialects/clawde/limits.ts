import { isLoopbackAddress } from '../../access/loopback.ts'
import { HttpError, type Guard } from '../../transports/http.ts'

/** What may wait, and what may be unsent, for one client: a thousand that do not read must not cost a gigabyte. */
export const SEND_LIMIT = 256 * 1024

/** So many at once, and then so many a second. */
export interface Bucket {
  /** 0: go ahead; else come back after so many milliseconds. */
  take(): number
}

/** `perSecond` 0 is no limit. */
export function createBucket(perSecond: number, now: () => number = () => performance.now()): Bucket {
  let left = perSecond
  let filledAt = now()
  return {
    take() {
      if (perSecond === 0) return 0
      const at = now()
      left = Math.min(perSecond, left + ((at - filledAt) / 1000) * perSecond)
      filledAt = at
      if (left < 1) return Math.max(1, Math.ceil(((1 - left) / perSecond) * 1000))
      left -= 1
      return 0
    },
  }
}

const MINUTE = 60_000

export interface ConnectionLimit {
  /** New connections of one address in any minute; 0 is no limit. */
  perMinute: number
  /** Callers on this machine are counted, too. */
  loopback: boolean
}

/** Refuses who connects too often with 429. What is asked for on one connection counts once. */
export function connectionGuard(
  { perMinute, loopback }: ConnectionLimit,
  now: () => number = Date.now,
): Guard {
  const visits = new Map<string, number[]>()
  const seen = new WeakSet<object>()

  /** Who has not been here for a minute is forgotten. */
  function sweep(at: number): void {
    for (const [address, times] of visits) if (times.at(-1)! <= at - MINUTE) visits.delete(address)
  }

  return ({ socket }) => {
    const address = socket.remoteAddress ?? ''
    if (perMinute === 0 || seen.has(socket) || (!loopback && isLoopbackAddress(address))) return null
    seen.add(socket)
    const at = now()
    if (visits.size > 10_000) sweep(at)
    const recent = (visits.get(address) ?? []).filter((time) => time > at - MINUTE)
    if (recent.length >= perMinute) {
      const seconds = Math.max(1, Math.ceil((recent[0]! + MINUTE - at) / 1000))
      seen.delete(socket)
      return new HttpError(429, 'Too many connections', { 'retry-after': String(seconds) })
    }
    visits.set(address, [...recent, at])
    return null
  }
}
