import { setTimeout as delay } from 'node:timers/promises'
import type { AgentModel } from './event.ts'
import type { AgentCatalog, AgentHost, Clock, Log } from './ports.ts'

/** How long a caller waits for an agent that is asked; what it tells later is for the next caller. */
const WAIT_MS = 5000
/** An agent that did not tell is left alone for this long. */
const AGAIN_MS = 5 * 60_000

export interface ModelsDeps {
  log: Pick<Log, 'models' | 'append'>
  catalog: Pick<AgentCatalog, 'names'>
  clock: Clock
  warn: (message: string, error: unknown) => void
  waitMs?: number
}

export interface Models {
  /** What the agent has told last; if it never has, it is asked. Empty: it does not say, or not in time. */
  of(agent: string): Promise<AgentModel[]>
  /** From now on agents can be asked. */
  start(host: Pick<AgentHost, 'models'>): void
  stop(): void
}

export function createModels({ log, catalog, clock, warn, waitMs = WAIT_MS }: ModelsDeps): Models {
  /** When each was asked last, and what its callers wait for: one question at a time. */
  const asked = new Map<string, { at: number; answered: Promise<void> }>()
  let host: Pick<AgentHost, 'models'> | null = null

  async function ask(agent: string, agents: Pick<AgentHost, 'models'>): Promise<void> {
    try {
      const models = await agents.models(agent)
      // Somebody may install it, or sign in to it, at any time.
      if (models === null) asked.delete(agent)
      else if (models.length > 0) await log.append({ events: [], writes: [{ op: 'models', agent, models }] })
    } catch (error) {
      warn(`asking ${agent} for its models`, error)
    }
  }

  function inTime(work: Promise<void>): Promise<void> {
    return Promise.race([work, delay(waitMs, undefined, { ref: false })])
  }

  return {
    async of(agent) {
      const known = log.models(agent)
      if (known.length > 0 || host === null || !catalog.names().includes(agent)) return known
      const last = asked.get(agent)
      const isDue = !last || clock.now() - last.at >= AGAIN_MS
      const { answered } = isDue ? { answered: inTime(ask(agent, host)) } : last
      if (isDue) asked.set(agent, { at: clock.now(), answered })
      await answered
      return log.models(agent)
    },
    start: (agents) => void (host = agents),
    stop: () => void (host = null),
  }
}
