import { computed, effect, signal } from '@preact/signals'
import { needsYou } from './sessions.ts'

/*
 * How somebody who looks elsewhere sees that they are needed: the title of the window, its icon, and the badge of the
 * installed app.
 */

/** The heading of the page that is shown. */
export const pageTitle = signal('')

const title = computed(() => titleWith(pageTitle.value, needsYou.value))

export function titleWith(page: string, count: number): string {
  const name = page === '' ? 'Corral' : `${page} · Corral`
  return count === 0 ? name : `(${count}) ${name}`
}

/** An icon with the number on it, as an address. */
export function iconWith(count: number): string {
  if (count === 0) return '/icons/mark.svg'
  const text = count > 9 ? '9+' : String(count)
  const svg =
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="9" fill="#b45309"/>` +
    `<text x="16" y="23" font-family="system-ui,sans-serif" font-size="${text.length > 1 ? 17 : 21}" font-weight="700" ` +
    `text-anchor="middle" fill="#fff">${text}</text></svg>`
  return `data:image/svg+xml,${encodeURIComponent(svg)}`
}

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
