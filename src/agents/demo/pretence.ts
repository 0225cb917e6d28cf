import type { LimitWindow } from '../../core/limits.ts'
import { markersIn } from './directive.ts'

/*
 * What an agent with a model would know about itself: which one that is, how full its conversation is, and what is left of its
 * account.
 */

const HOUR = 3_600_000
const WINDOWS = [
  { name: 'five_hour', lengthMs: 5 * HOUR },
  { name: 'seven_day', lengthMs: 7 * 24 * HOUR },
]

/** `/compact`, and maybe a script for what is said while the conversation is summed up. */
export function compactScript(text: string): string | null {
  const [, script] = /^\/compact(?:\s+([^]*))?$/.exec(text.trim()) ?? [null, null]
  return script === null ? null : (script ?? '[[say a summary]]')
}

/** `[[fallback NAME]]`: the model that was chosen is not to be had, and another one answers. */
export function fallbackIn(text: string): string | null {
  return markersIn(text, 'fallback').at(-1) ?? null
}

/** `[[limits 63 21]]`: so many percent of each window are used, and half of its time is left. */
export function limitsIn(text: string, now: number): LimitWindow[] {
  const used = markersIn(text, 'limits').at(-1)?.split(/\s+/).map(Number) ?? []
  return WINDOWS.flatMap(({ name, lengthMs }, at) => {
    const usedPercent = used[at]
    if (usedPercent === undefined || !Number.isFinite(usedPercent)) return []
    return [{ name, usedPercent, lengthMs, resetsAt: now + lengthMs / 2 }]
  })
}
