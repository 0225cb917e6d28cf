import type { LimitWindow } from '../../core/limits.ts'
import { asNumber, asObject, asString, isObject, type JsonObject } from '../json.ts'
import { limitsNews, windowOf } from '../limits.ts'
import type { Step } from '../step.ts'
import type { ClaudeState } from './state.ts'

const HOUR = 3_600_000
const LENGTHS: Readonly<Record<string, number>> = { five_hour: 5 * HOUR, seven_day: 7 * 24 * HOUR }

/** `rate_limit_event`: only who is signed in with a subscription hears of it. */
export function limits(state: ClaudeState, line: JsonObject): Step<ClaudeState> {
  const told = windowsIn(asObject(line.rate_limit_info))
  const now = Object.entries(told).flatMap(([name, window]) => windowIn(name, window))
  const others = (state.limits?.windows ?? []).filter(({ name }) => !now.some((one) => one.name === name))
  const windows = now.length === 0 ? [] : [...now, ...others]
  const outputs = limitsNews(state.limits, { windows })
  return { state: outputs.length > 0 ? { ...state, limits: { windows } } : state, outputs }
}

/** All of them, or only the one that matters now, and then the others are as they were; of one that is used up the share may be missing. */
function windowsIn({ unifiedWindows, rateLimitType, utilization, status, resetsAt }: JsonObject): JsonObject {
  if (isObject(unifiedWindows)) return unifiedWindows
  const name = asString(rateLimitType)
  return name === null
    ? {}
    : { [name]: { utilization: utilization ?? (status === 'rejected' ? 1 : null), resetsAt } }
}

function windowIn(name: string, window: unknown): LimitWindow[] {
  if (!isObject(window) || typeof window.utilization !== 'number') return []
  // `seven_day_opus` is one of seven days, too.
  const lengthMs = LENGTHS[/^(?:five_hour|seven_day)/.exec(name)?.[0] ?? ''] ?? null
  return [
    windowOf({ name, usedPercent: window.utilization * 100, lengthMs, resetsAt: asNumber(window.resetsAt) }),
  ]
}
