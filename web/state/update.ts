import { signal } from '@preact/signals'
import { scriptUrl } from '../trusted.ts'

/** The daemon has another dashboard than the one on the screen. */
export const isOutdated = signal(false)

let registration: ServiceWorkerRegistration | null = null

/** Keeps the files of the dashboard for the next start. The worker never answers for the API. */
export function keepUpToDate(): void {
  if (!('serviceWorker' in navigator)) return
  const { serviceWorker } = navigator
  let hasOne = serviceWorker.controller !== null
  serviceWorker.addEventListener('controllerchange', () => {
    // The first one takes over a page that is as new as itself.
    isOutdated.value ||= hasOne
    hasOne = true
  })
  serviceWorker.register(scriptUrl('/sw.js'), { scope: '/' }).then(
    (made) => (registration = made),
    () => {
      // A certificate that the browser does not trust: the dashboard works without it.
    },
  )
}

/** The daemon has been away: it may have been updated. */
export function lookForUpdate(): void {
  registration?.update().catch(() => {})
}
