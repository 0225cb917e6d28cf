/** What an agent may do without asking: everything, edits, nothing but reading, nothing. */
export const MODES = ['auto', 'code', 'plan', 'ask'] as const
export type Mode = (typeof MODES)[number]

export function isMode(value: unknown): value is Mode {
  return (MODES as readonly unknown[]).includes(value)
}
