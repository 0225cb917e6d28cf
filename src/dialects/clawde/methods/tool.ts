import { z } from 'zod'
import type { Decision } from '../../../core/approval.ts'
import type { ApprovalRow } from '../../../core/ports.ts'
import { ClawdeError } from '../errors.ts'
import { method, type Context } from '../method.ts'
import { bothWays } from '../spelling.ts'
import { callIdOf } from '../views.ts'
import * as wire from '../wire.ts'

const about = {
  sessionId: wire.sessionId,
  toolCallId: z.string().min(1).describe('of a call that is `pending`'),
}
const aliases = { sessionId: ['session'], toolCallId: ['id', 'callId'] }
const result = z.object({
  ok: z.boolean(),
  sessionId: z.string(),
  toolCallId: z.string(),
  status: z.enum(['approved', 'rejected']),
  approved: z.literal(true).exactOptional(),
  rejected: z.literal(true).exactOptional(),
})
const MANY = 1000

/** The question that a call waits on; the newest, if it was asked about more than once. */
function questionOf({ engine }: Context, sessionId: string, toolCallId: string): ApprovalRow {
  engine.sessions.get(sessionId)
  const fits = (row: ApprovalRow): boolean => callIdOf(row) === toolCallId || row.id === toolCallId
  const open = engine.approvals.list({ sessionId, open: true, limit: MANY }).find(fits)
  const found = open ?? engine.approvals.list({ sessionId, limit: MANY }).find(fits)
  if (found) return found
  throw new ClawdeError('invalidParams', `No tool call ${toolCallId} waits for an answer`, {
    reason: 'tool_call_not_found',
    field: 'toolCallId',
  })
}

async function decide(
  context: Context,
  row: ApprovalRow,
  decision: Exclude<Decision, { behavior: 'cancelled' }>,
): Promise<void> {
  const { device } = context
  const by = device === null ? { by: 'clawde' } : { by: `clawde:${device.id}`, device: device.name }
  await context.engine.approvals.decide({ approvalId: row.id, decision, ...by })
}

export const toolMethods = [
  method({
    name: 'tool.approve',
    scope: 'use',
    repeat: 'never',
    errors: ['sessionNotFound', 'modeViolation'],
    summary: 'Lets a pending tool call go ahead.',
    changes: true,
    params: z.object({
      ...about,
      input: z.record(z.string(), z.unknown()).exactOptional().describe('run it with this input instead'),
      answers: z.record(z.string(), z.string()).exactOptional().describe('to the questions that it asks'),
      forSession: z.boolean().default(false).describe('and the same the next time'),
    }),
    aliases,
    result,
    async handler({ sessionId, toolCallId, input, answers, forSession }, context) {
      const row = questionOf(context, sessionId, toolCallId)
      if (context.engine.sessions.get(sessionId).mode === 'plan' && row.kind === 'tool') {
        throw new ClawdeError('modeViolation', 'This session may not change anything: set another mode first')
      }
      await decide(context, row, {
        behavior: 'allow',
        ...(input && { input }),
        ...(answers && { answers }),
        ...(forSession && { forSession }),
      })
      context.metrics.count('tool_calls_approved')
      return bothWays({ ok: true, approved: true, sessionId, toolCallId, status: 'approved' })
    },
  }),
  method({
    name: 'tool.reject',
    scope: 'use',
    repeat: 'never',
    errors: ['sessionNotFound'],
    summary: 'Refuses a pending tool call.',
    changes: true,
    params: z.object({
      ...about,
      reason: z.string().max(10_000).default('The user said no.').describe('what the agent is told'),
    }),
    aliases: { ...aliases, reason: ['message', 'comment'] },
    result,
    async handler({ sessionId, toolCallId, reason }, context) {
      const row = questionOf(context, sessionId, toolCallId)
      await decide(context, row, { behavior: 'deny', comment: reason })
      context.metrics.count('tool_calls_rejected')
      return bothWays({ ok: true, rejected: true, sessionId, toolCallId, status: 'rejected' })
    },
  }),
]
