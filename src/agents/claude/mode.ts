import type { Mode } from '../../core/mode.ts'

/**
 * Claude's mode for each of ours. `auto` is not Claude's bypass mode, which it refuses to root, and `code` is not its
 * `acceptEdits`, which also lets commands like `rm` and `mv` pass: Claude asks as ever and Corral says yes, in `code` to
 * edits only.
 */
export const PERMISSION_MODES: Readonly<Record<Mode, string>> = {
  auto: 'default',
  code: 'default',
  plan: 'plan',
  ask: 'default',
}

const OBSERVED: ReadonlyMap<string, Mode> = new Map([
  ['default', 'ask'],
  ['acceptEdits', 'code'],
  ['plan', 'plan'],
  ['bypassPermissions', 'auto'],
  ['auto', 'auto'],
])

export function modeOf(permissionMode: string): Mode | null {
  return OBSERVED.get(permissionMode) ?? null
}
