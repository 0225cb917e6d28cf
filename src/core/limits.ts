/** One window of an account: so much of it is used, and at that time it begins anew. */
export interface LimitWindow {
  /** The agent's own name for it. */
  name: string
  usedPercent: number
  lengthMs: number | null
  resetsAt: number | null
}

/** What an agent tells about the account that it uses. */
export interface AgentLimits {
  /** Not given: it has not said, and what it said before holds. */
  plan?: string
  windows: LimitWindow[]
}

/** The same, and when it was told. */
export interface KnownLimits extends AgentLimits {
  at: number
}

/** Of a window that has begun anew since, nothing is known. */
export function inForce(limits: KnownLimits | null, now: number): KnownLimits | null {
  if (!limits) return null
  return { ...limits, windows: limits.windows.filter(({ resetsAt }) => resetsAt === null || resetsAt > now) }
}
