import type { Engine } from '../../core/api.ts'
import type { Approval, Decision } from '../../core/approval.ts'
import { CorralError } from '../../core/error.ts'
import type { ApprovalRow } from '../../core/ports.ts'
import { runIdOf } from './ids.ts'
import type { ApprovalView, ContactSpec } from './shapes.ts'
import { isObject, isoTime, stringIn } from './text.ts'

/** Characters of inputs in one list, about; each of them is in it three times. */
const LISTED_INPUTS = 16 * 1024 ** 2

export type ApprovalType = ApprovalView['type']

export function approvalType({ kind }: Pick<Approval, 'kind'>): ApprovalType {
  return kind === 'question' ? 'human_contact' : 'function_call'
}

export function approvalStatus(decision: Decision | null): ApprovalView['status'] {
  if (decision === null) return 'pending'
  if (decision.behavior === 'allow') return 'approved'
  return decision.behavior === 'respond' ? 'responded' : 'denied'
}

/** What was said with a decision, if anything. */
export function commentOf(decision: Decision | null): string {
  switch (decision?.behavior) {
    case 'allow':
      return decision.comment ?? ''
    case 'deny':
      return decision.comment
    case 'respond':
      return decision.text
    case 'cancelled':
      return `cancelled: ${decision.reason}`
    default:
      return ''
  }
}

/** As many, from the first on, as one answer can carry; `more` says that there are others. */
export function approvalList(rows: readonly ApprovalRow[]): { approvals: ApprovalView[]; more?: true } {
  let size = 0
  const end = rows.findIndex(({ input }) => {
    const full = size > LISTED_INPUTS
    size += JSON.stringify(input ?? null).length
    return full
  })
  if (end < 0) return { approvals: rows.map(approvalView) }
  return { approvals: rows.slice(0, end).map(approvalView), more: true }
}

export function approvalView(row: ApprovalRow): ApprovalView {
  const { id, callId, tool, input, decision, decidedAt, timeoutAt } = row
  const ids = { run_id: runIdOf(row.sessionId), call_id: id }
  const comment = commentOf(decision)
  const requested_at = isoTime(row.requestedAt)
  const responded = {
    ...(decidedAt !== null && { responded_at: isoTime(decidedAt) }),
    ...(comment !== '' && { comment }),
  }
  const args = isObject(input) ? input : { input }
  return {
    id,
    ...ids,
    session_id: row.sessionId,
    type: approvalType(row),
    status: approvalStatus(decision),
    tool_name: tool,
    tool_input: input,
    ...(callId !== null && { tool_use_id: callId }),
    ...(decision?.behavior === 'allow' && 'input' in decision && { updated_input: decision.input }),
    function_name: tool,
    function_args: args,
    requested_at,
    created_at: requested_at,
    timeout_at: timeoutAt === null ? null : isoTime(timeoutAt),
    ...responded,
    ...(row.decidedBy !== null && { decided_by: row.decidedBy }),
    ...nested(row, { ids, args, status: { requested_at, ...responded } }),
  }
}

interface Parts {
  ids: { run_id: string; call_id: string }
  args: Record<string, unknown>
  status: { requested_at: string; responded_at?: string; comment?: string }
}

function nested(row: ApprovalRow, { ids, args, status }: Parts): Partial<ApprovalView> {
  const { decision } = row
  if (approvalType(row) === 'human_contact') {
    const response = decision?.behavior === 'respond' && { response: decision.text }
    return { human_contact: { ...ids, spec: contactSpec(row), status: { ...status, ...response } } }
  }
  const approved = decision && { approved: decision.behavior === 'allow' }
  return {
    function_call: { ...ids, spec: { fn: row.tool, kwargs: args }, status: { ...status, ...approved } },
  }
}

/** A question to a human: one of Claude's own, or a message from outside. */
function contactSpec({ input, summary }: Approval): ContactSpec {
  const list = isObject(input) && Array.isArray(input['questions']) ? (input['questions'] as unknown[]) : []
  const asked = list.map((one) => stringIn(one, 'question')).filter((question) => question !== null)
  const message = stringIn(input, 'message') ?? (asked.join('\n') || summary)
  const subject = stringIn(input, 'subject') ?? (list.length === 1 ? stringIn(list[0], 'header') : null)
  const options = optionsIn(list.length === 1 ? list[0] : input)
  return {
    msg: message ?? JSON.stringify(input),
    ...(subject !== null && { subject }),
    ...(options.length > 0 && { response_options: options }),
  }
}

function optionsIn(value: unknown): { name: string; description?: string }[] {
  const list = isObject(value) && Array.isArray(value['options']) ? (value['options'] as unknown[]) : []
  return list.flatMap((option) => {
    const name = typeof option === 'string' ? option : (stringIn(option, 'label') ?? stringIn(option, 'name'))
    const description = stringIn(option, 'description')
    return name === null ? [] : [{ name, ...(description !== null && { description }) }]
  })
}

export function approvalOrNull(engine: Engine, id: string): ApprovalRow | null {
  try {
    return engine.approvals.get(id)
  } catch (error) {
    if (error instanceof CorralError && error.code === 'approval_not_found') return null
    throw error
  }
}
