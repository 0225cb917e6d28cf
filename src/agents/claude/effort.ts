import type { Effort } from '../../core/effort.ts'
import { request } from './control.ts'

/** Claude's levels begin with `low`; thinking can be turned off beside that, with models that let it. */
const LEVELS: Readonly<Partial<Record<Effort, string>>> = { off: 'low', minimal: 'low' }

/** Holds from the next turn on, for every model. What a model does not have Claude replaces itself, or leaves out. */
export function setEffort(id: string, effort: Effort | null): string[] {
  const effortLevel = effort === null ? null : (LEVELS[effort] ?? effort)
  // The setting that always lets it think decides only what a process begins with; no tokens for it hold at once.
  const tokens = effort === 'off' ? 0 : null
  return [
    request('effort', id, { subtype: 'apply_flag_settings', settings: { effortLevel } }),
    request('thinking', id, { subtype: 'set_max_thinking_tokens', max_thinking_tokens: tokens }),
  ]
}
