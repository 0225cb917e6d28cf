import { asNumber, asObject, asString, type JsonObject } from '../json.ts'
import { nothing, says, type Step } from '../step.ts'
import type { AcpState } from './state.ts'

/*
 * The protocol has no word for it: an agent that sums up its conversation does so when it is sent a certain message, and
 * what it says then is the summary. That it is such a message a mark of ours tells.
 */

export function compacting(state: AcpState): Step<AcpState> {
  if (state.turnId === null || state.compacting) return nothing(state)
  return says({ ...state, compacting: { ...state.context } }, { type: 'agent.compacting', ...state.context })
}

/** How much is left then nobody says. */
export function compacted(state: AcpState, error: string | null): Step<AcpState> {
  if (!state.compacting) return nothing(state)
  const { tokens: tokensBefore, window } = state.compacting
  const next = { ...state, compacting: null }
  return says(next, { type: 'agent.compacted', tokensBefore, tokensAfter: null, window, error })
}

/** How full the conversation is. */
export function contextIn({ used, size }: JsonObject): AcpState['context'] {
  return { tokens: asNumber(used), window: asNumber(size) }
}

export function errorOf(end: { outcome: string; error: unknown }): string | null {
  if (end.outcome === 'completed') return null
  return asString(asObject(end.error).message) ?? end.outcome
}
