import { signal } from '@preact/signals'

export const TICK_MS = 15_000

/** The time, for what says how long ago something was. It stands still while nobody can see it. */
export const now = signal(Date.now())

const tick = (): void => void (now.value = Date.now())
setInterval(() => {
  if (document.visibilityState === 'visible') tick()
}, TICK_MS)
document.addEventListener('visibilitychange', tick)
