/** A page of the dashboard, and what it is about. */
export type Route =
  | { page: 'now' | 'inbox' | 'search' | 'relay' | 'system' | 'devices' | 'settings' | 'signin' | 'welcome' }
  | { page: 'session' | 'changes'; id: string }
  | { page: 'unknown' }

export type PageName = Route['page']

const PLAIN = ['inbox', 'search', 'relay', 'system', 'devices', 'settings', 'signin', 'welcome'] as const

/** The page that a path means. The front door answers each of them with the same HTML. */
export function routeOf(path: string): Route {
  const [first, id, last, ...more] = path.split('/').slice(1)
  if (first === '' && id === undefined) return { page: 'now' }
  if (more.length > 0) return { page: 'unknown' }
  if (first === 's' && id !== undefined) return sessionRoute(id, last)
  const page = PLAIN.find((name) => name === first)
  return page && id === undefined ? { page } : { page: 'unknown' }
}

function sessionRoute(encoded: string, last: string | undefined): Route {
  const id = decoded(encoded)
  if (id === null || id === '') return { page: 'unknown' }
  if (last === undefined) return { page: 'session', id }
  return last === 'changes' ? { page: 'changes', id } : { page: 'unknown' }
}

/** The path of a page; `routeOf` takes it back. */
export function pathOf(route: Exclude<Route, { page: 'unknown' }>): string {
  if (route.page === 'now') return '/'
  if (!('id' in route)) return `/${route.page}`
  const session = `/s/${encodeURIComponent(route.id)}`
  return route.page === 'changes' ? `${session}/changes` : session
}

function decoded(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
