import { now, TICK_MS } from '../state/clock.ts'
import { relative } from './relative.ts'

/** How long ago; the exact time when pointed at. */
export function Time({ at }: { at: number }) {
  const date = new Date(at)
  // The clock of the page stands still between its ticks: what has just happened is not in the future.
  const isJustNow = at > now.value && at - now.value < TICK_MS
  return (
    <time class="numbers" dateTime={date.toISOString()} title={date.toLocaleString()}>
      {relative(at, isJustNow ? at : now.value)}
    </time>
  )
}
