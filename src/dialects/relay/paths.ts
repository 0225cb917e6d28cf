/** Bases that people configure differ: with `/v1`, without it, with it twice, with a slash at the end. */
const BASE = /^(?:\/+v1(?=\/|$))*\/*/

/** The path of the route that a request means. */
export function routePath(path: string): string {
  return `/v1/${path.replace(BASE, '')}`.replace(/\/+$/, '')
}

/** The path of a request as it came, without its query. */
export function pathIn(url: string | undefined): string {
  return (url ?? '/').split('?', 1)[0]!
}
