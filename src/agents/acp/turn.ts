import type { Failure } from '../../core/turn.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { asCount, asObject, asString, type JsonObject, parsed } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { compacted, errorOf } from './compaction.ts'
import { withdrawAll } from './permission.ts'
import type { AcpProfile } from './profile.ts'
import { andThen, nothing, other, says, type Step } from '../step.ts'
import { type AcpState, completeMessage, wish } from './state.ts'
import { closeCalls } from './tool.ts'
import { updated } from './update.ts'

const AUTH_REQUIRED = -32000

type TurnEnd = DriverOutput & { type: 'turn.ended' }

/**
 * The mark before a message: what comes from here on belongs to it, and what came since the last turn was over. Who is
 * sent a message has been ready for it.
 */
export function begun(profile: AcpProfile, state: AcpState, turnId: string): Step<AcpState> {
  if (state.turnId === turnId || state.endedTurn === turnId) return nothing(state)
  const { early, unplanned } = state
  const clean = { message: null, messages: 0, text: null, done: [], moves: 0, quiet: false, early: [] }
  const costBefore = state.cost ?? (state.fresh ? 0 : null)
  const next: AcpState = { ...state, ...clean, turnId, accepted: false, costBefore }
  const ready = says(next, { type: 'agent.ready', problem: null })
  const heard = early.length > 0 ? andThen(ready, (now) => accepted(now, turnId)) : ready
  const stopped = unplanned ? andThen(heard, (now) => says(now, wish({ step: 'stop' }))) : heard
  return early.reduce((step, params) => andThen(step, (now) => updated(profile, now, { params })), stopped)
}

/** The mark behind a message: it has been read. */
export function accepted(state: AcpState, turnId: string): Step<AcpState> {
  if ((state.accepted && state.turnId === turnId) || state.endedTurn === turnId) return nothing(state)
  const next = state.turnId === turnId ? { ...state, accepted: true, untold: false } : state
  return says(next, { type: 'turn.accepted', turnId })
}

/** A turn ends when its prompt is answered, and in no other way. */
export function ended(
  profile: AcpProfile,
  state: AcpState,
  turnId: string,
  line: JsonObject,
): Step<AcpState> {
  const again = state.turnId === null ? state.endedTurn === turnId : state.turnId !== turnId
  if (again) return other(state, 'answer', line)
  const began = andThen(begun(profile, state, turnId), (now) => accepted(now, turnId))
  const end = endOf(profile, state, line)
  const cutOff = end.outcome !== 'completed'
  const why = end.outcome === 'interrupted' ? 'interrupted' : ''
  const tidy = [
    (now: AcpState) => completeMessage(now, cutOff),
    (now: AcpState) => closeCalls(profile, now, why),
    withdrawAll,
    (now: AcpState) => compacted(now, errorOf(end)),
    (now: AcpState) =>
      says(
        { ...now, turnId: null, accepted: false, endedTurn: turnId },
        { ...end, turnId, text: now.text },
        wish({ step: 'over' }),
      ),
  ]
  return tidy.reduce(andThen, began)
}

function endOf(profile: AcpProfile, state: AcpState, line: JsonObject): TurnEnd {
  if (line.error !== undefined) return failed(profile, state, asObject(line.error))
  const end = stopped(state, asObject(line.result))
  return state.unplanned ? { ...end, outcome: 'failed', error: state.unplanned } : end
}

function stopped(state: AcpState, result: JsonObject): TurnEnd {
  const usage = usageOf(state, result)
  const error = limitOf(asString(result.stopReason))
  const outcome = error ? 'failed' : result.stopReason === 'cancelled' ? 'interrupted' : 'completed'
  return { type: 'turn.ended', outcome, usage, error, text: null }
}

function limitOf(reason: string | null): Failure | null {
  const detail = { limit: reason }
  if (reason === 'max_tokens') return { code: 'limit', message: 'The model ran out of tokens.', detail }
  if (reason === 'max_turn_requests') {
    return { code: 'limit', message: 'The turn has asked the model as often as it may.', detail }
  }
  if (reason === 'refusal') return { code: 'refusal', message: 'The agent refuses to go on.' }
  return null
}

function failed(profile: AcpProfile, state: AcpState, error: JsonObject): TurnEnd {
  const usage = { ...NO_USAGE, costUsd: costOf(state) }
  return { type: 'turn.ended', outcome: 'failed', usage, error: failureOf(profile, error), text: null }
}

/** Errors of a model come as their HTTP status, as the code for signing in, or with a name beside the text. */
export function failureOf(profile: AcpProfile, error: JsonObject): Failure {
  const { code, data } = error
  const message = messageOf(error)
  if (code === AUTH_REQUIRED) {
    return { code: 'not_signed_in', message: `${message}; ${profile.signIn}` }
  }
  const status = typeof code === 'number' && code >= 400 && code < 600 ? code : null
  const { errorName, errorKind } = asObject(data)
  const kind = asString(errorName) ?? asString(errorKind)
  if (status !== null || kind !== null) return { code: 'model_error', message, detail: { status, kind } }
  return { code: 'agent_error', message, detail: { code } }
}

/** The text itself may be JSON, and what is meant may be in the details. */
function messageOf({ message, data }: JsonObject): string {
  const details = asString(asObject(data).details)
  const text = (asString(message) ?? '').replace(/^Internal error: /, '')
  const inner = details ?? asString(asObject(asObject(parsed(text)).error).message)
  return inner || text || 'The agent gave no reason'
}

/** Token counts are found in two places and in two spellings. */
function usageOf(state: AcpState, result: JsonObject): Usage {
  const counts = {
    ...asObject(asObject(asObject(result._meta).quota).token_count),
    ...asObject(result.usage),
  }
  const count = (...names: string[]) =>
    asCount(names.map((name) => counts[name]).find((it) => it !== undefined))
  return {
    ...NO_USAGE,
    inputTokens: count('inputTokens', 'input_tokens'),
    outputTokens: count('outputTokens', 'output_tokens'),
    cacheReadTokens: count('cachedReadTokens', 'cachedInputTokens'),
    cacheWriteTokens: count('cachedWriteTokens', 'cacheWriteInputTokens'),
    costUsd: costOf(state),
  }
}

/** Prices are those of the whole conversation. */
function costOf({ cost, costBefore }: AcpState): number | null {
  return cost === null || costBefore === null ? null : asCount(cost - costBefore)
}
