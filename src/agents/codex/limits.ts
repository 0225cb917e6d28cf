import type { LimitWindow } from '../../core/limits.ts'
import { asNumber, asObject, asString, isObject, type JsonObject } from '../json.ts'
import { limitsNews, windowOf } from '../limits.ts'
import { nothing, says, type Step } from '../step.ts'
import type { CodexState } from './state.ts'

/** Other limits than this one are of single models. */
const OF_THE_ACCOUNT = 'codex'

/** Every session in the process hears it; one that rests leaves it to those at work. */
export function limitsUpdated(state: CodexState, params: JsonObject): Step<CodexState> {
  const { limitId, planType, ...told } = asObject(params.rateLimits)
  if (state.turn === null || (asString(limitId) ?? OF_THE_ACCOUNT) !== OF_THE_ACCOUNT) return nothing(state)
  const plan = asString(planType) ?? state.plan
  const windows = ['primary', 'secondary'].flatMap((name) => windowIn(name, told[name]))
  const limits = { ...(plan !== null && { plan }), windows }
  const news = limitsNews(state.limits, limits)
  return news.length === 0 ? nothing(state) : says({ ...state, limits }, ...news)
}

function windowIn(name: string, window: unknown): LimitWindow[] {
  if (!isObject(window) || typeof window.usedPercent !== 'number') return []
  const minutes = asNumber(window.windowDurationMins)
  const lengthMs = minutes === null ? null : minutes * 60_000
  const { usedPercent, resetsAt } = window
  return [windowOf({ name, usedPercent, lengthMs, resetsAt: asNumber(resetsAt) })]
}
