import { asCount, asObject, asString, type JsonObject } from '../json.ts'
import { chunk } from './message.ts'
import { type AcpProfile, modeOf } from './profile.ts'
import { type AcpState, nothing, other, type Step } from './state.ts'
import { toolUpdate } from './tool.ts'

/** Of no interest in a log, or told elsewhere. */
const CHATTER: ReadonlySet<unknown> = new Set([
  'available_commands_update',
  'config_option_update',
  'session_info_update',
  'user_message_chunk',
])

/** `session/update`. What comes before the first message is the history of the conversation, which the log has. */
export function updated(profile: AcpProfile, before: AcpState, line: JsonObject): Step {
  const state = before.opening ? { ...before, replayed: true } : before
  const update = asObject(asObject(line.params).update)
  switch (update.sessionUpdate) {
    case 'agent_message_chunk': {
      const mode = profile.modeIn?.(asString(asObject(update.content).text) ?? '') ?? null
      return mode === null ? chunk(profile, state, 'text', update) : noticed(profile, state, mode)
    }
    case 'agent_thought_chunk':
      return chunk(profile, state, 'thinking', update)
    case 'tool_call':
    case 'tool_call_update':
      return toolUpdate(profile, state, update)
    case 'current_mode_update':
      return noticed(profile, state, asString(update.currentModeId))
    case 'usage_update':
      return nothing(priced(state, asObject(update.cost)))
    default: {
      if (state.opening || CHATTER.has(update.sessionUpdate)) return nothing(state)
      return other(state, `update/${asString(update.sessionUpdate) ?? 'unknown'}`, line.params)
    }
  }
}

function noticed(profile: AcpProfile, state: AcpState, id: string | null): Step {
  if (id === null || id === state.mode) return nothing(state)
  return nothing({ ...state, mode: id, noticed: modeOf(profile, id) })
}

function priced(state: AcpState, { amount, currency }: JsonObject): AcpState {
  const known = typeof amount === 'number' && (currency ?? 'USD') === 'USD'
  return known ? { ...state, cost: asCount(amount) } : state
}
