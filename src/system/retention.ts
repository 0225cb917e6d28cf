import type { Log } from '../core/ports.ts'

const DAY = 24 * 60 * 60 * 1000
const HOUR = 60 * 60 * 1000
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
    while (!stopped && (await log.retain(request)) === ROWS);
  }

  const timer = setInterval(() => {
    round().catch((error) => warn('removing old events', error))
  }, HOUR)
  timer.unref()
  return () => {
    stopped = true
    clearInterval(timer)
  }
}
