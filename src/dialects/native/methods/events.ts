import { z } from 'zod'
import type { Engine } from '../../../core/api.ts'
import { step } from '../../../core/conversation/conversation.ts'
import { CorralError } from '../../../core/error.ts'
import type { LoggedEvent } from '../../../core/event.ts'
import type { ConversationPart } from '../../../core/lineage.ts'
import { RawJson, Streaming } from '../../../transports/jsonrpc.ts'
import { historyItem, ITEM_TYPES, SILENT_TYPES, type RanWith } from '../history.ts'
import { method } from '../method.ts'
import type { HistoryItem } from '../wire.ts'
import * as wire from '../wire.ts'

const PAGE_BYTES = 4 * 1024 ** 2
const { sessionId } = wire
const logRange = { log: z.string(), head: wire.cursor, oldest: wire.cursor }

function rangeOf(engine: Engine): { log: string; head: number; oldest: number } {
  return { log: engine.events.logId, head: engine.events.head, oldest: engine.events.oldest }
}

/** A cursor is a log and a `seq`; one of another log, or of a future that never came, means nothing here. */
function checkCursor(engine: Engine, log: string | undefined, seq: number): void {
  if ((log === undefined || log === engine.events.logId) && seq <= engine.events.head) return
  throw new CorralError('cursor_reset', 'this cursor belongs to another log: start over', rangeOf(engine))
}

/** As many as fit a page: the first ones, or the last ones of a page that was read backwards. */
function fitting(events: LoggedEvent[], backwards: boolean): LoggedEvent[] {
  let bytes = 0
  const fits = (event: LoggedEvent): boolean => (bytes += event.json.length) <= PAGE_BYTES
  if (!backwards) {
    const end = events.findIndex((event) => !fits(event))
    return end < 0 ? events : events.slice(0, Math.max(end, 1))
  }
  const start = events.findLastIndex((event) => !fits(event))
  return start < 0 ? events : events.slice(Math.min(start + 1, events.length - 1))
}

export const eventMethods = [
  method({
    name: 'events.read',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'cursor_reset'],
    summary: 'Reads the log, ascending by `seq`: on from `after`, or the last ones before `before`.',
    params: z.strictObject({
      after: wire.cursor.exactOptional(),
      before: wire.cursor.exactOptional(),
      log: z.string().exactOptional().describe('the log that the cursor belongs to'),
      sessionId: sessionId.exactOptional(),
      turnId: wire.turnId.exactOptional(),
      types: wire.eventTypes.exactOptional(),
      whole: z.boolean().default(false).describe('leave deltas out'),
      own: z.boolean().exactOptional().describe('without what has happened on other machines'),
      limit: z.int().min(1).max(1000).default(200),
    }),
    result: z.object({ ...logRange, more: z.boolean(), events: z.array(wire.event) }),
    handler({ log, ...query }, { engine }) {
      checkCursor(engine, log, query.after ?? 0)
      const backwards = query.before !== undefined && query.after === undefined
      const found = engine.events.read(query)
      const events = fitting(found, backwards)
      const more = found.length === query.limit || events.length < found.length
      const head = JSON.stringify({ ...rangeOf(engine), more })
      return new RawJson(`${head.slice(0, -1)},"events":[${events.map((event) => event.json).join(',')}]}`)
    },
  }),
  method({
    name: 'history.read',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'cursor_reset'],
    summary:
      'The conversation in order, without deltas; the last `limit` items, or those before `before`. That of a session that branched off begins with what was said before.',
    params: z.strictObject({
      sessionId,
      before: wire.cursor.exactOptional().describe('`next` of the page after'),
      ancestors: z
        .boolean()
        .default(true)
        .describe('with what was said in the sessions that it branched off'),
      limit: z.int().min(1).max(500).default(100),
    }),
    result: z.object({
      ...logRange,
      items: z.array(wire.historyItem),
      next: wire.cursor.nullable().describe('`before` for the items before these; null at the beginning'),
    }),
    handler({ sessionId: id, limit, ancestors, before }, { engine }) {
      const range = rangeOf(engine)
      const parts = engine.sessions.lineage(id)
      const shown = ancestors ? parts : parts.slice(-1)
      return { ...range, ...lastItems(engine, shown, before ?? range.head + 1, limit) }
    },
  }),
  method({
    name: 'events.subscribe',
    scope: 'read',
    repeat: 'never',
    errors: ['session_not_found', 'cursor_reset', 'queue_full'],
    summary:
      'Events after a cursor, first from the log, then live, as `events` notifications. No gap, no repeat.',
    streaming: 'events',
    params: z.strictObject({
      after: z
        .union([wire.cursor, z.literal('now')])
        .default('now')
        .describe('the last `seq` that the client has'),
      log: z.string().exactOptional().describe('the log that the cursor belongs to'),
      sessionId: sessionId.exactOptional(),
      types: wire.eventTypes.exactOptional(),
      own: z.boolean().exactOptional().describe('without what has happened on other machines'),
    }),
    result: z.object({
      subscriptionId: z.string(),
      log: z.string(),
      after: wire.cursor,
      gap: z.boolean().describe('events between the cursor and the first one are gone for good'),
    }),
    handler({ after: wanted, log, ...filter }, { engine, feed }) {
      const after = wanted === 'now' ? engine.events.head : wanted
      checkCursor(engine, log, after)
      if (filter.sessionId !== undefined) engine.sessions.get(filter.sessionId)
      const { id, start } = feed.open({ ...filter, after })
      const gap = after + 1 < engine.events.oldest
      return new Streaming({ subscriptionId: id, log: engine.events.logId, after, gap }, start)
    },
  }),
  method({
    name: 'events.unsubscribe',
    scope: 'read',
    repeat: 'idempotent',
    errors: [],
    summary: 'Ends a subscription.',
    params: z.strictObject({ subscriptionId: z.string() }),
    result: z.object({ closed: z.boolean() }),
    handler: (params, { feed }) => ({ closed: feed.close(params.subscriptionId) }),
  }),
  method({
    name: 'bookmark.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'Up to where a client has certainly read turns of its own, for adapters that answer for others.',
    params: z.strictObject({ owner: wire.origin, sessionId }),
    result: z.object({
      bookmarks: z.array(z.object({ owner: z.string(), sessionId, turnId: wire.turnId, seq: wire.cursor })),
    }),
    handler: (params, { engine }) => ({ bookmarks: engine.bookmarks.list(params.owner, params.sessionId) }),
  }),
  method({
    name: 'bookmark.set',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'turn_not_found'],
    summary: 'Keeps a bookmark.',
    params: z.strictObject({ owner: wire.origin, sessionId, turnId: wire.turnId, seq: wire.cursor }),
    result: z.object({}),
    async handler(params, { engine }) {
      await engine.bookmarks.set(params)
      return {}
    },
  }),
  method({
    name: 'bookmark.delete',
    scope: 'use',
    repeat: 'idempotent',
    errors: [],
    summary: 'Drops a bookmark.',
    params: z.strictObject({ owner: wire.origin, turnId: wire.turnId }),
    result: z.object({}),
    async handler(params, { engine }) {
      await engine.bookmarks.remove(params.owner, params.turnId)
      return {}
    },
  }),
]

/** The last items before a place, read from the newest part of the conversation backwards. */
function lastItems(engine: Engine, parts: readonly ConversationPart[], place: number, limit: number) {
  const items: HistoryItem[] = []
  let next: number | null = null
  for (const { session, until } of parts.toReversed()) {
    const before = Math.min(next ?? place, until + 1)
    const query = { sessionId: session.id, before, types: ITEM_TYPES, whole: true }
    const left = limit - items.length
    const found = engine.events.read({ ...query, limit: left })
    const page = fitting(found, true)
    const [first] = page
    if (!first) continue
    items.unshift(...itemsOf(engine, session.id, page, before))
    next = first.seq
    if (found.length === left || page.length < found.length) return { items, next }
  }
  return { items, next: null }
}

/** The items that these events make, which are all of `ITEM_TYPES` between the first one and `before`. */
function itemsOf(engine: Engine, id: string, page: LoggedEvent[], before: number): HistoryItem[] {
  const [first] = page
  if (!first) return []
  const conversation = engine.sessions.conversationAt(id, { seq: first.seq - 1, at: first.event.at })
  const silent = engine.events.read({
    sessionId: id,
    after: first.seq,
    before,
    types: SILENT_TYPES,
    whole: true,
    limit: Number.MAX_SAFE_INTEGER,
  })
  const events = [...page, ...silent].sort((a, b) => a.seq - b.seq)
  return events.flatMap(({ event }) =>
    step(conversation, event).flatMap((change) => historyItem(change, event, ranWith(engine)) ?? []),
  )
}

/** Retention may have removed the turn. */
function ranWith(engine: Engine): RanWith {
  return (id) => {
    try {
      return engine.turns.get(id)
    } catch {
      return null
    }
  }
}
