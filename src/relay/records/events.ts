import { createRing, type Ring } from './ring.ts'

/** What happens in the relay, beside the calls themselves. */
export type RelayEventBody =
  | { type: 'turn.started'; callId: string; sessionId: string | null; model: string }
  | { type: 'turn.finished'; callId: string; sessionId: string | null; status: 'success' | 'error' }
  | { type: 'license.refreshed'; valid: boolean; tier: string }
  | { type: 'pool.changed'; idle: number; active: number; spawning: number }
  | { type: 'session.created' | 'session.reset' | 'session.expired'; sessionId: string }

export type RelayEvent = RelayEventBody & { id: number; at: number }

/** An event, numbered by its own id. */
export interface NumberedEvent {
  seq: number
  event: RelayEvent
}

export interface RelayEvents {
  readonly ring: Ring<NumberedEvent>
  add(body: RelayEventBody): void
  /** Oldest first; after an id, those that follow it. */
  list(query?: { after?: number; limit?: number }): RelayEvent[]
  clear(): void
}

export interface RelayEventsOptions {
  now: () => number
  keep?: number
}

const KEEP = 1000

export function createRelayEvents({ now, keep = KEEP }: RelayEventsOptions): RelayEvents {
  const ring = createRing<NumberedEvent>(keep)
  return {
    ring,
    add(body) {
      const at = now()
      const seq = ring.nextSeq(at)
      ring.add({ seq, event: { id: seq, at, ...body } })
    },
    list({ after, limit = keep } = {}) {
      const from = after === undefined ? Math.max(ring.first, ring.end - limit) : ring.after(after)
      return ring.slice(from, from + limit).map(({ event }) => event)
    },
    clear: () => ring.clear(),
  }
}
