import { z } from 'zod'
import type { Engine } from '../../../core/api.ts'
import type { DecideApproval } from '../../../core/command.ts'
import { CorralError } from '../../../core/error.ts'
import { editsFiles } from '../../../core/known-tools.ts'
import type { ApprovalRow } from '../../../core/ports.ts'
import { untilDecided } from '../../../core/wait.ts'
import {
  approvalOrNull,
  approvalList,
  approvalStatus,
  approvalType,
  approvalView,
  type ApprovalType,
} from '../approvals.ts'
import { findSession } from '../ids.ts'
import { ORIGIN } from '../launch.ts'
import { HumanLayerError, method } from '../method.ts'
import * as shapes from '../shapes.ts'
import * as wire from '../wire.ts'

const MAX_LISTED = 1000
const MAX_OPEN = 10_000
const MAX_WAIT_MS = 25_000
const { wrong } = wire

export const approvalMethods = [
  method({
    name: 'fetchApprovals',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'The approvals that wait for somebody, the oldest first.',
    params: wire.openApprovalsParams,
    result: shapes.approvals,
    heavy: true,
    handler({ session_id }, { engine }) {
      const rows = engine.approvals.list({ open: true, limit: MAX_OPEN, ...ofSession(engine, session_id) })
      const { approvals, ...more } = approvalList(rows)
      return { approvals: approvals.reverse(), ...more }
    },
  }),
  method({
    name: 'listApprovals',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary: 'Approvals, the newest first; those that wait, unless told otherwise.',
    params: wire.approvalsParams,
    result: shapes.approvals,
    heavy: true,
    handler({ session_id, open = true, limit }, { engine }) {
      const size = limit ? Math.min(limit, MAX_LISTED) : MAX_LISTED
      const query = { limit: size, ...ofSession(engine, session_id) }
      return approvalList(engine.approvals.list(open ? { ...query, open } : query))
    },
  }),
  method({
    name: 'getApproval',
    scope: 'read',
    repeat: 'read',
    errors: ['approval_not_found'],
    summary: 'One approval; with `wait_ms`, when it has been decided.',
    params: wire.approvalParams,
    result: z.object({ approval: shapes.approval }),
    // Not async: who does not wait is answered before its next request is read, and so is stopped when it is full.
    handler({ approval_id: id, wait_ms = 0 }, { engine }) {
      const answer = (row: ApprovalRow) => ({ approval: approvalView(row) })
      const row = found(engine, id)
      const timeoutMs = Math.min(wait_ms, MAX_WAIT_MS)
      return timeoutMs > 0 ? untilDecided(engine, id, { timeoutMs }).then(answer) : answer(row)
    },
  }),
  method({
    name: 'createApproval',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'queue_full'],
    summary: 'Asks a human, for a tool or an MCP server of a session; `getApproval` has the decision.',
    params: wire.createApprovalParams,
    result: z.object({ approval_id: z.string() }),
    async handler(params, { engine }) {
      const { run_id: runId, tool_name: tool, tool_input: input, tool_use_id: callId, type } = params
      const timeoutMs = params.timeout_ms
      if (type && type !== 'function_call' && type !== 'human_contact') {
        throw wrong(`invalid type: ${type}`, 'type')
      }
      const { id } = await engine.approvals.ask({
        sessionId: findSession(engine, runId).id,
        kind: type === 'human_contact' ? 'question' : 'tool',
        tool,
        input,
        edits: editsFiles(tool),
        callId: callId || null,
        fixed: true,
        ...(timeoutMs && { timeoutMs }),
      })
      return { approval_id: id }
    },
  }),
  method({
    name: 'sendDecision',
    scope: 'use',
    repeat: 'idempotent',
    errors: [],
    summary:
      'Answers an approval. The first answer counts: one that comes later, or for what is not there, is told `success: false` and why.',
    params: wire.decisionParams,
    result: z.object({ success: z.boolean(), error: z.string() }),
    async handler(params, { engine }) {
      // Clients know what is missing in this order.
      const id = params.approval_id || required(params.call_id, 'call_id')
      const wanted = required(params.decision, 'decision')
      const row = approvalOrNull(engine, id)
      checkDecision(params, wanted, row)
      const type = params.type
      if (!row) return failed(`approval not found: ${id}`)
      if (type && type !== approvalType(row)) return failed(`approval ${id} is a ${approvalType(row)}`)
      try {
        await engine.approvals.decide({ approvalId: id, decision: decisionOf(params, wanted), by: ORIGIN })
      } catch (error) {
        return failed(problemOf(engine, id, error))
      }
      return { success: true, error: '' }
    },
  }),
]

function required(value: string | undefined, field: string): string {
  if (!value?.trim()) throw wrong(`${field} ${wire.REQUIRED}`, field)
  return value
}

function failed(error: string): { success: false; error: string } {
  return { success: false, error }
}

function ofSession(engine: Engine, id: string | undefined): { sessionId?: string } {
  return id ? { sessionId: findSession(engine, id).id } : {}
}

function found(engine: Engine, id: string): ApprovalRow {
  const row = approvalOrNull(engine, id)
  if (!row) throw new HumanLayerError(`approval not found: ${id}`, { code: 'approval_not_found' })
  return row
}

const DECISIONS: Record<ApprovalType, readonly string[]> = {
  function_call: ['approve', 'deny'],
  human_contact: ['respond'],
}

/** Clients that name no type may also say no to a question, which they do not know as anything special. */
function checkDecision(params: wire.DecisionParams, wanted: string, row: ApprovalRow | null): void {
  const type = params.type || (row && approvalType(row))
  if (type && !Object.hasOwn(DECISIONS, type)) throw wrong(`invalid type: ${type}`, 'type')
  const known = type
    ? [...DECISIONS[type as ApprovalType], ...(params.type ? [] : ['deny'])]
    : ['approve', 'deny', 'respond']
  if (!known.includes(wanted)) {
    throw wrong(`invalid decision${type ? ` for ${type}` : ''}: ${wanted}`, 'decision')
  }
  const comment = params.comment?.trim() ?? ''
  if (wanted === 'deny' && comment === '') throw wrong('comment is required for denial', 'comment')
  if (wanted === 'respond' && comment === '') {
    throw wrong('comment is required for human contact response', 'comment')
  }
}

function decisionOf(params: wire.DecisionParams, wanted: string): DecideApproval['decision'] {
  const { comment = '', updated_input: input, remember } = params
  if (wanted === 'deny') return { behavior: 'deny', comment }
  if (wanted === 'respond') return { behavior: 'respond', text: comment }
  return {
    behavior: 'allow',
    ...(input && { input }),
    ...(comment !== '' && { comment }),
    ...(remember === 'session' && { forSession: true }),
    ...(remember === 'directory' && { forDirectory: true }),
  }
}

/** Somebody else was first, or the session is gone; what is a fault of ours is thrown on. */
function problemOf(engine: Engine, id: string, error: unknown): string {
  if (!(error instanceof CorralError)) throw error
  switch (error.code) {
    case 'approval_resolved':
      return `approval ${id} already decided with status: ${approvalStatus(found(engine, id).decision)}`
    case 'approval_not_found':
      return `approval not found: ${id}`
    case 'session_not_found':
    case 'invalid':
    case 'unsupported':
      return error.message
    default:
      throw error
  }
}
