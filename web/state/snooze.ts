/** A time at which something comes back, and what people call it. */
export interface Later {
  key: 'hour' | 'tomorrow' | 'monday'
  label: string
  at: number
}

const HOUR_MS = 3_600_000
const MORNING = 9

/** What "not now" can mean, in the time zone of whoever looks. */
export function laterThan(now: number): Later[] {
  const tomorrow = morningIn(now, 1)
  const monday = morningIn(now, (8 - new Date(now).getDay()) % 7 || 7)
  return [
    { key: 'hour', label: 'In an hour', at: now + HOUR_MS },
    { key: 'tomorrow', label: 'Tomorrow at 9:00', at: tomorrow },
    // On a Sunday it is the same time.
    ...(monday === tomorrow ? [] : [{ key: 'monday' as const, label: 'Monday at 9:00', at: monday }]),
  ]
}

/** By the calendar: a day is not always 24 hours. */
function morningIn(now: number, days: number): number {
  const date = new Date(now)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate() + days, MORNING).getTime()
}

/** When it comes back: `15:40`, `tomorrow 9:00`, `Mon 9:00`, then a date. */
export function whenBack(at: number, now: number): string {
  const date = new Date(at)
  const time = date.toLocaleTimeString(undefined, { hour: 'numeric', minute: '2-digit' })
  const days = Math.round((startOfDay(at) - startOfDay(now)) / 86_400_000)
  if (days <= 0) return time
  if (days === 1) return `tomorrow ${time}`
  if (days < 7) return `${date.toLocaleDateString(undefined, { weekday: 'short' })} ${time}`
  return date.toLocaleDateString(undefined, { day: 'numeric', month: 'short' })
}

function startOfDay(at: number): number {
  const date = new Date(at)
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime()
}
