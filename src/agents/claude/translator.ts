import type { Translator } from '../agent.ts'
import { asked, withdrawn } from './approval.ts'
import { answered } from './control.ts'
import { isObject, type JsonObject } from '../json.ts'
import { limits } from './limits.ts'
import { assistant, user } from './message.ts'
import { result } from './result.ts'
import { nothing, other, remember, says, type Step } from '../step.ts'
import { type ClaudeState, initialState, inTurn, MAX_REMEMBERED, parentOf } from './state.ts'
import { stream } from './stream.ts'
import { system } from './system.ts'

/** Claude's stream-json lines as facts and signals. Never throws, whatever the line is. */
export const claudeTranslator = { initial: initialState, step } satisfies Translator<ClaudeState>

function step(state: ClaudeState, line: unknown): Step<ClaudeState> {
  if (!isObject(line)) return other(state, 'unknown', line)
  const next = translate(state, line)
  return isAnswer(line) ? inTurn(next) : next
}

/** What a sub-agent says may come later than its turn, and what comes as the user's may be about a request of ours. */
function isAnswer(line: JsonObject): boolean {
  return (line.type === 'assistant' || line.type === 'stream_event') && parentOf(line) === null
}

function translate(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  switch (line.type) {
    case 'stream_event':
      return stream(state, line)
    case 'assistant':
      return assistant(state, line)
    case 'user':
      return user(state, line)
    case 'system':
      return system(state, line)
    case 'command_lifecycle':
      return lifecycle(state, line)
    case 'control_request':
      return asked(state, line)
    case 'control_cancel_request':
      return withdrawn(state, line)
    case 'control_response':
      return answered(state, line)
    case 'rate_limit_event':
      return limits(state, line)
    case 'result':
      return result(state, line)
    default:
      return other(state, typeof line.type === 'string' ? line.type : 'unknown', line)
  }
}

/**
 * A message that comes while another one is worked on is `queued`, and `started` when it is taken into that turn. If the
 * turn is over before, Claude starts it by itself, as the next one.
 */
function lifecycle(before: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const state = { ...before, tells: true }
  const { command_uuid: id, state: stage } = line
  if (typeof id !== 'string') return nothing(state)
  const waits = state.waiting.includes(id)
  if (stage !== 'queued' && stage !== 'started') {
    return waits ? nothing({ ...state, waiting: state.waiting.filter((one) => one !== id) }) : nothing(state)
  }
  if (state.turn === id) return nothing(state)
  if (state.turn === null && (stage === 'started' || !waits)) {
    return says({ ...state, turn: id }, { type: 'turn.accepted', turnId: id })
  }
  if (stage === 'started') return says(state, { type: 'steer.taken', steerId: id })
  if (waits) return nothing(state)
  return says(
    { ...state, waiting: remember(state.waiting, id, MAX_REMEMBERED) },
    { type: 'steer.arrived', steerId: id },
  )
}
