import type { SpareCounts } from '../core/ports.ts'
import type { SpareKind, Spares, Briefing } from './ports.ts'
import type { SessionSetup } from './sessions/launch.ts'

interface PoolDeps {
  spares: Spares
  /** Sessions with a name, and calls that stand for themselves and are not over. */
  active: () => number
  setup: () => SessionSetup
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
  /** A call needs a process, and others will follow. Null: its agent is told more beforehand. */
  wanted(told: Briefing | null): void
  /** Starts up to so many; resolves when they wait, or after `timeoutMs`. */
  warm(count: number, timeoutMs: number): Promise<PoolCounts>
  /** Resolves when one waits, or after `timeoutMs`; at once where none can. */
  ready(timeoutMs: number): Promise<void>
  /** Settings may have changed, or nobody may have called for long. */
  tend(): void
}

/** Those of one kind that are kept at the moment. */
interface Kept {
  agent: string
  kind: SpareKind
  size: number
}

/** The session that took one comes first; the next is started soon after. */
const REFILL_MS = 250
/** So long the first call has the machine to itself. */
const START_MS = 1000
const LOOK_MS = 10

/**
 * Agents that wait, so that a call is answered at once. Empty until somebody calls, unless the settings want it filled.
 * Programs say the same thing first in every call: when it was the same twice, most of those that wait have been told it.
 */
export function createPool({ spares, active, setup, size, prewarm, now, idleMs, changed }: PoolDeps): Pool {
  let wantedAt = -Infinity
  let soon: NodeJS.Timeout | undefined
  let last: Briefing | null = null
  let expected: Briefing | null = null
  let kept: Kept[] = []

  const counts = (): PoolCounts => ({ ...countsOf(kept, spares), active: active() })

  function keep(count: number): void {
    const before = JSON.stringify(kept)
    const next = kinds(setup(), count, expected)
    for (const one of kept) if (!hasKind(next, one)) spares.keep(one.agent, one.kind, 0)
    kept = next
    for (const one of next) spares.keep(one.agent, one.kind, one.size, REFILL_MS)
    if (JSON.stringify(next) !== before) changed(counts())
  }

  function tend(): void {
    const needed = prewarm() || now() - wantedAt < idleMs
    if (needed || kept.length > 0) keep(needed ? size() : 0)
  }

  /** Until so many wait, or no more are to come. */
  async function until(count: number, timeoutMs: number): Promise<void> {
    const end = now() + timeoutMs
    for (let { idle, spawning } = counts(); idle < count && spawning > 0 && now() < end;) {
      await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
      ;({ idle, spawning } = counts())
    }
  }

  return {
    counts,
    tend,
    wanted(told) {
      wantedAt = now()
      const again = told !== null && same(told, last) && !same(told, expected)
      last = told
      if (again) expected = told
      if (kept.length > 0 && !again) return
      clearTimeout(soon)
      soon = setTimeout(tend, START_MS).unref()
    },
    async ready(timeoutMs) {
      wantedAt = now()
      tend()
      await until(1, timeoutMs)
    },
    async warm(count, timeoutMs) {
      wantedAt = now()
      keep(count)
      await until(count, timeoutMs)
      return counts()
    },
  }
}

function countsOf(kept: readonly Kept[], spares: Spares): Omit<PoolCounts, 'active'> {
  const all = kept.map(({ agent, kind }) => spares.count(agent, kind))
  const sum = (part: keyof SpareCounts): number => all.reduce((total, one) => total + one[part], 0)
  return { idle: sum('idle'), spawning: sum('starting') }
}

/** So many in all. When it is known what they will be told, most of them have been told it already. */
function kinds({ agent, cwd, ownTools }: SessionSetup, count: number, expected: Briefing | null): Kept[] {
  const kind = { cwd, ownTools, questions: false as const }
  const told = expected === null ? 0 : Math.min(count, Math.max(1, count - 1))
  return [
    { agent, kind, size: count - told },
    ...(expected === null ? [] : [{ agent, kind: { ...kind, told: expected }, size: told }]),
  ].filter(({ size }) => size > 0)
}

function hasKind(list: readonly Kept[], { agent, kind }: Kept): boolean {
  return list.some((one) => one.agent === agent && JSON.stringify(one.kind) === JSON.stringify(kind))
}

function same(one: Briefing, other: Briefing | null): boolean {
  return one.systemPrompt === other?.systemPrompt && one.model === other.model
}
