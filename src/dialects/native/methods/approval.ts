import { z } from 'zod'
import type { DecideApproval } from '../../../core/command.ts'
import { method } from '../method.ts'
import { viewApproval } from '../views.ts'
import * as wire from '../wire.ts'

type DecideParams = z.output<typeof wire.decideParams>

function decisionOf(params: DecideParams): DecideApproval['decision'] {
  if (params.behavior === 'deny') return { behavior: 'deny', comment: params.comment ?? '' }
  const { approvalId: _, by: __, ...decision } = params
  return decision
}

export const approvalMethods = [
  method({
    name: 'approval.list',
    summary: 'Approvals, by default those that wait for an answer.',
    params: z.strictObject({
      sessionId: wire.sessionId.exactOptional(),
      open: z.boolean().default(true).describe('false: decided ones too'),
      limit: z.int().min(1).max(500).default(100),
    }),
    result: z.object({ approvals: z.array(wire.approvalView) }),
    handler({ open, ...query }, { engine }) {
      return { approvals: engine.approvals(open ? { ...query, open } : query).map(viewApproval) }
    },
  }),
  method({
    name: 'approval.get',
    summary: 'One approval, open or decided.',
    params: z.strictObject({ approvalId: wire.approvalId }),
    result: wire.approvalView,
    handler: (params, { engine }) => viewApproval(engine.approval(params.approvalId)),
  }),
  method({
    name: 'approval.decide',
    summary: 'Answers an approval. The first answer counts; a later one gets `approval_resolved`.',
    params: wire.decideParams,
    result: wire.approvalView,
    async handler(params, { engine }) {
      const { approvalId, by = 'native' } = params
      return viewApproval(await engine.decide({ approvalId, decision: decisionOf(params), by }))
    },
  }),
]
