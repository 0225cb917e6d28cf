import { computed, signal } from '@preact/signals'
import { client } from './connection.ts'
import { listOf, NO_COUNTS, type SessionList, withChange } from './session-list.ts'
import type { SessionRow } from '../client/rows.ts'

const LIMIT = 2000

/** Every session that is not archived; null until the daemon has told. A lost connection leaves it as it was. */
export const sessions = signal<SessionList | null>(null)

export const counts = computed(() => sessions.value?.counts ?? NO_COUNTS)

/** How many sessions wait for a person. */
export const needsYou = computed(() => counts.value.needs_you)

/** Follows the list for as long as the page is open. */
export function keepSessions(): void {
  client().watch({ limit: LIMIT }, (update) => {
    const before = sessions.peek()
    if (update.kind === 'all') sessions.value = listOf(update)
    else if (before) sessions.value = withChange(before, update)
  })
}

export function rowOf(id: string): SessionRow | null {
  return sessions.value?.rows.get(id) ?? null
}
