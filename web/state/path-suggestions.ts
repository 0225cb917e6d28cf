/** Directories that are offered for what was typed so far. */
export interface PathSources {
  /** Where sessions have worked, the last one first. */
  recent: readonly string[]
  /** Repositories of projects, with the project's name. */
  repositories: readonly { path: string; name: string }[]
  /** What is in the directory that was typed last, as the daemon says. */
  inside: { path: string; directories: readonly string[] } | null
}

export interface PathSuggestion {
  path: string
  why: 'recent' | 'project' | 'inside'
  name?: string
}

const MAX = 8

/** With nothing typed, what was used before; then what fits, and what lies below. */
export function suggestPaths(typed: string, { recent, repositories, inside }: PathSources): PathSuggestion[] {
  const query = typed.trim().toLowerCase()
  const known: PathSuggestion[] = [
    ...recent.map((path) => ({ path, why: 'recent' as const })),
    ...repositories.map(({ path, name }) => ({ path, why: 'project' as const, name })),
  ].filter(({ path, ...more }) => fits(query, path, 'name' in more ? more.name : ''))
  const below = belowOf(typed, inside)
  const all = query.startsWith('/') || query.startsWith('~') ? [...below, ...known] : [...known, ...below]
  const seen = new Set<string>()
  return all.filter(({ path }) => path !== typed.trim() && !seen.has(path) && seen.add(path)).slice(0, MAX)
}

function fits(query: string, path: string, name = ''): boolean {
  return query
    .split(/\s+/)
    .every((word) => path.toLowerCase().includes(word) || name.toLowerCase().includes(word))
}

/** `/home/me/co` in `/home/me`: those that begin with `co`. */
function belowOf(typed: string, inside: PathSources['inside']): PathSuggestion[] {
  if (!inside) return []
  const text = typed.trim()
  const isWhole = text.endsWith('/')
  const rest = isWhole ? '' : (text.split('/').at(-1) ?? '').toLowerCase()
  const base = inside.path === '/' ? '' : inside.path
  return inside.directories
    .filter((name) => name.toLowerCase().startsWith(rest))
    .map((name) => ({ path: `${base}/${name}`, why: 'inside' as const }))
}

/** The directory to look into for completions of what was typed. */
export function parentOf(typed: string): string {
  const text = typed.trim()
  const slash = text.lastIndexOf('/')
  if (slash < 0) return '~'
  return slash === 0 ? '/' : text.slice(0, slash)
}
