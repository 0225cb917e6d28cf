import type { Translator } from '../agent.ts'
import { asked, withdrawn } from './approval.ts'
import { answered } from './control.ts'
import { isObject, type JsonObject } from '../json.ts'
import { assistant, user } from './message.ts'
import { result } from './result.ts'
import { type ClaudeState, initialState, nothing, other, remember, type Step } from './state.ts'
import { stream } from './stream.ts'
import { system } from './system.ts'

/** Claude's stream-json lines as facts and signals. Never throws, whatever the line is. */
export const claudeTranslator = { initial: initialState, step } satisfies Translator<ClaudeState>

function step(state: ClaudeState, line: unknown): Step {
  if (!isObject(line)) return other(state, 'unknown', line)
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
    case 'result':
      return result(state, line)
    default:
      return other(state, typeof line.type === 'string' ? line.type : 'unknown', line)
  }
}

function lifecycle(state: ClaudeState, line: JsonObject): Step {
  const { command_uuid: turnId, state: stage } = line
  if (typeof turnId !== 'string') return nothing(state)
  const known = state.accepted.includes(turnId)
  if (stage === 'queued' || stage === 'started') {
    if (known) return nothing(state)
    const accepted = remember(state.accepted, turnId)
    return { state: { ...state, accepted }, outputs: [{ type: 'turn.accepted', turnId }] }
  }
  if (!known) return nothing(state)
  return nothing({ ...state, accepted: state.accepted.filter((id) => id !== turnId) })
}
