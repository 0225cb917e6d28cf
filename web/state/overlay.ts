import { signal } from '@preact/signals'

/** What stands in front of every page. */
export const overlay = signal<'palette' | 'keys' | 'new' | null>(null)
