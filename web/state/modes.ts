import type { Mode } from '../../src/core/mode.ts'

/** What each mode means, in one sentence; from the most careful to the freest. */
export const MODE_WORDS: Readonly<Record<Mode, { name: string; means: string }>> = {
  plan: { name: 'Plan', means: 'Reads and makes a plan; changes nothing.' },
  ask: { name: 'Ask', means: 'Asks you before everything that it does.' },
  code: { name: 'Code', means: 'Edits files by itself; asks before it runs a command.' },
  auto: { name: 'Auto', means: 'Does everything without asking you.' },
}

export const MODES_IN_ORDER = Object.keys(MODE_WORDS) as Mode[]
