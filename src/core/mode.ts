/** What an agent may do without asking: everything, edits, nothing but reading, nothing. */
export const MODES = ['auto', 'code', 'plan', 'ask'] as const
export type Mode = (typeof MODES)[number]

/** From the one that allows least to the one that allows all. */
const BY_FREEDOM: readonly Mode[] = ['plan', 'ask', 'code', 'auto']

/** Whether it allows more than the other; null: nobody knows what it allows. */
export function isLooser(mode: Mode | null, than: Mode): boolean {
  return BY_FREEDOM.indexOf(mode ?? 'auto') > BY_FREEDOM.indexOf(than)
}

export function isMode(value: unknown): value is Mode {
  return (MODES as readonly unknown[]).includes(value)
}
