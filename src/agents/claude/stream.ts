import { isObject, type JsonObject } from '../json.ts'
import { nothing, says, type Step } from '../step.ts'
import { type ClaudeState, parentOf } from './state.ts'

/** A piece of the model's answer. Text deltas are the bulk of all lines: one look at each field, one object out. */
export function stream(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const event = line.event
  if (!isObject(event)) return nothing(state)
  if (event.type === 'content_block_delta') return delta(state, line, event)
  if (event.type === 'message_start') {
    const id = isObject(event.message) ? event.message.id : undefined
    if (typeof id !== 'string') return nothing(state)
    const begun = { ...state, message: id, block: -1 }
    return parentOf(line) === null ? callsMade(begun, true) : nothing(begun)
  }
  if (event.type === 'message_stop' && parentOf(line) === null) return callsMade(state, false)
  if (event.type === 'content_block_start' && typeof event.index === 'number') {
    return nothing({ ...state, message: messageOf(state, line), block: event.index })
  }
  return nothing(state)
}

/**
 * Claude makes a call as soon as the model has written it. Whoever carries them out wants all calls of an answer together,
 * so they are told when the answer is complete. A new answer without an end of the one before is no reason to wait longer.
 */
function callsMade(state: ClaudeState, streams: boolean): Step<ClaudeState> {
  const outputs = state.calls.map((call) => ({ type: 'call.asked', ...call }) as const)
  return { state: { ...state, streams, calls: [] }, outputs }
}

function delta(state: ClaudeState, line: JsonObject, event: JsonObject): Step<ClaudeState> {
  const piece = event.delta
  if (!isObject(piece)) return nothing(state)
  const kind = piece.type === 'text_delta' ? 'text' : piece.type === 'thinking_delta' ? 'thinking' : null
  if (kind === null) return nothing(state)
  const text = kind === 'text' ? piece.text : piece.thinking
  const message = messageOf(state, line)
  if (typeof text !== 'string' || text === '' || message === null) return nothing(state)
  const index = typeof event.index === 'number' ? event.index : 0
  const messageId = `${message}:${index}`
  return says(state, { type: 'message.delta', messageId, kind, text, parent: parentOf(line) })
}

function messageOf(state: ClaudeState, line: JsonObject): string | null {
  return typeof line.api_message_id === 'string' ? line.api_message_id : state.message
}
