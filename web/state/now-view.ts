import { computed, signal } from '@preact/signals'
import { isTexts, oneOf, remembered } from './remembered.ts'
import { markRead } from './session-actions.ts'
import { groupsByProject, groupsByState, linesOf, matching, stepTo } from './session-list.ts'
import { sessions } from './sessions.ts'

/*
 * How the person looks at the list: what of it is chosen for this browser, and where they are in it.
 */

export const grouping = remembered('now.grouping', 'state', oneOf('state', 'project'))
export const layout = remembered('now.layout', 'list', oneOf('list', 'board'))
const folded = remembered('now.folded', ['quiet'], isTexts)

export const filter = signal('')

/** The row that keys act on. `seek` grows with every wish that it gets the focus; 0: it has it, or nobody wishes so. */
export const cursor = signal<{ id: string; seek: number } | null>(null)
/** The row whose last lines are shown. */
export const peeked = signal<string | null>(null)
export const selected = signal<ReadonlySet<string>>(new Set())

export const groups = computed(() => {
  const rows = matching(sessions.value?.rows.values() ?? [], filter.value)
  return grouping.value === 'state' ? groupsByState(rows) : groupsByProject(rows)
})

/** Who looks for something looks everywhere. */
const foldedNow = computed(() => new Set(filter.value.trim() === '' ? folded.value : []))

export const lines = computed(() => linesOf(groups.value, foldedNow.value))

/** More than these of a column are for the list. */
export const PER_COLUMN = 50

/** The board is chosen, and there is room for it. */
export const isBoard = signal(false)

export const columns = computed(() => groupsByState(groups.value.flatMap(({ rows }) => rows)))

/** The rows that can be stepped through, in order. */
export const ids = computed(() =>
  isBoard.value
    ? columns.value.flatMap(({ rows }) => rows.slice(0, PER_COLUMN).map(({ id }) => id))
    : lines.value.flatMap((line) => (line.kind === 'row' ? [line.row.id] : [])),
)

/** Where the cursor was, for when its row goes. */
let lastIndex = 0
let lastSeek = 0

export function toggleFold(key: string): void {
  const now = folded.value
  folded.value = now.includes(key) ? now.filter((one) => one !== key) : [...now, key]
}

/** The row is where the keys are from now on. */
export function moveTo(id: string): void {
  lastIndex = Math.max(0, ids.peek().indexOf(id))
  if (cursor.peek()?.id !== id) cursor.value = { id, seek: 0 }
}

/** And gets the focus, as soon as it is there. */
export function focusOn(id: string): void {
  lastIndex = Math.max(0, ids.peek().indexOf(id))
  cursor.value = { id, seek: ++lastSeek }
}

export function step(by: number): void {
  const next = stepTo(ids.value, cursor.value?.id ?? null, by, lastIndex)
  if (next === null) return
  if (peeked.value !== null) showPeek(next)
  focusOn(next)
}

/** The row has gone from the list: whoever was there is now at the one that took its place, with the focus if they had it. */
export function stayInPlace(hadFocus: boolean): void {
  const at = cursor.peek()
  if (!at || ids.peek().includes(at.id)) return
  const next = stepTo(ids.peek(), at.id, 0, lastIndex)
  if (next === null) cursor.value = null
  else if (hadFocus) focusOn(next)
  else moveTo(next)
}

export function togglePeek(id: string): void {
  showPeek(peeked.value === id ? null : id)
}

/** What was peeked at has been looked at: it is marked when the peek ends, so that it does not go from under one's eyes. */
export function showPeek(id: string | null): void {
  const before = peeked.peek()
  if (before !== null && before !== id) markRead(before)
  peeked.value = id
}

export function toggleSelected(id: string): void {
  const next = new Set(selected.value)
  if (!next.delete(id)) next.add(id)
  selected.value = next
}

/** Those that an act is meant for: what is selected, else the row at the cursor. */
export function meant(): string[] {
  if (selected.value.size > 0) return [...selected.value]
  return cursor.value ? [cursor.value.id] : []
}

export function clearSelection(): void {
  selected.value = new Set()
}
