import { z } from 'zod'
import { method } from '../method.ts'
import { viewTurn } from '../views.ts'
import * as wire from '../wire.ts'
import { contentOf } from './session.ts'

const { sessionId, turnId } = wire
const one = z.strictObject({ sessionId, turnId })

/** Messages that wait for their turns. */
export const queueMethods = [
  method({
    name: 'queue.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'The messages that wait in a session, in order.',
    params: z.strictObject({ sessionId }),
    result: z.object({ turns: z.array(wire.turnView) }),
    handler: (params, { engine }) => ({
      turns: engine.sessions
        .get(params.sessionId)
        .queue.map((waiting) => viewTurn(engine.turns.get(waiting))),
    }),
  }),
  method({
    name: 'queue.move',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'turn_not_found'],
    summary: 'Moves a message within the queue; it is still to run once. `turn.moved` tells everybody.',
    params: z.strictObject({
      sessionId,
      turnId,
      position: z.int().min(1).max(1_000_000).describe('1: the next to run; beyond the end is the end'),
    }),
    result: z.object({ queue: z.array(z.string()).describe('ids of the turns that wait, in order') }),
    handler: async (params, { engine }) => ({
      queue: await engine.turns.move(params.sessionId, params.turnId, params.position),
    }),
  }),
  method({
    name: 'queue.remove',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'turn_not_found'],
    summary: 'Takes a message out of the queue before it runs.',
    params: one,
    result: z.object({ turnId }),
    async handler(params, { engine }) {
      await engine.turns.cancel(params.sessionId, params.turnId)
      return { turnId: params.turnId }
    },
  }),
  method({
    name: 'queue.edit',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'turn_not_found', 'unsupported'],
    summary:
      'Changes what a message says that waits in the queue. `turn.edited` tells everybody; the message appears in the conversation once, as it is when its turn begins. `turn_not_found` when it no longer waits, or came too late for a turn as a steer, so that the agent may have read it.',
    params: z.strictObject({ sessionId, turnId, content: wire.message }),
    result: wire.turnView,
    handler: async ({ content, ...turn }, { engine }) =>
      viewTurn(await engine.turns.edit({ ...turn, input: contentOf(content) })),
  }),
  method({
    name: 'queue.steer',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found', 'turn_not_found', 'not_running', 'queue_full', 'unsupported'],
    summary:
      'Brings a message that waits in the queue to the turn that runs: it leaves the queue (`turn.cancelled` with `steered`) and is a steer of the same id (`turn.steered`), as if it had been sent with `session.steer`. If the turn ends before the agent has taken it, it becomes the next turn.',
    params: one,
    result: z.object({
      steerId: z.string().describe('the same as `turnId` of the request'),
      turnId: turnId.describe('the turn that runs'),
      seq: z.number().describe('of its `turn.steered`'),
      log: z.string(),
    }),
    async handler(params, { engine }) {
      const steered = await engine.turns.steerQueued(params.sessionId, params.turnId)
      const { repeated: _, ...steer } = steered
      return { ...steer, log: engine.events.logId }
    },
  }),
]
