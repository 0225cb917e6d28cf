import type { RelayEvents } from '../events.ts'
import type { Pool } from '../pool.ts'
import type { Talk, Talks } from './talks.ts'

interface SessionRoutesDeps {
  talks: Talks
  pool: Pool
  events: Pick<RelayEvents, 'add'>
  now: () => number
}

/** What clients may do with a sticky session beside calling it. */
export interface SessionRoutes {
  /** There is no half-written prompt here that could be cleared: a call has all of it. */
  clearPrompt(id: string): object
  /** Forgets what was said, and has a process ready for what comes. */
  reset(id: string): Promise<object>
  /** False: there is none. */
  forget(id: string): boolean
  /** Removes those that nobody has used for this long. */
  expire(idleMs: number): void
}

const READY_MS = 30_000

export function createSessionRoutes({ talks, pool, events, now }: SessionRoutesDeps): SessionRoutes {
  function drop(talk: Talk, type: 'session.reset' | 'session.expired'): void {
    talks.drop(talk)
    events.add({ type, sessionId: talk.stickyId ?? talk.sessionId })
  }

  return {
    clearPrompt(id) {
      const known = talks.sticky(id) !== null
      const cleared = { prompt: true, staged: 0, attachments: 0 }
      return {
        ok: true,
        session_id: id,
        cleared,
        ...(!known && { note: 'no active session for this id' }),
      }
    },
    async reset(id) {
      const startedAt = now()
      const talk = talks.sticky(id)
      if (talk) drop(talk, 'session.reset')
      await pool.ready(READY_MS)
      return { ok: true, session_id: id, latency_ms: now() - startedAt }
    },
    forget(id) {
      const talk = talks.sticky(id)
      if (talk) drop(talk, 'session.reset')
      return talk !== null
    },
    expire(idleMs) {
      const before = now() - idleMs
      for (const talk of talks.list()) {
        if (!talk.busy && talk.usedAt < before) drop(talk, 'session.expired')
      }
    },
  }
}
