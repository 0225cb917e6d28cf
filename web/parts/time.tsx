import { now } from '../state/clock.ts'
import { relative } from './relative.ts'

/** How long ago; the exact time when pointed at. */
export function Time({ at }: { at: number }) {
  const date = new Date(at)
  return (
    <time class="numbers" dateTime={date.toISOString()} title={date.toLocaleString()}>
      {relative(at, now.value)}
    </time>
  )
}
