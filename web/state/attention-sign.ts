import { computed, effect, signal } from '@preact/signals'
import { needsYou } from './sessions.ts'
import { iconWith, titleWith } from './sign-words.ts'

/*
 * How somebody who looks elsewhere sees that they are needed: the title of the window, its icon, and the badge of the
 * installed app.
 */

/** The heading of the page that is shown. */
export const pageTitle = signal('')

const title = computed(() => titleWith(pageTitle.value, needsYou.value))

export function keepSign(): void {
  effect(() => {
    document.title = title.value
  })
  effect(() => {
    const count = needsYou.value
    document.querySelector('link[rel="icon"]')?.setAttribute('href', iconWith(count))
    void badge(count).catch(() => {})
  })
}

async function badge(count: number): Promise<void> {
  if (!('setAppBadge' in navigator)) return
  if (count === 0) await navigator.clearAppBadge()
  else await navigator.setAppBadge(count)
}
