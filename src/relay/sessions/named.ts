import type { Pool } from '../pool.ts'
import type { RelayEvents } from '../records/events.ts'
import type { Memory } from './memory.ts'
import type { Talks } from './talks.ts'

interface NamedSessionsDeps {
  talks: Pick<Talks, 'sticky' | 'list' | 'drop'>
  memory: Pick<Memory, 'has' | 'forget' | 'begin' | 'expire'>
  pool: Pick<Pool, 'ready'>
  events: Pick<RelayEvents, 'add'>
  now: () => number
}

/** What clients may do with a sticky session beside calling it. */
export interface NamedSessions {
  has(id: string): boolean
  /** Forgets what was said, if there is such a session, and has a process ready for what comes. */
  reset(id: string): Promise<void>
  /** False: there is none. */
  forget(id: string): boolean
  /** Removes those that nobody has used for so long, and agents that have waited for results for so long. */
  expire(bounds: { idleMs: number; heldMs: number }): void
}

const READY_MS = 30_000

export function createNamedSessions({ talks, memory, pool, events, now }: NamedSessionsDeps): NamedSessions {
  /** Its agent goes, too. */
  function forgotten(id: string, type: 'session.reset' | 'session.expired'): void {
    const talk = talks.sticky(id)
    if (talk) talks.drop(talk)
    events.add({ type, sessionId: id })
  }

  function forget(id: string): boolean {
    const known = memory.forget(id)
    if (known) forgotten(id, 'session.reset')
    return known
  }

  return {
    has: memory.has,
    async reset(id) {
      forget(id)
      memory.begin(id)
      await pool.ready(READY_MS)
    },
    forget,
    expire({ idleMs, heldMs }) {
      for (const id of memory.expire(now() - idleMs)) forgotten(id, 'session.expired')
      for (const talk of talks.list()) {
        const { busy, calls, usedAt, stickyId, sessionId } = talk
        const longest = calls.length > 0 ? Math.min(heldMs, idleMs) : idleMs
        if (busy || usedAt >= now() - longest) continue
        // What was said in a session with a name is remembered: another agent can be told.
        talks.drop(talk)
        if (stickyId === null) events.add({ type: 'session.expired', sessionId })
      }
    },
  }
}
