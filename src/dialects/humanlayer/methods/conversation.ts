import { z } from 'zod'
import type { Engine } from '../../../core/api.ts'
import type { Session } from '../../../core/session.ts'
import { type ConversationView, createConversationView } from '../conversation.ts'
import { ENTRY_TYPES } from '../entries.ts'
import { WHOLE_TYPES } from '../following.ts'
import { findSession } from '../ids.ts'
import { HumanLayerError, method } from '../method.ts'
import { eventsOf } from '../reading.ts'
import { createFileReads, snapshotOf } from '../snapshots.ts'
import * as shapes from '../shapes.ts'
import * as wire from '../wire.ts'

export const conversationMethods = [
  method({
    name: 'getConversation',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'What was said and done in a session, after what was said and done in those that it came from.',
    params: wire.conversationParams,
    result: z.object({
      events: z.array(shapes.conversationEvent),
      next_since: z.number().exactOptional().describe('there is more: `since` of the next call'),
    }),
    heavy: true,
    async handler({ session_id, claude_session_id, since = 0, limit }, { engine }) {
      const rows = claude_session_id
        ? await byNativeId(engine, claude_session_id)
        : await withAncestors(engine, session_id)
      const newer = since > 0 ? rows.filter(({ id }) => id > since) : rows
      if (!limit || newer.length <= limit) return { events: newer }
      const events = newer.slice(0, limit)
      return { events, next_since: events.at(-1)!.id }
    },
  }),
  method({
    name: 'getSessionSnapshots',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'The files that the agent has read, as it saw them, the last one first.',
    params: wire.sessionParams,
    result: z.object({ snapshots: z.array(shapes.snapshot) }),
    heavy: true,
    async handler(params, { engine }) {
      const { id, cwd } = findSession(engine, params.session_id)
      const reads = createFileReads()
      for await (const page of eventsOf(engine, id, WHOLE_TYPES)) page.forEach(reads.add)
      const snapshots: shapes.Snapshot[] = []
      for (const read of reads.all.toReversed()) snapshots.push(await snapshotOf(read, cwd))
      return { snapshots }
    },
  }),
]

async function byNativeId(engine: Engine, nativeId: string): Promise<shapes.ConversationEvent[]> {
  const session = engine.sessions.byNativeId(nativeId)
  return session ? block(engine, session) : []
}

async function withAncestors(
  engine: Engine,
  sessionId: string | undefined,
): Promise<shapes.ConversationEvent[]> {
  if (!sessionId) throw wire.wrong('either session_id or claude_session_id is required', 'session_id')
  const rows: shapes.ConversationEvent[] = []
  for (const { session, until } of engine.sessions.lineage(named(engine, sessionId).id)) {
    rows.push(...(await block(engine, session, until)))
  }
  return rows
}

function named(engine: Engine, sessionId: string): Session {
  try {
    return findSession(engine, sessionId)
  } catch (error) {
    if (!(error instanceof HumanLayerError)) throw error
    throw new HumanLayerError(`failed to get conversation: ${error.message}`, error.data)
  }
}

async function block(engine: Engine, session: Session, until = Number.POSITIVE_INFINITY) {
  let view: ConversationView | null = null
  for await (const page of eventsOf(engine, session.id, ENTRY_TYPES)) {
    for (const event of page) {
      view ??= createConversationView(session, engine.sessions.conversationBefore(event))
      if (event.seq <= until) view.add(event)
    }
  }
  return view?.rows() ?? []
}
