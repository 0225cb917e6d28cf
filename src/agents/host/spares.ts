import { once } from 'node:events'
import { rmSync, statSync } from 'node:fs'
import type { SpareCounts } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { AgentDriver, SpareKind } from '../agent.ts'
import type { HostDeps } from './deps.ts'
import type { Launcher } from './launcher.ts'
import { signalGroup } from './process.ts'
import { runFiles, type Launched } from './wrapper.ts'

/** How long after a spare was taken the next one is started: the session that took it comes first. */
export const REFILL_MS = 1000
const KILL_MS = 1000
/** How often a process that starts is looked at, and for how long. */
const LOOK_MS = 25
const START_MS = 60_000

interface SparesDeps extends Pick<HostDeps, 'catalog' | 'newId' | 'warn'> {
  launch: Launcher
  /** Where a spare waits until it knows its directory. */
  parkingDir: string
}

/** Spares of one agent and one kind. */
interface Pool {
  agent: string
  kind: SpareKind
  size: number
  refillMs: number
  waiting: Launched[]
  starting: number
  /** Those that were started in an earlier one are of no use. */
  era: number
}

/** A process that waits to become a session's, and what it was started as. */
export interface Spare extends Launched {
  kind: SpareKind
}

/**
 * Processes that wait for their sessions. Nothing about them is written down: a daemon that dies leaves them to be swept.
 */
export class Spares {
  readonly #deps: SparesDeps
  readonly #pools = new Map<string, Pool>()
  readonly #starts = new Set<Promise<void>>()
  #filling = false
  #ended = false

  constructor(deps: SparesDeps) {
    this.#deps = deps
  }

  /** From now on so many of this kind wait; those that are too many end. */
  keep(agent: string, kind: SpareKind, size: number, refillMs = REFILL_MS): void {
    const key = keyOf(agent, kind)
    const pool = this.#pools.get(key) ?? { agent, kind, size, refillMs, waiting: [], starting: 0, era: 0 }
    pool.size = size
    if (size > 0) this.#pools.set(key, pool)
    else this.#pools.delete(key)
    for (const launched of pool.waiting.splice(size)) void this.#drop(launched)
    if (this.#filling) this.#fillUp(pool)
  }

  count(agent: string, kind: SpareKind): SpareCounts {
    const pool = this.#pools.get(keyOf(agent, kind))
    return { idle: pool?.waiting.length ?? 0, starting: pool?.starting ?? 0 }
  }

  /** One that can become this session; null when there is none. */
  take(session: Session, driver: AgentDriver): Spare | null {
    const fitting = [...this.#pools.values()].filter(
      ({ agent, kind }) => agent === driver.name && driver.spare?.claimable(session, kind),
    )
    // One that has been told more has less to do.
    fitting.sort((a, b) => Number(isTold(b.kind)) - Number(isTold(a.kind)))
    const pool = fitting.find(({ waiting }) => waiting.length > 0)
    const launched = pool?.waiting.shift()
    if (!pool || !launched) return null
    this.#fillLater(pool)
    return { ...launched, kind: pool.kind }
  }

  /** They were started with what does not hold any more: others take their places. */
  renew(agents: readonly string[]): void {
    for (const pool of this.#pools.values()) {
      if (!agents.includes(pool.agent)) continue
      pool.era += 1
      for (const launched of pool.waiting.splice(0)) void this.#drop(launched)
      if (this.#filling) this.#fillLater(pool)
    }
  }

  /** Starts what is missing. */
  fill(): void {
    this.#filling = true
    for (const pool of this.#pools.values()) this.#fillUp(pool)
  }

  /** Resolves when they are gone. */
  async end(): Promise<void> {
    this.#ended = true
    const waiting = [...this.#pools.values()].flatMap((pool) => pool.waiting.splice(0))
    await Promise.all([...this.#starts, ...waiting.map((launched) => this.#drop(launched))])
  }

  #fillLater(pool: Pool): void {
    setTimeout(() => this.#fillUp(pool), pool.refillMs).unref()
  }

  #fillUp(pool: Pool): void {
    while (!this.#ended && pool.starting + pool.waiting.length < pool.size) {
      pool.starting++
      const started = this.#start(pool)
        .catch((error) => this.#deps.warn(`starting a spare ${pool.agent}`, error))
        .finally(() => {
          pool.starting--
          this.#starts.delete(started)
        })
      this.#starts.add(started)
    }
  }

  async #start(pool: Pool): Promise<void> {
    const { catalog, launch, parkingDir, newId } = this.#deps
    const { spare } = catalog.driver(pool.agent)
    const detection = spare ? await catalog.detect(pool.agent) : null
    if (!spare || !detection?.installed || this.#ended) return
    const plan = spare.plan(detection, pool.kind, parkingDir, newId)
    if (!plan) return
    const { era } = pool
    const launched = await launch(plan, pool.agent)
    if (pool.kind.cwd !== null) await isUp(launched, () => this.#ended)
    const unfit = era !== pool.era || isGone(launched)
    if (this.#ended || unfit || pool.waiting.length >= pool.size) return this.#drop(launched)
    pool.waiting.push(launched)
    launched.child.once('exit', () => {
      const at = pool.waiting.indexOf(launched)
      if (at < 0) return
      pool.waiting.splice(at, 1)
      void this.#drop(launched)
    })
  }

  #drop(launched: Launched): Promise<void> {
    return discard(launched).catch((error) => this.#deps.warn('ending a spare', error))
  }
}

function keyOf(agent: string, { cwd, ownTools, questions = true, told }: SpareKind): string {
  return JSON.stringify([agent, cwd, ownTools, questions, told?.systemPrompt, told?.model])
}

function isTold({ told }: SpareKind): boolean {
  return told !== undefined
}

export function isGone({ child }: Pick<Launched, 'child'>): boolean {
  return child.exitCode !== null || child.signalCode !== null
}

/** It has said something: only then it is warm. */
async function isUp(launched: Launched, enough: () => boolean): Promise<void> {
  const { journal } = runFiles(launched.dir)
  const until = Date.now() + START_MS
  while (!enough() && !isGone(launched) && Date.now() < until && statSync(journal).size === 0) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS))
  }
}

/** Ends a process that never became a session's; resolves when it is gone and its files are removed. */
export async function discard({ dir, child }: Launched): Promise<void> {
  const gone = isGone({ child }) ? null : once(child, 'exit')
  signalGroup(child.pid!, 'SIGTERM')
  const killer = setTimeout(() => signalGroup(child.pid!, 'SIGKILL'), KILL_MS)
  await gone
  clearTimeout(killer)
  signalGroup(child.pid!, 'SIGKILL')
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
}
