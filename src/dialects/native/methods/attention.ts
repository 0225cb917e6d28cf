import { z } from 'zod'
import { RawJson, Streaming } from '../../../transports/jsonrpc.ts'
import { method } from '../method.ts'
import { viewSession } from '../views.ts'
import * as wire from '../wire.ts'

const { sessionId } = wire

export const attentionMethods = [
  method({
    name: 'session.mark',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary:
      'Notes what you think of a session: read up to here, pinned, snoozed, settled, flags. What is not given stays. `session.marked` tells everybody. A new message takes `settled` and a snooze back; a question ends a snooze.',
    params: wire.markParams,
    result: wire.sessionView,
    handler: async (params, { engine }) => viewSession(await engine.sessions.mark(params)),
  }),
  method({
    name: 'session.watch',
    scope: 'read',
    repeat: 'never',
    errors: [],
    summary:
      'The list of sessions, and then what changes in it, as `sessions` notifications: whole rows of the sessions that have changed, at most ten times a second, and how many sessions there are of each kind. After a lost connection watch again: the answer has all there is.',
    streaming: 'sessions',
    params: wire.watchParams,
    result: wire.watched,
    async handler(params, { engine, watches }) {
      const { id: watchId, snapshot, start } = await watches.open(params)
      const { rows, ...rest } = snapshot
      const head = JSON.stringify({ watchId, log: engine.events.logId, ...rest })
      return new Streaming(new RawJson(`${head.slice(0, -1)},"sessions":[${rows.join(',')}]}`), start)
    },
  }),
  method({
    name: 'session.unwatch',
    scope: 'read',
    repeat: 'idempotent',
    errors: [],
    summary: 'Ends a `session.watch`.',
    params: z.strictObject({ watchId: z.string() }),
    result: z.object({ closed: z.boolean() }),
    handler: (params, { watches }) => ({ closed: watches.close(params.watchId) }),
  }),
  method({
    name: 'draft.set',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'conflict'],
    summary:
      'Keeps what you have typed and not sent: one text for each session, the same on every screen. `session.drafted` tells everybody. With a `revision` that is not the current one it ends with `conflict`, unless the text is the same; `data` has the draft as it is then. When you have sent it, set an empty one.',
    params: wire.draftParams,
    result: z.object({ revision: z.number(), updatedAt: wire.time }),
    handler: (params, { engine }) => engine.unsent.set(params),
  }),
  method({
    name: 'draft.get',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'What somebody has typed in a session and not sent.',
    params: z.strictObject({ sessionId }),
    result: wire.draft,
    handler: (params, { engine }) => engine.unsent.get(params.sessionId),
  }),
]
