import { asNumber, asObject, asString, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { nothing, other, says, type Step } from '../step.ts'
import type { ClaudeState } from './state.ts'

const UNKNOWN = { tokensBefore: null, tokensAfter: null, window: null }

/** Of a long one Claude tells the progress in the same words. */
export function compacting(state: ClaudeState): Step<ClaudeState> {
  if (state.compacting) return nothing(state)
  const begun: DriverOutput = { type: 'agent.compacting', tokens: null, window: null }
  return says({ ...state, compacting: true }, begun)
}

export function compactionFailed(state: ClaudeState, error: string): Step<ClaudeState> {
  const failed: DriverOutput = { type: 'agent.compacted', ...UNKNOWN, error }
  return { state: { ...state, compacting: false }, outputs: state.compacting ? [failed] : [] }
}

/** The line itself is passed on, too: there are clients that know it. */
export function compactBoundary(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const { pre_tokens, post_tokens } = asObject(line.compact_metadata)
  const done = {
    type: 'agent.compacted' as const,
    tokensBefore: asNumber(pre_tokens),
    tokensAfter: asNumber(post_tokens),
    window: null,
    error: null,
  }
  const { outputs } = other(state, 'system/compact_boundary', line)
  const context = { ...state.context, used: done.tokensAfter }
  return says({ ...state, compacting: false, context }, done, ...outputs)
}

export function compactError(line: JsonObject): string {
  return asString(line.compact_error) ?? 'no reason given'
}
