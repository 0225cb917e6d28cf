import type { ServerResponse } from 'node:http'
import { createRing } from './ring.ts'
import { createFeed } from './sse-feed.ts'

/** What happens in the relay, beside the calls themselves. */
export type RelayEventBody =
  | { type: 'turn.started'; callId: string; sessionId: string | null; model: string }
  | { type: 'turn.finished'; callId: string; sessionId: string | null; status: 'success' | 'error' }
  | { type: 'license.refreshed'; valid: boolean; tier: string }
  | { type: 'pool.changed'; idle: number; active: number; spawning: number }
  | { type: 'session.created' | 'session.reset' | 'session.expired'; sessionId: string }

export type RelayEvent = RelayEventBody & { id: number; at: number }

export interface RelayEvents {
  add(body: RelayEventBody): void
  /** Oldest first; after an id, those that follow it. */
  list(query?: { after?: number; limit?: number }): RelayEvent[]
  clear(): void
  /** The same as server-sent events; `lastEventId` as in the header. */
  stream(res: ServerResponse, lastEventId?: string): void
  close(): void
}

export interface RelayEventsOptions {
  now: () => number
  keep?: number
  keepAliveMs?: number
}

const KEEP = 1000

export function createRelayEvents({ now, keep = KEEP, ...pace }: RelayEventsOptions): RelayEvents {
  const ring = createRing<{ seq: number; event: RelayEvent }>(keep)
  const feed = createFeed({
    ring,
    frameOf: ({ event }) => `event: ${event.type}\nid: ${event.id}\ndata: ${JSON.stringify(event)}\n\n`,
    ...pace,
  })
  return {
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
    stream: (res, lastEventId) => feed.open(res, lastEventId),
    close: () => feed.close(),
  }
}
