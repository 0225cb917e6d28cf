import { z } from 'zod'
import type { Engine } from '../../../core/api.ts'
import { CONVERSATION_TYPES, emptyConversation } from '../../../core/conversation/conversation.ts'
import { partsOf } from '../../../core/conversation/parts.ts'
import { joinedPieces, slim, slimParts } from '../../../core/conversation/slim.ts'
import type { Event, LoggedEvent } from '../../../core/event.ts'
import type { ConversationPart } from '../../../core/lineage.ts'
import { ITEM_TYPES } from '../history.ts'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const { sessionId } = wire
/** Of what is read for one page; what is sent is a small part of it. */
const PAGE_BYTES = 16 * 1024 ** 2
const MAX_OPEN = 500

export const conversationMethods = [
  method({
    name: 'conversation.read',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'The events of the newest part of a conversation, or of the part before `before`, and what was under way when it began: a client folds them as the daemon does, and goes on with `events.subscribe` after `seq`. Parts of what a session branched off come before its own. Outputs of tools, long inputs and large pictures are left out; `events.read` has them. Pieces of a message that is not complete are one event.',
    params: z.strictObject({
      sessionId,
      before: wire.cursor.exactOptional().describe('`next` of the page after'),
      limit: z
        .int()
        .min(1)
        .max(2000)
        .default(200)
        .describe('messages, calls and the like; a page may have a few events more'),
    }),
    result: z.object({
      log: z.string(),
      seq: wire.cursor.describe('the last event of the log that is considered'),
      of: sessionId.describe('the session that these are events of: this one, or one that it branched off'),
      under: wire.conversationParts,
      events: z.array(wire.event),
      next: wire.cursor.nullable().describe('`before` for the part before this one; null at the beginning'),
      queue: z.array(z.string()).describe('ids of the messages that wait now, in order'),
      plan: z
        .array(wire.planEntry)
        .nullable()
        .describe("the agent's plan, as it was at the end of this part"),
    }),
    handler({ sessionId: id, before, limit }, { engine }) {
      const { queue } = engine.sessions.get(id)
      const { head, logId: log } = engine.events
      const end = before ?? head + 1
      const parts = engine.sessions.lineage(id)
      // What happens from now on goes on from the newest part: it is of the session itself, even if there is nothing in it.
      const page = pageBefore(engine, before === undefined ? parts.slice(-1) : parts, end, limit)
      const start = page?.first.seq ?? end
      return {
        log,
        seq: end - 1,
        ...contentsOf(engine, page ?? { sessionId: id, first: null, end }, before !== undefined),
        next: hasItems(engine, parts, start) ? start : null,
        queue,
        plan: planAt(engine, id, end),
      }
    },
  }),
]

/** Events of one session, from an item on. */
interface Page {
  sessionId: string
  first: LoggedEvent | null
  end: number
}

/** The last items before an event: those of the session, or else of the nearest that it branched off. */
function pageBefore(engine: Engine, parts: readonly ConversationPart[], before: number, limit: number) {
  for (const { session, until } of parts.toReversed()) {
    const end = Math.min(before, until + 1)
    const [first] = itemsBefore(engine, session.id, end, limit)
    if (first) return { sessionId: session.id, first, end }
  }
  return null
}

function hasItems(engine: Engine, parts: readonly ConversationPart[], before: number): boolean {
  return pageBefore(engine, parts, before, 1) !== null
}

function itemsBefore(engine: Engine, sessionId: string, before: number, limit: number): LoggedEvent[] {
  const query = { sessionId, before, types: ITEM_TYPES, whole: true, limit, maxBytes: PAGE_BYTES }
  return engine.events.read(query)
}

function contentsOf(engine: Engine, { sessionId: id, first, end }: Page, whole: boolean) {
  const after = first ? first.seq - 1 : 0
  const under = first
    ? engine.sessions.conversationAt(id, { seq: after, at: first.event.at })
    : emptyConversation()
  const query = { sessionId: id, after, before: end, types: CONVERSATION_TYPES, whole }
  const events = engine.events.read({ ...query, limit: Number.MAX_SAFE_INTEGER }).map(({ event }) => event)
  const isOpen = openIn(engine, id)
  return {
    of: id,
    under: slimParts(partsOf(under)),
    events: joinedPieces(events).map((event) => slim(event, isOpen)),
  }
}

function openIn(engine: Engine, id: string): (approvalId: string) => boolean {
  const open = new Set(
    engine.approvals.list({ sessionId: id, open: true, limit: MAX_OPEN }).map((row) => row.id),
  )
  return (approvalId) => open.has(approvalId)
}

function planAt(engine: Engine, id: string, before: number) {
  const found = engine.events.read({ sessionId: id, before, types: ['agent.plan'], whole: true, limit: 1 })[0]
  const event: Event | undefined = found?.event
  return event?.type === 'agent.plan' ? event.entries : null
}
