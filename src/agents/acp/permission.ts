import type { Approval, Decision } from '../../core/approval.ts'
import { asArray, asObject, asString, isObject, type JsonObject } from '../json.ts'
import type { AcpProfile } from './profile.ts'
import { result } from './rpc.ts'
import { type AcpState, nothing, other, remember, said, type Step, andThen } from './state.ts'
import { inputOf, merged, newCall, start, toolName, withCall } from './tool.ts'

/** Tools by which an agent leaves its plan mode. */
const PLAN_TOOLS: ReadonlySet<string | null> = new Set(['exit_plan_mode', 'ExitPlanMode', 'plan_exit'])
const MAX_SUMMARY = 1000

/** `session/request_permission`. For some agents it is the first that is heard of the call. */
export function asked(profile: AcpProfile, state: AcpState, line: JsonObject): Step {
  const params = asObject(line.params)
  const told = asObject(params.toolCall)
  const callId = asString(told.toolCallId)
  if (callId === null) return other(state, 'session/request_permission', line)
  const known = state.calls.find((one) => one.id === callId) ?? newCall(callId)
  const call = { ...merged(known, told), asked: true }
  const requestId = JSON.stringify(line.id)
  const approval: Approval = {
    id: `${state.turnId ?? asString(params.sessionId) ?? ''}.${String(line.id)}`,
    requestId,
    kind: isPlan(profile, callId, call.kind, call.name) ? 'plan' : 'tool',
    tool: profile.questionOf?.(asObject(told.rawInput)) ?? toolName(profile, call),
    input: inputOf(call),
    edits: call.kind === 'edit',
    callId,
    summary: call.title?.slice(0, MAX_SUMMARY) ?? null,
    suggestions: asArray(params.options).filter(isObject),
    parent: null,
  }
  // What the call began with stays; a question may tell its input in other words.
  const input = known.input ?? call.input
  const waiting = { ...withCall(state, { ...call, input }) }
  const noted = { ...waiting, asked: remember(state.asked, { id: line.id, requestId, callId }) }
  return andThen(start(profile, noted, callId), (now) => said(now, { type: 'approval.asked', approval }))
}

function isPlan(profile: AcpProfile, callId: string, kind: string | null, name: string | null): boolean {
  return kind === 'switch_mode' || PLAN_TOOLS.has(name ?? profile.toolOf?.(callId) ?? null)
}

/** `$/cancel_request`: the agent does not want to know any more. */
export function withdrawn(state: AcpState, line: JsonObject): Step {
  const requestId = JSON.stringify(asObject(line.params).requestId)
  const asked = state.asked.filter((one) => one.requestId !== requestId)
  if (asked.length === state.asked.length) return nothing(state)
  return said({ ...state, asked }, { type: 'approval.withdrawn', requestId })
}

/** The questions of a turn that is over answer themselves. */
export function withdrawAll(state: AcpState): Step {
  const outputs = state.asked.map(({ requestId }) => ({ type: 'approval.withdrawn' as const, requestId }))
  return { state: { ...state, asked: [] }, outputs }
}

/**
 * The answer to a question. "Always" is never chosen where "once" is to be had: how far it goes is the agent's secret,
 * while Corral's own rules answer the next question of the same kind, are seen and can be taken back.
 */
export function decided({ requestId, suggestions }: Approval, decision: Decision): string {
  const options = asArray(suggestions).map(asObject)
  const option = (...kinds: string[]) =>
    kinds
      .flatMap((kind) => options.filter((one) => one.kind === kind))
      .map((one) => asString(one.optionId))[0]
  const chosen =
    decision.behavior === 'allow'
      ? option('allow_once', 'allow_always')
      : decision.behavior === 'cancelled'
        ? undefined
        : option('reject_once', 'reject_always')
  const id = JSON.parse(requestId) as unknown
  return typeof chosen === 'string' ? result(id, selected(chosen)) : cancelled(id)
}

export function cancelled(id: unknown): string {
  return result(id, { outcome: { outcome: 'cancelled' } })
}

function selected(optionId: string): object {
  return { outcome: { outcome: 'selected', optionId } }
}
