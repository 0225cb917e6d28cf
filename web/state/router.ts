import { batch, computed, signal } from '@preact/signals'
import { pathOf, routeOf, type Route } from '../route.ts'

const path = signal(location.pathname)

/** What stands behind the path, with its `?`. */
export const query = signal(location.search)

/** The page that is shown. */
export const route = computed(() => routeOf(path.value))

/** Goes to a page; `replace` leaves no way back to the one before. */
export function go(to: Exclude<Route, { page: 'unknown' }> | string, { replace = false } = {}): void {
  const target = typeof to === 'string' ? to : pathOf(to)
  if (replace) history.replaceState(null, '', target)
  else if (target !== location.pathname + location.search) history.pushState(null, '', target)
  arrive()
}

function arrive(): void {
  batch(() => {
    path.value = location.pathname
    query.value = location.search
  })
}

/** Links to pages of the dashboard do not load it again. */
export function followLinks(): void {
  addEventListener('popstate', arrive)
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a[href]')
    if (!(link instanceof HTMLAnchorElement) || !isOurs(link) || isSpecial(event)) return
    event.preventDefault()
    go(link.pathname + link.search)
  })
}

function isOurs(link: HTMLAnchorElement): boolean {
  return link.origin === location.origin && link.target === '' && routeOf(link.pathname).page !== 'unknown'
}

function isSpecial(event: MouseEvent): boolean {
  return (
    event.defaultPrevented ||
    event.button !== 0 ||
    event.metaKey ||
    event.ctrlKey ||
    event.shiftKey ||
    event.altKey
  )
}
