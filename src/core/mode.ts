/** What an agent may do without asking: everything, edits, nothing but reading, nothing. */
export const MODES = ['auto', 'code', 'plan', 'ask'] as const
export type Mode = (typeof MODES)[number]
