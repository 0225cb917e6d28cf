import { computed, effect, signal } from '@preact/signals'
import { divided, nextReturn } from './approval-list.ts'
import { approvals } from './approvals.ts'
import { now } from './clock.ts'
import { waiting } from './counts.ts'
import { stepTo } from './session-list.ts'
import { counts } from './sessions.ts'

/** How the person looks at the decisions. */
export const tab = signal<'open' | 'history'>('open')
export const chosen = signal<ReadonlySet<string>>(new Set())

/** The decision that keys act on; `seek` as in the list of sessions. */
export const current = signal<{ id: string; seek: number } | null>(null)

/** When one that was put off has come back last. */
const returnedAt = signal(0)

/** Those to be looked at, and those that were put off; null until the daemon has told. */
export const inbox = computed(
  () => approvals.value && divided(approvals.value, Math.max(now.value, returnedAt.value)),
)

const MAX_TIMER_MS = 2 ** 31 - 1

/** Says how many wait, and brings back what was put off, at its time: no event tells it. */
export function keepInbox(): void {
  effect(() => {
    waiting.value = inbox.value?.open.length ?? counts.value.approvals
  })
  effect(() => {
    const at = nextReturn(approvals.value ?? [], Math.max(Date.now(), returnedAt.value))
    if (at === null) return
    const wait = Math.min(MAX_TIMER_MS, Math.max(0, at - Date.now()))
    const timer = setTimeout(() => void (returnedAt.value = Date.now()), wait)
    return () => clearTimeout(timer)
  })
}

const openIds = computed(() => (inbox.value?.open ?? []).map(({ id }) => id))

let lastIndex = 0
let lastSeek = 0

export function beAt(id: string): void {
  lastIndex = Math.max(0, openIds.peek().indexOf(id))
  if (current.peek()?.id !== id) current.value = { id, seek: 0 }
}

export function stepBy(by: number): boolean {
  return seekTo(stepTo(openIds.value, current.value?.id ?? null, by, lastIndex))
}

/** What was answered has gone: the next one has taken its place, and gets the focus if that was there. */
export function keepPlace(hadFocus: boolean): void {
  const at = current.peek()
  if (at && !openIds.peek().includes(at.id)) {
    const next = stepTo(openIds.peek(), at.id, 0, lastIndex)
    if (next !== null && !hadFocus) beAt(next)
    else seekTo(next)
  }
  const left = [...chosen.peek()].filter((id) => openIds.peek().includes(id))
  if (left.length < chosen.peek().size) chosen.value = new Set(left)
}

function seekTo(id: string | null): boolean {
  if (id === null) current.value = null
  else {
    lastIndex = Math.max(0, openIds.peek().indexOf(id))
    current.value = { id, seek: ++lastSeek }
  }
  return id !== null
}

export function toggleChosen(id: string): void {
  const next = new Set(chosen.value)
  if (!next.delete(id)) next.add(id)
  chosen.value = next
}
