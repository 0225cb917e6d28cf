import type { LimitWindow } from '../../core/limits.ts'
import { asObject, asString, isObject, type JsonObject } from '../json.ts'
import { limitsNews, windowOf } from '../limits.ts'
import type { ClaudeState, Step } from './state.ts'

const HOUR = 3_600_000
const LENGTHS: Readonly<Record<string, number>> = { five_hour: 5 * HOUR, seven_day: 7 * 24 * HOUR }

/** `rate_limit_event`: only who is signed in with a subscription hears of it. */
export function limits(state: ClaudeState, line: JsonObject): Step {
  const told = windowsIn(asObject(line.rate_limit_info))
  const windows = Object.entries(told).flatMap(([name, window]) => windowIn(name, window))
  const outputs = limitsNews(state.limits, { windows })
  return { state: outputs.length > 0 ? { ...state, limits: { windows } } : state, outputs }
}

/** All of them, or only the one that matters now; of one that is used up the share may be missing. */
function windowsIn({ unifiedWindows, rateLimitType, utilization, status, resetsAt }: JsonObject): JsonObject {
  if (isObject(unifiedWindows)) return unifiedWindows
  const name = asString(rateLimitType)
  return name === null
    ? {}
    : { [name]: { utilization: utilization ?? (status === 'rejected' ? 1 : null), resetsAt } }
}

function windowIn(name: string, window: unknown): LimitWindow[] {
  if (!isObject(window) || typeof window.utilization !== 'number') return []
  const resetsAt = typeof window.resetsAt === 'number' ? window.resetsAt : null
  // `seven_day_opus` is one of seven days, too.
  const lengthMs = LENGTHS[/^(?:five_hour|seven_day)/.exec(name)?.[0] ?? ''] ?? null
  return [windowOf({ name, usedPercent: window.utilization * 100, lengthMs, resetsAt })]
}
