import { now } from '../state/clock.ts'
import { relative } from './relative.ts'

/** When something was: `just now`, `5m ago`, then a date. The exact time when pointed at. */
export function Ago({ at }: { at: number }) {
  const date = new Date(at)
  const text = relative(Math.min(at, now.value), now.value)
  const words = text === 'now' ? 'just now' : /^\d+[mhd]$/.test(text) ? `${text} ago` : text
  return (
    <time class="numbers" dateTime={date.toISOString()} title={date.toLocaleString()}>
      {words}
    </time>
  )
}
