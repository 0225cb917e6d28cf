export interface Found<T> {
  target: T
  params: Record<string, string>
}

export interface Router<T> {
  /** `:name` in a path takes one segment. */
  add(method: string, path: string, target: T): void
  find(method: string, path: string): Found<T> | null
  /** The methods that a path knows, in order. */
  methods(path: string): string[]
}

interface Route<T> {
  method: string
  segments: string[]
  target: T
}

/** A table of routes; the first that fits wins, so plain segments are added before parameters. */
export function createRouter<T>(): Router<T> {
  const routes: Route<T>[] = []
  return {
    add(method, path, target) {
      routes.push({ method, segments: path.split('/'), target })
    },
    find(method, path) {
      const segments = path.split('/')
      for (const route of routes) {
        const params = route.method === method ? match(route.segments, segments) : null
        if (params) return { target: route.target, params }
      }
      return null
    },
    methods(path) {
      const segments = path.split('/')
      return [
        ...new Set(routes.filter((route) => match(route.segments, segments)).map(({ method }) => method)),
      ].sort()
    },
  }
}

function match(pattern: string[], segments: string[]): Record<string, string> | null {
  if (pattern.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of pattern.entries()) {
    const segment = segments[index]!
    if (part === segment) continue
    const value = part.startsWith(':') && segment !== '' ? decode(segment) : null
    if (value === null) return null
    params[part.slice(1)] = value
  }
  return params
}

function decode(segment: string): string | null {
  try {
    return decodeURIComponent(segment)
  } catch {
    return null
  }
}
