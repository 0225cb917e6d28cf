import { signal } from '@preact/signals'

/** The session whose flags are chosen. */
export const flagging = signal<string | null>(null)

/** What stands in front of every page. */
export const overlay = signal<'palette' | 'keys' | 'new' | null>(null)
