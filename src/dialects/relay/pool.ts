import type { SpareCounts } from '../../core/ports.ts'
import type { Place } from './sessions/launch.ts'
import type { Talks } from './sessions/talks.ts'

/** Processes that wait for sessions, as the host keeps them. */
export interface Spares {
  keep(agent: string, kind: { cwd: string; ownTools: boolean }, size: number, refillMs?: number): void
  count(agent: string, kind: { cwd: string; ownTools: boolean }): SpareCounts
}

interface PoolDeps {
  spares: Spares
  talks: Pick<Talks, 'list'>
  place: () => Place
  /** How many wait for the next calls. */
  size: () => number
  /** Whether they wait although nobody has called for long. */
  prewarm: () => boolean
  now: () => number
  idleMs: number
  changed: (counts: PoolCounts) => void
}

export interface PoolCounts {
  idle: number
  active: number
  spawning: number
}

export interface Pool {
  counts(): PoolCounts
  /** A call needs a process: others will follow. */
  wanted(): void
  /** Starts up to so many; resolves when they wait, or after `timeoutMs`. */
  warm(count: number, timeoutMs: number): Promise<PoolCounts>
  /** Resolves when one waits, or after `timeoutMs`; at once where none can. */
  ready(timeoutMs: number): Promise<void>
  /** Settings may have changed, or nobody may have called for long. */
  tend(): void
}

/** The session that took one comes first; the next is started soon after. */
const REFILL_MS = 250
/** So long the first call has the machine to itself. */
const START_MS = 1000
const LOOK_MS = 10

/** Agents that wait, so that a call is answered at once. Empty until somebody calls, unless the settings want it filled. */
export function createPool({ spares, talks, place, size, prewarm, now, idleMs, changed }: PoolDeps): Pool {
  let wantedAt = -Infinity
  let soon: NodeJS.Timeout | undefined
  let kept: { agent: string; cwd: string; ownTools: boolean; size: number } | null = null

  const counts = (): PoolCounts => {
    const { agent, cwd, ownTools } = place()
    const { idle, starting } = spares.count(agent, { cwd, ownTools })
    return { idle, active: talks.list().length, spawning: starting }
  }

  function keep(count: number): void {
    const { agent, cwd, ownTools } = place()
    const same = kept?.agent === agent && kept.cwd === cwd && kept.ownTools === ownTools
    if (kept && !same) spares.keep(kept.agent, kept, 0)
    if (same && kept!.size === count) return
    kept = { agent, cwd, ownTools, size: count }
    spares.keep(agent, { cwd, ownTools }, count, REFILL_MS)
    changed(counts())
  }

  function tend(): void {
    const needed = prewarm() || now() - wantedAt < idleMs
    if (needed || kept) keep(needed ? Math.max(size(), 0) : 0)
  }

  async function until(done: () => boolean, timeoutMs: number): Promise<void> {
    const end = now() + timeoutMs
    while (!done() && now() < end) await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }

  return {
    counts,
    tend,
    wanted() {
      wantedAt = now()
      if (kept && kept.size > 0) return
      clearTimeout(soon)
      soon = setTimeout(tend, START_MS).unref()
    },
    async ready(timeoutMs) {
      wantedAt = now()
      tend()
      await until(() => {
        const { idle, spawning } = counts()
        return idle > 0 || spawning === 0
      }, timeoutMs)
    },
    async warm(count, timeoutMs) {
      wantedAt = now()
      keep(count)
      await until(() => counts().idle >= count, timeoutMs)
      return counts()
    },
  }
}
