/** A value at a time. */
export interface Point {
  at: number
}

/** What a chart draws: times in seconds, as uPlot wants them, and one list of values for each line. */
export type ChartData = [times: number[], ...values: (number | null)[][]]

/** A way to read one line's value from a point. */
export type Reading<P> = (point: P) => number | null

/** Points in the order of time. */
export function chartData<P extends Point>(points: readonly P[], readings: readonly Reading<P>[]): ChartData {
  const sorted = points.toSorted((a, b) => a.at - b.at)
  return [sorted.map(({ at }) => at / 1000), ...readings.map((read) => sorted.map((point) => read(point)))]
}

/** Points at each hour or day of a span; where there is none, one that `nothing` makes. */
export function filled<P extends Point>(
  points: readonly P[],
  span: { since: number; until: number; by: 'hour' | 'day' },
  nothing: (at: number) => P,
): P[] {
  const known = new Map(points.map((point) => [startOf(point.at, span.by), point]))
  const all: P[] = []
  for (let at = startOf(span.since, span.by); at <= span.until; at = nextOf(at, span.by)) {
    all.push(known.get(at) ?? nothing(at))
  }
  return all
}

const HOUR = 60 * 60 * 1000

/** Hours are those of UTC, as the daemon counts them; days are those of this browser. */
function startOf(at: number, by: 'hour' | 'day'): number {
  return by === 'hour' ? Math.floor(at / HOUR) * HOUR : new Date(at).setHours(0, 0, 0, 0)
}

/** Days in which the clocks change have 23 or 25 hours. */
function nextOf(at: number, by: 'hour' | 'day'): number {
  if (by === 'hour') return at + HOUR
  const date = new Date(at)
  return date.setDate(date.getDate() + 1)
}

/** Hours that the daemon has counted, by the days of this browser: the two may be in different time zones. */
export function byDay<P extends Point>(hours: readonly P[], plus: (one: P, other: P) => P): P[] {
  const days = new Map<number, P>()
  for (const hour of hours) {
    const at = startOf(hour.at, 'day')
    const there = days.get(at)
    days.set(at, { ...(there ? plus(there, hour) : hour), at })
  }
  return [...days.values()]
}

export function totalOf<P>(points: readonly P[], read: (point: P) => number): number {
  return points.reduce((sum, point) => sum + read(point), 0)
}
