import type { Log } from '../core/ports.ts'

const DAY = 24 * 60 * 60 * 1000
const HOUR = 60 * 60 * 1000
const FIRST_MS = 60_000
const ROWS = 2000

export interface RetentionSettings {
  days: number | null
  destroyedDays: number
}

/** Removes what is too old, a little at a time; returns how to stop. */
export function keepLogTidy(
  log: Pick<Log, 'retain'>,
  { days, destroyedDays }: RetentionSettings,
  warn: (message: string, error: unknown) => void,
): () => void {
  let stopped = false

  async function round(): Promise<void> {
    const now = Date.now()
    const request = {
      eventsBefore: days === null ? null : now - days * DAY,
      destroyedBefore: now - destroyedDays * DAY,
      limit: ROWS,
    }
    // A few rows at a time, with air in between for everything else.
    while (!stopped && (await log.retain(request)) > 0) await new Promise((resolve) => setImmediate(resolve))
  }

  const start = (): void => void round().catch((error) => warn('removing old events', error))
  const first = setTimeout(start, FIRST_MS).unref()
  const timer = setInterval(start, HOUR).unref()
  return () => {
    stopped = true
    clearTimeout(first)
    clearInterval(timer)
  }
}
