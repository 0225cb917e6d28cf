/** The ways in. A closed list: a label with names from outside could grow without end. */
export const DIALECTS = ['native', 'codecast', 'humanlayer', 'clawde', 'mcp', 'acp'] as const
export type DialectName = (typeof DIALECTS)[number]

/** What went through one dialect since the start. */
export interface Traffic {
  requests: number
  errors: number
  rateLimited: number
  bytesIn: number
  bytesOut: number
}

/** Plain numbers that dialects count up; a count costs an addition. */
export type TrafficCounts = Readonly<Record<DialectName, Traffic>>

export function createTraffic(): TrafficCounts {
  const none = (): Traffic => ({ requests: 0, errors: 0, rateLimited: 0, bytesIn: 0, bytesOut: 0 })
  return Object.fromEntries(DIALECTS.map((name) => [name, none()])) as Record<DialectName, Traffic>
}
