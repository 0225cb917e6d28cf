/** What turns have used in a day, of one agent. */
export interface UsagePoint {
  at: number
  turns: number
  agent: string | null
  usage: {
    inputTokens: number
    outputTokens: number
    cacheReadTokens: number
    cacheWriteTokens: number
    costUsd: number | null
  }
}

export interface AgentUsage {
  agent: string
  turns: number
  inputTokens: number
  outputTokens: number
  cachedTokens: number
  /** Null: it has never told a cost. */
  costUsd: number | null
}

const UNKNOWN = 'unknown'

/** Sums by agent, the dearest first, then the busiest. */
export function usageByAgent(points: readonly UsagePoint[]): AgentUsage[] {
  const sums = new Map<string, AgentUsage>()
  for (const { agent, turns, usage } of points) {
    const name = agent ?? UNKNOWN
    const before = sums.get(name) ?? nothingOf(name)
    sums.set(name, {
      agent: name,
      turns: before.turns + turns,
      inputTokens: before.inputTokens + usage.inputTokens,
      outputTokens: before.outputTokens + usage.outputTokens,
      cachedTokens: before.cachedTokens + usage.cacheReadTokens,
      costUsd: usage.costUsd === null ? before.costUsd : (before.costUsd ?? 0) + usage.costUsd,
    })
  }
  return [...sums.values()].toSorted((a, b) => (b.costUsd ?? 0) - (a.costUsd ?? 0) || b.turns - a.turns)
}

function nothingOf(agent: string): AgentUsage {
  return { agent, turns: 0, inputTokens: 0, outputTokens: 0, cachedTokens: 0, costUsd: null }
}

export interface DayUsage {
  at: number
  /** By agent. */
  cost: ReadonlyMap<string, number>
  tokens: number
}

/** The days that there are, with what each agent has cost. */
export function usageByDay(points: readonly UsagePoint[]): DayUsage[] {
  const days = Map.groupBy(points, ({ at }) => at)
  return [...days].map(([at, ofDay]) => ({
    at,
    cost: new Map(ofDay.map(({ agent, usage }) => [agent ?? UNKNOWN, usage.costUsd ?? 0])),
    tokens: ofDay.reduce((sum, { usage }) => sum + usage.inputTokens + usage.outputTokens, 0),
  }))
}
