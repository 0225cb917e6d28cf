import { z } from 'zod'
import { method, type Context } from '../method.ts'
import type { OpenSession } from '../open-session.ts'
import { optionalFlag, optionalNumber, optionalParams, optionalText, params, sessionId } from '../params.ts'
import { findSaved, listSaved, loadSaved } from '../saved.ts'
import * as wire from '../wire.ts'

/** How long a turn may take to end when its conversation is to be forgotten. */
const END_MS = 10_000

/** The agent begins afresh; what runs is stopped first, so that nothing of before comes after. */
export async function clearSession(session: OpenSession, { corral }: Context): Promise<void> {
  if (session.agent !== null) {
    if (session.conversation.busy) {
      await corral.interrupt(session.id, true)
      await session.idle(END_MS)
    }
    await corral.configure(session.id, { fresh: true })
  }
  session.conversation.record.clear()
}

export const historyMethods = [
  method({
    name: 'history.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'Lists the sessions in which something was said, the most recently active first.',
    params: optionalParams({
      limit: optionalNumber.describe('100 if not given'),
      cursor: optionalNumber.describe('how many to skip'),
    }),
    result: wire.savedSessions,
    handler: (wanted, context) => listSaved(context, wanted),
  }),
  method({
    name: 'history.get',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'Returns one of them with its messages. Give `last`, `rollout_path`, or the beginning of an `id`; the first of these counts.',
    params: optionalParams({ last: optionalFlag, rollout_path: optionalText, id: optionalText }),
    result: z.strictObject({ ...wire.savedSession.shape, messages: z.array(wire.historyMessage) }),
    async handler({ last, rollout_path, id }, context) {
      return loadSaved(context, await findSaved(context, { last, rolloutPath: rollout_path, id }))
    },
  }),
  method({
    name: 'history.clear_session',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'conversation_busy', 'unsupported'],
    summary:
      'Starts the conversation of a session afresh. A running turn and waiting messages are stopped first.',
    params: params({ session_id: sessionId }),
    result: z.strictObject({ session_id: z.string(), cleared: z.literal(true) }),
    async handler({ session_id }, context) {
      await context.sessions.inTurn(session_id, (session) => clearSession(session, context))
      return { session_id, cleared: true as const }
    },
  }),
]
