/** Bases that people configure differ: with `/v1`, without it, with it twice, with a slash at the end. */
const BASE = /^(?:\/+v1(?=\/|$))*\/*/

/** The path of the route that a request means. Anybody may send any path, also a web page: no step looks back. */
export function routePath(path: string): string {
  let end = path.length
  while (path[end - 1] === '/') end--
  const rest = path.slice(0, end).replace(BASE, '')
  return rest === '' ? '/v1' : `/v1/${rest}`
}

/** The path of a request as it came, without its query. */
export function pathIn(url: string | undefined): string {
  return (url ?? '/').split('?', 1)[0]!
}
