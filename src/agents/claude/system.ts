import { commandsOf, commandsTold } from '../commands.ts'
import { asArray, asCount, asString, type JsonObject, withoutLongLists } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { compactBoundary, compactError, compacting, compactionFailed } from './compaction.ts'
import { modeOf } from './mode.ts'
import { nothing, notice, other, says, type Step } from '../step.ts'
import { type ClaudeState, inTurn, withSubAgent } from './state.ts'

const MAX_INIT = 16 * 1024
const CHATTER: ReadonlySet<unknown> = new Set(['thinking_tokens', 'session_state_changed', 'ui_invalidate'])

export function system(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  switch (line.subtype) {
    case 'init':
      return init(state, line)
    case 'status':
      return status(state, line)
    case 'compact_boundary':
      return compactBoundary(state, line)
    case 'api_retry':
      return says(state, retry(line))
    case 'model_fallback':
    case 'model_consent_fallback':
    case 'model_refusal_fallback':
      return fallback(state, line)
    case 'permission_denied':
      return says(state, denied(line))
    case 'task_started':
      return other(withSubAgent(state, line.task_id, line.tool_use_id), 'system/task_started', line)
    default:
      if (CHATTER.has(line.subtype)) return nothing(state)
      return other(state, `system/${asString(line.subtype) ?? 'unknown'}`, line)
  }
}

/** A version that has it names the messages it has, in `command_lifecycle`. */
const TELLS = 'msg_lifecycle_v1'

/** Comes at the start of every turn, not of the process. */
function init(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const tells = state.tells || asArray(line.capabilities).includes(TELLS)
  const commands = commandsOf(line.slash_commands)
  return inTurn({
    state: {
      ...state,
      tells,
      commands,
      permissionMode: asString(line.permissionMode) ?? state.permissionMode,
    },
    outputs: [
      {
        type: 'agent.init',
        nativeId: asString(line.session_id),
        model: asString(line.model),
        version: asString(line.claude_code_version),
        raw: withoutLongLists(line, MAX_INIT),
      },
      ...commandsTold(state.commands, commands),
    ],
  })
}

/**
 * A mode that we set ourselves is known before this line comes (from the answer to our request); only one that Claude
 * changed by itself is news. `default` is both our `auto` and our `ask`, so repeating a known mode would be wrong.
 */
function status(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  if (line.status === 'compacting') return inTurn(compacting(state))
  if (line.compact_result === 'failed') return compactionFailed(state, compactError(line))
  const now = asString(line.permissionMode)
  if (now === null || now === state.permissionMode) return nothing(state)
  const next = { ...state, permissionMode: now }
  const mode = state.permissionMode === null ? null : modeOf(now)
  return mode === null ? nothing(next) : says(next, { type: 'mode.observed', mode })
}

/** Another model answers than the one that was chosen: it is overloaded, not paid for, or refuses. */
function fallback(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const { outputs } = other(state, `system/${asString(line.subtype)}`, line)
  const model = asString(line.fallback_model)
  // One that answers a single request is not what the session uses.
  const lasts = model !== null && line.scope !== 'local'
  return says(state, ...(lasts ? [{ type: 'agent.model' as const, model }] : []), ...outputs)
}

function retry(line: JsonObject): DriverOutput {
  const { attempt, max_retries, retry_delay_ms, error_status, error } = line
  const status = typeof error_status === 'number' ? error_status : null
  const what = status === null ? 'The model could not be reached' : `The model answered with status ${status}`
  const why = typeof error === 'string' ? ` (${error})` : ''
  const when = `${(asCount(retry_delay_ms) / 1000).toFixed(1)} s`
  const message = `${what}${why}; attempt ${asCount(attempt)} of ${asCount(max_retries)} in ${when}.`
  return notice('model_retry', message, {
    attempt: asCount(attempt),
    maxRetries: asCount(max_retries),
    delayMs: asCount(retry_delay_ms),
    status,
    error: asString(error),
  })
}

function denied(line: JsonObject): DriverOutput {
  const tool = asString(line.tool_name)
  const message = asString(line.message) ?? `Claude may not use ${tool ?? 'this tool'}.`
  const data = { tool, callId: asString(line.tool_use_id) }
  return notice('permission_denied', message, data)
}
