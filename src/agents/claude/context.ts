import { contextTold } from '../context.ts'
import { asCount, asNumber, asObject, asString, isObject, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { type ClaudeState, parentOf } from './state.ts'

/** What a call of the model took; of a sub-agent's calls the conversation grows by their result only. */
export function withCall(state: ClaudeState, line: JsonObject): ClaudeState {
  const message = asObject(line.message)
  if (parentOf(line) !== null || !isObject(message.usage)) return state
  const { usage } = message
  const used =
    asCount(usage.input_tokens) +
    asCount(usage.cache_read_input_tokens) +
    asCount(usage.cache_creation_input_tokens) +
    asCount(usage.output_tokens)
  return { ...state, context: { ...state.context, used, model: asString(message.model) } }
}

/** How much there is room for is told at the end of a turn, for each model that was used. */
export function withWindow(state: ClaudeState, line: JsonObject): ClaudeState {
  const { model } = state.context
  const entries = Object.entries(asObject(line.modelUsage)).map(([name, told]) => ({
    name,
    ...asObject(told),
  }))
  const own = entries.find(
    (told: JsonObject) => told.name === model || (model !== null && told.canonicalModel === model),
  )
  const window = asNumber(asObject(own).contextWindow)
  return window === null ? state : { ...state, context: { ...state.context, window } }
}

export function contextOf({ context: { used, window } }: ClaudeState): DriverOutput[] {
  return contextTold(used, window)
}
