import type { RelayFailure, Verdict } from '../failure.ts'

const BUSY_MS = 60_000
const LOCKED_OUT_MS = 5 * 60_000
const FIRST_PAUSE_MS = 5000
const LONGEST_PAUSE_MS = 5 * 60_000

/** What is known about one provider. */
export interface Health {
  /** When it may be asked again; 0: now. */
  until: number
  /** It has named that time itself. */
  named: boolean
  /** Why it rests. */
  reason: RelayFailure | null
  failedAt: number
  /** Failures in a row that were its own. */
  failures: number
}

export const WELL: Health = { until: 0, named: false, reason: null, failedAt: 0, failures: 0 }

/**
 * After a failure of a call that began at `startedAt`. One that began before the last failure tells nothing new: twenty calls
 * that fail together are one failure.
 */
export function afterFailure(
  health: Health,
  failure: RelayFailure,
  times: { startedAt: number; now: number },
): Health {
  const { startedAt, now } = times
  if (verdictOf(failure) !== 'unwell' || startedAt <= health.failedAt) return health
  const failures = health.failures + 1
  const pause = pauseOf(failure, failures)
  const named = failure.retryAfterMs !== null
  return { until: pause > 0 ? now + pause : 0, named, reason: failure, failedAt: now, failures }
}

export function afterSuccess(health: Health, startedAt: number): Health {
  return startedAt < health.failedAt ? health : WELL
}

/** Another provider may know a model, or take a body, that this one does not; what is wrong is wrong everywhere. */
export function verdictOf({ verdict, status }: RelayFailure): Verdict {
  return verdict ?? (status === 400 ? 'final' : [404, 413].includes(status) ? 'elsewhere' : 'unwell')
}

/** One failure may be chance: only what fails again is left alone, for twice as long each time. */
function pauseOf({ status, retryAfterMs }: RelayFailure, failures: number): number {
  if (status === 429 || status === 529) return retryAfterMs ?? BUSY_MS
  if (status === 401 || status === 402 || status === 403) return LOCKED_OUT_MS
  if (retryAfterMs !== null) return retryAfterMs
  return failures < 2 ? 0 : Math.min(FIRST_PAUSE_MS * 2 ** Math.min(failures - 2, 16), LONGEST_PAUSE_MS)
}
