import { asNumber, asObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { says, type Step } from '../step.ts'
import type { CodexState } from './state.ts'

export function compactionStarted(state: CodexState): Step<CodexState> {
  const { tokens, window } = state.context
  return says({ ...state, compacting: { tokens } }, { type: 'agent.compacting', tokens, window })
}

export function compactionCompleted(state: CodexState): Step<CodexState> {
  return says({ ...state, compacting: null }, ended(state, state.context.tokens, null))
}

/** One that its turn ended without. */
export function cutOff(state: CodexState, error: string): DriverOutput[] {
  return state.compacting ? [ended(state, null, error)] : []
}

function ended(
  { compacting, context }: CodexState,
  after: number | null,
  error: string | null,
): DriverOutput {
  const before = compacting?.tokens ?? null
  return { type: 'agent.compacted', tokensBefore: before, tokensAfter: after, window: context.window, error }
}

/** How full the conversation is: what the last call of the model took, or what a summary has left. */
export function contextIn(state: CodexState, usage: unknown): CodexState {
  const { last, modelContextWindow: window } = asObject(usage)
  return { ...state, context: { tokens: asNumber(asObject(last).totalTokens), window: asNumber(window) } }
}
