/** How long an agent thinks before it answers, from not at all to as long as it can. */
export const EFFORTS = ['off', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const
export type Effort = (typeof EFFORTS)[number]

export function isEffort(value: unknown): value is Effort {
  return EFFORTS.includes(value as Effort)
}

/** The one that comes closest, rather more than less; null where there is none at all. */
export function nearestEffort(wanted: Effort, offered: readonly Effort[]): Effort | null {
  const distance = (effort: Effort): number => Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(wanted))
  const highestFirst = EFFORTS.filter((effort) => offered.includes(effort)).reverse()
  return highestFirst.sort((a, b) => distance(a) - distance(b))[0] ?? null
}
