import type { Failure } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'
import { asArray, asCount, asObject, asString, isObject, type JsonObject } from '../json.ts'
import { compactionFailed } from './compaction.ts'
import { contextOf, withWindow } from './context.ts'
import { notice, says, type Step } from '../step.ts'
import type { ClaudeState } from './state.ts'

/** The end of a turn. `subtype` may say success for a failed one; `is_error` and `terminal_reason` do not lie. */
export function result(given: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const { state: before, outputs } = compactionFailed(given, 'the turn was over before it was done')
  const usage = usageOf(before, line)
  const text = asString(line.result)
  const total = typeof line.total_cost_usd === 'number' ? line.total_cost_usd : before.totalCost
  const over = {
    message: null,
    block: -1,
    blocks: [],
    streams: false,
    calls: [],
    failure: null,
    begun: false,
    answer: null,
  }
  const state = { ...withWindow(before, line), ...over, totalCost: total }
  const failed = line.is_error === true
  if (isOwnAccord(line)) {
    const level = failed ? 'warning' : 'info'
    const message = 'Claude did something of its own accord: a task in the background ended, or a timer.'
    const data = { origin: line.origin, text, usage }
    return says(state, ...outputs, notice('background_turn', message, data, level))
  }
  const interrupted = asString(line.terminal_reason)?.startsWith('aborted') === true
  const outcome = interrupted ? 'interrupted' : failed ? 'failed' : 'completed'
  const error = outcome === 'failed' ? failureOf(before, line) : null
  const branch = before.answer === null ? {} : { branch: before.answer }
  const end = { type: 'turn.ended', outcome, usage, error, text, ...branch } as const
  return says({ ...state, turn: null }, ...outputs, ...contextOf(state), end)
}

/** Claude starts turns itself when a background task ends; those answer no message of ours. */
function isOwnAccord(line: JsonObject): boolean {
  if (!isObject(line.origin)) return false
  return asArray(line.user_message_uuids).length === 0 && typeof line.user_message_uuid !== 'string'
}

function usageOf(state: ClaudeState, line: JsonObject): Usage {
  const usage = asObject(line.usage)
  return {
    inputTokens: asCount(usage.input_tokens),
    outputTokens: asCount(usage.output_tokens),
    cacheReadTokens: asCount(usage.cache_read_input_tokens),
    cacheWriteTokens: asCount(usage.cache_creation_input_tokens),
    costUsd: costOf(state, line),
    modelCalls: asCount(line.num_turns),
    durationMs: asCount(line.duration_ms),
  }
}

/** `total_cost_usd` is a running total of the conversation, also over a resume. */
function costOf(state: ClaudeState, line: JsonObject): number | null {
  const since = line.model_usage_since_last_result
  if (isObject(since)) {
    return Object.values(since).reduce<number>((sum, model) => sum + asCount(asObject(model).costUSD), 0)
  }
  if (typeof line.total_cost_usd !== 'number') return null
  return asCount(line.total_cost_usd - (state.totalCost ?? 0))
}

const LIMITS: ReadonlySet<unknown> = new Set(['error_max_turns', 'error_max_budget_usd'])
/**
 * The only sign there is: the result has no code for it. The second is for ids that are no UUID, the third for a message that is not
 * there any more, as before a summary.
 */
const LOST =
  /No conversation found with session ID|does not match any session title|No message found with message\.uuid/

function failureOf(state: ClaudeState, line: JsonObject): Failure {
  const errors = asArray(line.errors).filter((error) => typeof error === 'string')
  const said = errors.join('\n') || (state.failure?.text ?? '')
  const message = asString(line.result) || said || 'Claude ended the turn with an error.'
  const status = typeof line.api_error_status === 'number' ? line.api_error_status : null
  const kind = state.failure?.kind ?? null
  if (LIMITS.has(line.subtype)) return { code: 'limit', message, detail: { limit: line.subtype } }
  if (LOST.test(said)) return { code: 'conversation_lost', message }
  if (status === null && kind === 'authentication_failed') return { code: 'not_signed_in', message }
  if (status !== null || line.terminal_reason === 'api_error') {
    return { code: 'model_error', message, detail: { status, kind } }
  }
  const reason = asString(line.startup_failure_reason) ?? asString(line.terminal_reason)
  return { code: 'agent_error', message, detail: { subtype: line.subtype ?? null, reason } }
}
