export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = Math.min(sorted.length - 1, Math.floor(sorted.length * share))
  return sorted[at] ?? Number.NaN
}

export const median = (values: readonly number[]): number => percentile(values, 0.5)

/** The milliseconds that something takes, `count` times in a row. */
export async function timed(count: number, work: (round: number) => unknown): Promise<number[]> {
  const times: number[] = []
  for (let round = 0; round < count; round++) {
    const start = performance.now()
    await work(round)
    times.push(performance.now() - start)
  }
  return times
}

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

/** `1.23`, `45.6`, `12,345`: about three digits, whatever the size. */
export function brief(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en')
  return value.toFixed(value >= 10 ? 1 : value >= 0.1 ? 2 : 3)
}

/** Says how the samples lie. */
export function spread(values: readonly number[]): string {
  const at = (share: number): string => brief(percentile(values, share))
  return `min ${at(0)}, p99 ${at(0.99)}, n ${values.length}`
}
