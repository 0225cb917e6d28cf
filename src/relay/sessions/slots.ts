import { RelayFailure } from '../failure.ts'

const BUSY_MS = 2000

/** So many at a time; others wait in order, up to a bound. */
export interface Slots {
  /** Resolves with how to leave; rejects when too many wait or the signal aborts. */
  enter(signal: AbortSignal): Promise<() => void>
  /** Nobody is in, and nobody waits. */
  readonly empty: boolean
}

export function createSlots(size: number, maxWaiting: number): Slots {
  const waiting = new Set<() => void>()
  let inside = 0

  function leaver(): () => void {
    let left = false
    return () => {
      if (left) return
      left = true
      inside--
      const [next] = waiting
      if (!next) return
      waiting.delete(next)
      next()
    }
  }

  return {
    get empty() {
      return inside === 0 && waiting.size === 0
    },
    async enter(signal) {
      signal.throwIfAborted()
      if (inside >= size) {
        if (waiting.size >= maxWaiting) {
          throw new RelayFailure(529, 'overloaded_error', `${maxWaiting} calls wait already`, {
            retryAfterMs: BUSY_MS,
            // A full lane is no reason to leave the others alone.
            verdict: 'elsewhere',
          })
        }
        await wait(signal)
      } else inside++
      return leaver()
    },
  }

  /** Whoever leaves hands over the slot, so that nobody slips in between. */
  function wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const enter = (): void => {
        signal.removeEventListener('abort', give)
        inside++
        resolve()
      }
      const give = (): void => {
        waiting.delete(enter)
        reject(signal.reason as Error)
      }
      waiting.add(enter)
      signal.addEventListener('abort', give, { once: true })
    })
  }
}

/** One slot for each name. */
export function createLanes(maxWaiting: number) {
  const lanes = new Map<string, Slots>()
  return {
    async enter(name: string, signal: AbortSignal): Promise<() => void> {
      const lane = lanes.get(name) ?? createSlots(1, maxWaiting)
      lanes.set(name, lane)
      const leave = await lane.enter(signal)
      return () => {
        leave()
        if (lane.empty) lanes.delete(name)
      }
    },
  }
}
