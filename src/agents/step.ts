import { capped } from './json.ts'
import type { DriverOutput } from './output.ts'

/*
 * What all translators are made of. A step is pure: what the translator knows after a line, and what it says about it.
 */

export interface Step<S> {
  state: S
  outputs: DriverOutput[]
}

/** No more of a line than this goes to the log as it came. */
export const MAX_RAW = 64 * 1024
const MAX_KIND = 100

export function nothing<S>(state: S): Step<S> {
  return { state, outputs: [] }
}

export function says<S>(state: S, ...outputs: DriverOutput[]): Step<S> {
  return { state, outputs }
}

/** One step, and another from where it led. */
export function andThen<S>(first: Step<S>, next: (state: S) => Step<S>): Step<S> {
  const { state, outputs } = next(first.state)
  return { state, outputs: [...first.outputs, ...outputs] }
}

/** Something that no translator knows, passed on as it came. */
export function other<S>(state: S, kind: string, raw: unknown): Step<S> {
  return says(state, { type: 'agent.other', kind: kind.slice(0, MAX_KIND), raw: capped(raw, MAX_RAW) })
}

export function notice(
  code: string,
  message: string,
  data: unknown = null,
  level: 'info' | 'warning' = 'warning',
): DriverOutput {
  return { type: 'agent.notice', level, code, message, data }
}

/** The list with one more at its end; at the bound the oldest is given up. */
export function remember<T>(list: readonly T[], item: T, max: number): T[] {
  return list.length < max ? [...list, item] : [...list.slice(1), item]
}
