import { once } from 'node:events'
import { rmSync } from 'node:fs'
import type { LaunchPlan } from '../agent.ts'
import type { Catalog } from '../catalog.ts'
import { signalGroup } from './process.ts'
import type { Launched } from './wrapper.ts'

/** How long after a spare was taken the next one is started: the session that took it comes first. */
const REFILL_MS = 1000
const KILL_MS = 1000

interface SparesDeps {
  /** null: no spares are wanted. */
  drivers: Catalog | null
  /** Starts a process and tells it its greeting. */
  launch: (plan: LaunchPlan) => Promise<Launched>
  /** Where a spare waits until it knows its directory. */
  parkingDir: string
  newId: () => string
  warn: (message: string, error: unknown) => void
}

/**
 * One waiting process per agent that can wait. Nothing about it is written down: a daemon that dies leaves it to be swept.
 */
export interface Spares {
  take(agent: string): Launched | null
  fill(): void
  /** Resolves when they are gone. */
  end(): Promise<void>
}

export function createSpares({ drivers, launch, parkingDir, newId, warn }: SparesDeps): Spares {
  const waiting = new Map<string, Launched>()
  let ended = false

  async function start(catalog: Catalog, agent: string): Promise<void> {
    const { spare } = catalog.driver(agent)
    if (!spare || waiting.has(agent) || ended) return
    const detection = await catalog.detect(agent)
    if (!detection.installed) return
    const launched = await launch(spare.plan(detection, parkingDir, newId))
    if (ended) return drop(launched)
    waiting.set(agent, launched)
    launched.child.once('exit', () => {
      if (waiting.get(agent) !== launched) return
      waiting.delete(agent)
      void drop(launched)
    })
  }

  function drop(launched: Launched): Promise<void> {
    return discard(launched).catch((error) => warn('ending a spare', error))
  }

  function fill(): void {
    for (const agent of drivers?.names() ?? []) {
      start(drivers!, agent).catch((error) => warn(`starting a spare ${agent}`, error))
    }
  }

  return {
    take(agent) {
      const launched = waiting.get(agent) ?? null
      waiting.delete(agent)
      if (launched) setTimeout(fill, REFILL_MS).unref()
      return launched
    },
    fill,
    async end() {
      ended = true
      const last = [...waiting.values()]
      waiting.clear()
      await Promise.all(last.map(drop))
    },
  }
}

/** Ends a process that never became a session's; resolves when it is gone and its files are removed. */
export async function discard({ dir, child }: Launched): Promise<void> {
  const gone = child.exitCode !== null || child.signalCode !== null ? null : once(child, 'exit')
  signalGroup(child.pid!, 'SIGTERM')
  const killer = setTimeout(() => signalGroup(child.pid!, 'SIGKILL'), KILL_MS)
  await gone
  clearTimeout(killer)
  signalGroup(child.pid!, 'SIGKILL')
  rmSync(dir, { recursive: true, force: true, maxRetries: 5 })
}
