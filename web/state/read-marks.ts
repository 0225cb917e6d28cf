import { effect, signal } from '@preact/signals'
import { route } from './router.ts'
import { markRead } from './session-actions.ts'
import { rowOf } from './sessions.ts'

const isLookedAt = signal(document.visibilityState === 'visible')

/** Whoever has a session open and looks at it has seen how its turns ended. */
export function keepReadMarks(): void {
  document.addEventListener('visibilitychange', () => {
    isLookedAt.value = document.visibilityState === 'visible'
  })
  effect(() => {
    const at = route.value
    if (!isLookedAt.value || (at.page !== 'session' && at.page !== 'changes')) return
    if (rowOf(at.id)) markRead(at.id)
  })
}
