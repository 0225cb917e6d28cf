import type { AgentLimits, LimitWindow } from '../core/limits.ts'
import type { DriverOutput } from './output.ts'

const MINUTE = 60_000

export interface ToldWindow {
  name: string
  usedPercent: number
  lengthMs: number | null
  /** Seconds since 1970, as agents tell it. */
  resetsAt: number | null
}

/** To the percent and the minute: agents say it with every answer, and less than that is no news. */
export function windowOf({ name, usedPercent, lengthMs, resetsAt }: ToldWindow): LimitWindow {
  const percent = Math.min(100, Math.max(0, Math.round(usedPercent)))
  const at = resetsAt === null ? null : Math.round((resetsAt * 1000) / MINUTE) * MINUTE
  return { name, usedPercent: percent, lengthMs, resetsAt: at }
}

/** What is worth saying, given what was said last. */
export function limitsNews(last: AgentLimits | null, now: AgentLimits): DriverOutput[] {
  const same = now.windows.length === 0 || JSON.stringify(last) === JSON.stringify(now)
  return same ? [] : [{ type: 'limits.told', limits: now }]
}
