/** How full a conversation is, in tokens; null: the agent has not said. */
export interface Fullness {
  used: number | null
  window: number | null
}

/** Where it is not known how much there is room for. */
const STEP = 1000

/** Agents tell it with every call of the model; what changes no percent of it is not worth an event. */
export function isNews(last: Fullness | undefined, now: Fullness): boolean {
  if (now.used === null) return false
  if (last && last.window !== now.window) return true
  return sharesOf(now) !== sharesOf({ used: last?.used ?? 0, window: now.window })
}

/** Percents of it, or thousands. */
export function sharesOf({ used, window }: Fullness): number {
  return Math.floor((used ?? 0) / (window === null || window < 100 ? STEP : window / 100))
}
