import { signal } from '@preact/signals'

let timer: ReturnType<typeof setInterval> | undefined

/** The time, once a second, for what counts up. One timer for everybody; none while nobody counts. */
export const second = signal(Date.now(), {
  watched() {
    second.value = Date.now()
    timer = setInterval(() => {
      if (document.visibilityState === 'visible') second.value = Date.now()
    }, 1000)
  },
  unwatched() {
    clearInterval(timer)
  },
})
