import { aboutTool } from '../../core/about.ts'
import type { Approval, Decision, ApprovalRequest } from '../../core/approval.ts'
import { asArray, asObject, asString, capped, isObject, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { MAX_SUBJECT, SUBJECTS } from './fitting.ts'
import { aboutCall } from './about.ts'
import { commandOf, editOf } from './held.ts'
import type { AcpProfile } from './profile.ts'
import { result } from './rpc.ts'
import { andThen, nothing, notice, remember, says, type Step } from '../step.ts'
import { type AcpState, type Call, MAX_REMEMBERED, wish } from './state.ts'
import { asId, inputOf, merged, newCall, start, toolName, withCall } from './tool.ts'

/** Tools by which an agent leaves its plan mode. */
const PLAN_TOOLS: ReadonlySet<string | null> = new Set(['exit_plan_mode', 'ExitPlanMode', 'plan_exit'])
const MAX_SUMMARY = 1000
const MAX_OPTIONS = 16 * 1024

/** `session/request_permission`. For some agents it is the first that is heard of the call. */
export function asked(profile: AcpProfile, state: AcpState, line: JsonObject): Step<AcpState> {
  const params = asObject(line.params)
  const told = asObject(params.toolCall)
  const callId = asId(told.toolCallId)
  if (callId === null) return refuse(state, line.id, 'toolCall.toolCallId is missing')
  const known = state.calls.find((one) => one.id === callId) ?? newCall(callId)
  const server = profile.serverTool?.(told) ?? null
  const call = {
    ...merged(known, told),
    asked: true,
    ...(server !== null && { name: server, kind: 'other' }),
  }
  const question = profile.questionOf?.(asObject(told.rawInput)) ?? null
  const requestId = JSON.stringify(line.id)
  const input = inputOf(call)
  if (SUBJECTS.some((key) => (asString(input[key])?.length ?? 0) >= MAX_SUBJECT))
    return refuse(state, line.id, 'the question is too long to be shown to anybody')
  const options = asArray(params.options).filter(isObject)
  // Whether a file may be reached at all is asked in other words than what is done with it.
  const meant = question === null ? call : { ...call, name: question, kind: known.kind ?? call.kind }
  const approval: ApprovalRequest = {
    requestId,
    kind: isPlan(profile, callId, call.kind, call.name) ? 'plan' : 'tool',
    tool: question ?? toolName(profile, call),
    input,
    about: server === null ? aboutCall(profile, meant, input) : aboutTool('mcp', input),
    edits: call.kind === 'edit',
    callId,
    summary: call.title?.slice(0, MAX_SUMMARY) ?? null,
    suggestions: capped(options, MAX_OPTIONS) === options ? options : [],
    parent: null,
  }
  // What the call began with stays; a question may tell its input in other words.
  const waiting = withCall(state, { ...call, input: known.input ?? call.input })
  const asked = state.asked.filter((one) => one.requestId !== requestId)
  const about = aboutOf(state, call, input)
  const noted = {
    ...waiting,
    asked: remember(asked, { id: line.id, requestId, callId, about, call: null }, MAX_REMEMBERED),
  }
  return andThen(start(profile, noted, callId), (now) =>
    says(now, { type: 'approval.asked', approval }, ...strangeOptions(options)),
  )
}

/** Where a yes is not a plain yes people are told. */
function strangeOptions(options: JsonObject[]): DriverOutput[] {
  const names = (kinds: RegExp) =>
    options.flatMap(({ kind, name }) => (kinds.test(`${kind}`) ? [`${name}`.slice(0, 100)] : []))
  if (names(/^allow_(?:once|always)$/).length === 0) {
    return [notice('no_yes', 'The agent offers no way to say yes: an answer is a no to it, whatever it is')]
  }
  const yes = names(/^allow_once$/)
  if (yes.length < 2) return []
  const message = `There is more than one yes (${yes.join(', ')}); it is the first, unless \`answers\` names another`
  return [notice('several_yes', message, { options: yes }, 'info')]
}

function refuse(state: AcpState, id: unknown, message: string): Step<AcpState> {
  return says(state, wish({ step: 'refuse', id, message }))
}

/** What the agent may let Corral do once the answer is yes. */
function aboutOf({ cwd }: AcpState, { kind }: Call, input: JsonObject): string | null {
  const path = asString(input.file_path) ?? asString(input.path)
  const command = asString(input.command)
  if (kind === 'edit' && path !== null) return editOf(path)
  return kind === 'execute' && command !== null ? commandOf(command, asString(input.cwd) ?? cwd) : null
}

function isPlan(profile: AcpProfile, callId: string, kind: string | null, name: string | null): boolean {
  return kind === 'switch_mode' || PLAN_TOOLS.has(name ?? profile.toolOf?.(callId) ?? null)
}

/** `$/cancel_request`: the agent does not want to know any more. */
export function withdrawn(state: AcpState, line: JsonObject): Step<AcpState> {
  const requestId = JSON.stringify(asObject(line.params).requestId)
  const asked = state.asked.filter((one) => one.requestId !== requestId)
  if (asked.length === state.asked.length) return nothing(state)
  return says({ ...state, asked }, { type: 'approval.withdrawn', requestId })
}

/** The questions of a turn that is over answer themselves. */
export function withdrawAll(state: AcpState): Step<AcpState> {
  const outputs = state.asked.map(({ requestId }) => ({ type: 'approval.withdrawn' as const, requestId }))
  return { state: { ...state, asked: [] }, outputs }
}

/**
 * The answer to a question. "Always" is never chosen where "once" is to be had: how far it goes is the agent's secret,
 * while Corral's own rules answer the next question of the same kind, are seen and can be taken back.
 */
export function decided({ requestId, suggestions }: Approval, decision: Decision): string {
  const options = asArray(suggestions).map(asObject)
  const option = (kinds: string[], wanted: readonly string[] = []) => {
    const fit = kinds.flatMap((kind) => options.filter((one) => one.kind === kind))
    const named = fit.find(
      ({ optionId, name }) => wanted.includes(`${optionId}`) || wanted.includes(`${name}`),
    )
    return asString((named ?? fit[0])?.optionId)
  }
  const chosen =
    decision.behavior === 'allow'
      ? option(['allow_once', 'allow_always'], Object.values(decision.answers ?? {}))
      : decision.behavior === 'cancelled'
        ? null
        : option(['reject_once', 'reject_always'])
  const id = JSON.parse(requestId) as unknown
  return chosen === null ? cancelled(id) : result(id, selected(chosen))
}

export function cancelled(id: unknown): string {
  return result(id, { outcome: { outcome: 'cancelled' } })
}

function selected(optionId: string): object {
  return { outcome: { outcome: 'selected', optionId } }
}
