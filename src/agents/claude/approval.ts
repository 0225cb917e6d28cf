import type { Approval, Decision, ApprovalRequest } from '../../core/approval.ts'
import { editsFiles, kindOfTool } from '../../core/known-tools.ts'
import { asArray, asObject, asString, type JsonObject } from '../json.ts'
import { mcpMessage } from './client-tools.ts'
import { nothing, other, says, type Step } from '../step.ts'
import type { ClaudeState } from './state.ts'

/** A request of Claude's; of the many kinds the question for permission and the client's tools are ours to answer. */
export function asked(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const request = asObject(line.request)
  if (request.subtype === 'mcp_message' && typeof line.request_id === 'string') {
    return mcpMessage(state, line.request_id, line)
  }
  if (request.subtype !== 'can_use_tool' || typeof line.request_id !== 'string') {
    return other(state, `control_request/${asString(request.subtype) ?? 'unknown'}`, line)
  }
  const agent = asString(request.agent_id)
  const known = state.subAgents.find((sub) => sub.agent === agent)?.callId
  const approval: ApprovalRequest = {
    requestId: line.request_id,
    kind: kindOfTool(request.tool_name),
    tool: asString(request.tool_name) ?? 'unknown',
    input: request.input ?? {},
    edits: editsFiles(request.tool_name),
    callId: asString(request.tool_use_id),
    summary: asString(request.description),
    suggestions: request.permission_suggestions ?? null,
    parent: asString(request.parent_tool_use_id) ?? known ?? agent,
  }
  return says(state, { type: 'approval.asked', approval })
}

export function withdrawn(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  if (typeof line.request_id !== 'string') return nothing(state)
  const calls = state.calls.filter(({ requestId }) => requestId !== line.request_id)
  return says({ ...state, calls }, { type: 'approval.withdrawn', requestId: line.request_id })
}

/** Claude's form of a decision; null when there is nothing to tell, since it withdrew the question itself. */
export function permission(approval: Approval, decision: Decision): JsonObject | null {
  if (decision.behavior === 'cancelled') return null
  if (decision.behavior === 'deny') return refusal(decision.comment)
  if (decision.behavior === 'respond') return inWords(approval, decision.text)
  const input = decision.input ?? approval.input
  const updatedInput = decision.answers ? { ...asObject(input), answers: decision.answers } : input
  // What passes from now on is a rule of Corral's: one that Claude kept itself could not be taken back.
  return { behavior: 'allow', updatedInput }
}

/** Words answer a single question; to anything else they are a no whose reason Claude reads as the tool's result. */
function inWords(approval: Approval, text: string): JsonObject {
  const questions = approval.kind === 'question' ? asArray(asObject(approval.input).questions) : []
  const question = questions.length === 1 ? asString(asObject(questions[0]).question) : null
  if (question === null) return refusal(text)
  return { behavior: 'allow', updatedInput: { ...asObject(approval.input), answers: { [question]: text } } }
}

function refusal(message: string): JsonObject {
  return { behavior: 'deny', message: message || 'The user said no.' }
}
