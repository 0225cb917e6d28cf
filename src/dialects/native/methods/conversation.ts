import { z } from 'zod'
import type { Engine } from '../../../core/api.ts'
import { CONVERSATION_TYPES, emptyConversation } from '../../../core/conversation/conversation.ts'
import { partsOf } from '../../../core/conversation/parts.ts'
import { joinedPieces, slim, slimParts } from '../../../core/conversation/slim.ts'
import type { Event, LoggedEvent } from '../../../core/event.ts'
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
      'The events of the newest part of a conversation, or of the part before `before`, and what was under way when it began: a client folds them as the daemon does, and goes on with `events.subscribe` after `seq`. Outputs of tools, long inputs and large pictures are left out; `events.read` has them. Pieces of a message that is not complete are one event.',
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
      under: wire.conversationParts,
      events: z.array(wire.event),
      next: wire.cursor.nullable().describe('`before` for the part before this one; null at the beginning'),
      queue: z.array(z.string()).describe('ids of the messages that wait now, in order'),
      plan: z
        .array(wire.planEntry)
        .nullable()
        .describe("the agent's plan, as it was at the end of this part"),
    }),
    handler(params, { engine }) {
      const { queue } = engine.sessions.get(params.sessionId)
      const { head, logId: log } = engine.events
      const end = params.before ?? head + 1
      const first = firstOf(engine, params.sessionId, end, params.limit)
      return {
        log,
        seq: end - 1,
        ...pageOf(engine, params.sessionId, first, { end, whole: params.before !== undefined }),
        next: first && hasBefore(engine, params.sessionId, first.seq) ? first.seq : null,
        queue,
        plan: planAt(engine, params.sessionId, end),
      }
    },
  }),
]

/** Where a page of this many items begins. */
function firstOf(engine: Engine, id: string, before: number, limit: number): LoggedEvent | undefined {
  const query = { sessionId: id, before, types: ITEM_TYPES, whole: true, limit, maxBytes: PAGE_BYTES }
  return engine.events.read(query)[0]
}

function hasBefore(engine: Engine, id: string, before: number): boolean {
  return engine.events.read({ sessionId: id, before, types: ITEM_TYPES, whole: true, limit: 1 }).length > 0
}

function pageOf(
  engine: Engine,
  id: string,
  first: LoggedEvent | undefined,
  { end, whole }: { end: number; whole: boolean },
) {
  const after = first ? first.seq - 1 : 0
  const under = first
    ? engine.sessions.conversationAt(id, { seq: after, at: first.event.at })
    : emptyConversation()
  const query = { sessionId: id, after, before: end, types: CONVERSATION_TYPES, whole }
  const events = engine.events.read({ ...query, limit: Number.MAX_SAFE_INTEGER }).map(({ event }) => event)
  const isOpen = openIn(engine, id)
  return {
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
