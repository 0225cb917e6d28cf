import { z } from 'zod'
import type { DecideApproval } from '../../../core/command.ts'
import type { Device } from '../../../core/devices.ts'
import { CorralError } from '../../../core/error.ts'
import { untilDecided } from '../../../core/wait.ts'
import { method } from '../method.ts'
import { FOR_EVER } from '../../../core/rule.ts'
import { viewApproval, viewDecision } from '../views.ts'
import * as wire from '../wire.ts'

type DecideParams = z.output<typeof wire.decideParams>

function decisionOf(params: DecideParams): DecideApproval['decision'] {
  if (params.behavior === 'deny') return { behavior: 'deny', comment: params.comment ?? '' }
  if (params.behavior === 'respond') return { behavior: 'respond', text: params.text }
  const { approvalId: _, by: __, ...decision } = params
  return decision
}

/** Rules of a directory hold for everybody's sessions there. */
function mustRule(device: Device | null): void {
  if (device === null || device.scopes.includes('manage')) return
  throw new CorralError('forbidden', 'This device may not set rules for a directory', { scope: 'manage' })
}

export const approvalMethods = [
  method({
    name: 'approval.list',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Approvals, by default those that wait for an answer.',
    params: z.strictObject({
      sessionId: wire.sessionId.exactOptional(),
      open: z.boolean().default(true).describe('false: decided ones too'),
      limit: z.int().min(1).max(500).default(100),
    }),
    result: z.object({ approvals: z.array(wire.approvalView) }),
    handler({ open, ...query }, { engine }) {
      return { approvals: engine.approvals.list(open ? { ...query, open } : query).map(viewApproval) }
    },
  }),
  method({
    name: 'approval.get',
    scope: 'read',
    repeat: 'read',
    errors: ['approval_not_found'],
    summary: 'One approval, open or decided.',
    params: z.strictObject({ approvalId: wire.approvalId }),
    result: wire.approvalView,
    handler: (params, { engine }) => viewApproval(engine.approvals.get(params.approvalId)),
  }),
  method({
    name: 'approval.decide',
    scope: 'use',
    repeat: 'never',
    errors: ['approval_not_found', 'approval_resolved', 'unsupported'],
    summary: 'Answers an approval. The first answer counts; a later one gets `approval_resolved`.',
    params: wire.decideParams,
    result: wire.approvalView,
    async handler(params, { engine, device }) {
      const { approvalId, by = 'native' } = params
      if (params.behavior === 'allow' && params.forDirectory) mustRule(device)
      const decider = device === null ? { by } : { by, device: device.name }
      const decision = decisionOf(params)
      return viewApproval(await engine.approvals.decide({ approvalId, decision, ...decider }))
    },
  }),
  method({
    name: 'approval.defer',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['approval_not_found', 'approval_resolved'],
    summary:
      '"Not now": puts an approval off. It waits on, and can be answered at any time; `approval.deferred` tells everybody. What has a `timeoutAt` is still refused then.',
    params: z.strictObject({
      approvalId: wire.approvalId,
      until: z
        .int()
        .min(0)
        .max(FOR_EVER)
        .nullable()
        .describe('ms since 1970; null: it is not put off any more'),
    }),
    result: wire.approvalView,
    handler: async ({ approvalId, until }, { engine }) =>
      viewApproval(await engine.approvals.defer(approvalId, until)),
  }),
  method({
    name: 'approval.history',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'What was decided about approvals, the newest first, a page at a time: by whom, from where, and the rule that it made.',
    params: z.strictObject({
      limit: z.int().min(1).max(200).default(50),
      cursor: z.string().min(1).max(1000).exactOptional().describe('`next` of the page before'),
      sessionId: wire.sessionId.exactOptional(),
      automatic: z.boolean().default(false).describe('also what mode and rules answered at once'),
    }),
    result: z.object({ decisions: z.array(wire.decisionRow), next: z.string().nullable() }),
    handler(params, { engine }) {
      const { decisions, next } = engine.approvals.history(params)
      return { decisions: decisions.map(viewDecision), next }
    },
  }),
  method({
    name: 'approval.context',
    scope: 'read',
    repeat: 'read',
    errors: ['approval_not_found'],
    summary:
      'What a human wants to know before deciding: what the agent said, who asks, what each answer leads to, and the edit as a diff.',
    params: z.strictObject({ approvalId: wire.approvalId }),
    result: wire.approvalContext,
    handler: (params, { engine }) => engine.approvals.context(params.approvalId),
  }),
  method({
    name: 'approval.request',
    scope: 'use',
    repeat: 'keyed',
    errors: ['session_not_found', 'queue_full'],
    summary: 'Asks a human, for something that runs elsewhere. Mode and rules may answer at once.',
    params: wire.askParams,
    result: wire.approvalView,
    handler: async (params, { engine }) => viewApproval(await engine.approvals.ask(params)),
  }),
  method({
    name: 'approval.wait',
    scope: 'read',
    repeat: 'read',
    errors: ['approval_not_found'],
    summary: 'Answers when the approval is decided, or as it is when the time is up.',
    params: z.strictObject({
      approvalId: wire.approvalId,
      timeoutMs: z.int().min(0).max(60_000).default(25_000),
    }),
    result: wire.approvalView,
    handler: async ({ approvalId, timeoutMs }, { engine }) =>
      viewApproval(await untilDecided(engine, approvalId, { timeoutMs })),
  }),
  method({
    name: 'approval.withdraw',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['approval_not_found', 'approval_resolved', 'unsupported'],
    summary: 'Takes a question back that nobody has answered yet.',
    params: z.strictObject({ approvalId: wire.approvalId, by: wire.origin.default('native') }),
    result: wire.approvalView,
    handler: async ({ approvalId, by }, { engine }) =>
      viewApproval(await engine.approvals.withdraw(approvalId, by)),
  }),
]
