const MINUTE = 60_000
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** How long ago, or how far ahead, in the fewest letters: `now`, `5m`, `3h`, `2d`, then a date. */
export function relative(at: number, now: number): string {
  const distance = Math.abs(now - at)
  const ahead = at > now
  if (distance < MINUTE) return ahead ? 'in <1m' : 'now'
  const text = shortDuration(distance)
  if (text === null) return dateOf(at, now)
  return ahead ? `in ${text}` : text
}

/** Null when a date says more. */
function shortDuration(ms: number): string | null {
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)}m`
  if (ms < DAY) return `${Math.floor(ms / HOUR)}h`
  return ms < 7 * DAY ? `${Math.floor(ms / DAY)}d` : null
}

function dateOf(at: number, now: number): string {
  const sameYear = new Date(at).getFullYear() === new Date(now).getFullYear()
  const year = sameYear ? {} : { year: 'numeric' as const }
  return new Date(at).toLocaleDateString(undefined, { day: 'numeric', month: 'short', ...year })
}

/** How long something has taken: `4s`, `1m 05s`, `2h 10m`. */
export function elapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000))
  if (seconds < 60) return `${seconds}s`
  const minutes = Math.floor(seconds / 60)
  if (minutes < 60) return `${minutes}m ${String(seconds % 60).padStart(2, '0')}s`
  return `${Math.floor(minutes / 60)}h ${String(minutes % 60).padStart(2, '0')}m`
}
