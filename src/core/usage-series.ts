import { setImmediate } from 'node:timers/promises'
import { mustBeKnown, type EngineContext } from './context.ts'
import type { TurnUsage } from './ports.ts'
import { addUsage, type Usage } from './usage.ts'

/** One turn; or all turns of an agent in an hour or in a day. */
export interface UsagePoint {
  /** When the turn ended, or when the hour or the day begins. */
  at: number
  turns: number
  /** Null: it is not known any more. */
  agent: string | null
  /** Of which session, where it is one. */
  sessionId: string | null
  turnId: string | null
  usage: Usage
}

export interface SeriesQuery {
  sessionId?: string
  since?: number
  until?: number
  by: 'turn' | 'hour' | 'day'
  /** What the clock on the wall is ahead of UTC: hours and days begin by it. */
  offsetMinutes?: number
}

export interface Series {
  /** In the order of time. */
  points: UsagePoint[]
  /** There were more: the oldest are left out. */
  truncated: boolean
}

const PAGE = 1000
/** Points, where each is a turn. */
const MAX_POINTS = 2000
/** Turns that are looked at to be added up. */
const MAX_TURNS = 20_000
const HOUR = 3_600_000
const LENGTH = { hour: HOUR, day: 24 * HOUR }

/** Read from the newest turn backwards, in pieces, so that nobody else has to wait for a long one. */
export async function usageSeries(context: EngineContext, query: SeriesQuery): Promise<Series> {
  mustBeKnown(context, query.sessionId)
  const { by } = query
  const { turns, truncated } = await newestTurns(context, query, by === 'turn' ? MAX_POINTS : MAX_TURNS)
  const inOrder = turns.toReversed()
  if (by === 'turn') return { points: inOrder.map(pointOf), truncated }
  const offset = (query.offsetMinutes ?? 0) * 60_000
  return { points: summed(inOrder, LENGTH[by], offset, query.sessionId ?? null), truncated }
}

async function newestTurns({ log }: EngineContext, query: SeriesQuery, most: number) {
  const { sessionId, since = 0, until = Number.MAX_SAFE_INTEGER } = query
  const range = { since, until, ...(sessionId !== undefined && { sessionId }) }
  const turns: TurnUsage[] = []
  for (;;) {
    const last = turns.at(-1)
    const before = last ? { before: { endedAt: last.endedAt, turnId: last.turnId } } : {}
    const page = log.usage({ ...range, ...before, limit: PAGE })
    turns.push(...page)
    const isAll = page.length < PAGE
    if (isAll || turns.length > most) {
      return { turns: turns.slice(0, most), truncated: turns.length > most }
    }
    await setImmediate()
  }
}

function pointOf({ turnId, sessionId, agent, endedAt: at, usage }: TurnUsage): UsagePoint {
  return { at, turns: 1, agent, sessionId, turnId, usage }
}

/** One point for each agent in each stretch of time. */
function summed(
  turns: readonly TurnUsage[],
  length: number,
  offset: number,
  sessionId: string | null,
): UsagePoint[] {
  const points = new Map<string, UsagePoint>()
  for (const { endedAt, agent, usage } of turns) {
    const at = Math.floor((endedAt + offset) / length) * length - offset
    const key = `${at} ${agent ?? ''}`
    const known = points.get(key)
    points.set(key, {
      at,
      turns: (known?.turns ?? 0) + 1,
      agent,
      sessionId,
      turnId: null,
      usage: known ? addUsage(known.usage, usage) : usage,
    })
  }
  return [...points.values()]
}
