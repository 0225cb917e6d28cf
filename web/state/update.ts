import { signal } from '@preact/signals'
import { scriptUrl } from '../trusted.ts'

/** The daemon has another dashboard than the one on the screen. */
export const isOutdated = signal(false)

/** Keeps the files of the dashboard for the next start. The worker never answers for the API. */
export function keepUpToDate(): void {
  if (!('serviceWorker' in navigator)) return
  const { serviceWorker } = navigator
  const hadOne = serviceWorker.controller !== null
  serviceWorker.addEventListener('controllerchange', () => {
    if (hadOne) isOutdated.value = true
  })
  serviceWorker.register(scriptUrl('/sw.js'), { scope: '/' }).catch(() => {
    // A certificate that the browser does not trust: the dashboard works without it.
  })
}
