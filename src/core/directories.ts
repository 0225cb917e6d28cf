import type { EventOf } from './event.ts'
import type { Directory, Log } from './ports.ts'
import { NO_RULES, type Rules } from './rule.ts'

/** The rules of directories: the newest, committed or about to be. */
export interface Directories {
  list(): Directory[]
  /** Under the name that its rules are kept by. */
  at(path: string): Directory
  /** What holds in any of these directories: their own rules and those of the ones above. */
  rulesIn(...directories: string[]): Rules[]
  apply(event: EventOf<'directory.changed'>): void
  /** Forgets what is not committed. */
  rollback(): void
}

interface DirectoriesDeps {
  log: Log
  /** Without links; the path itself when there is no such place. */
  realPath: (path: string) => string
}

export function createDirectories({ log, realPath }: DirectoriesDeps): Directories {
  /** Read from the log when somebody wants to know. */
  let known: Map<string, Rules> | null = null

  function all(): Map<string, Rules> {
    return (known ??= new Map(log.directories().map(({ path, rules }) => [path, rules])))
  }

  return {
    list: () => [...all()].map(([path, rules]) => ({ path, rules })),
    at(path) {
      const place = realPath(path.replace(/\/+$/, '') || '/')
      return { path: place, rules: all().get(place) ?? NO_RULES }
    },
    rulesIn(...directories) {
      const rulesOf = all()
      if (rulesOf.size === 0) return []
      // By where the directory really is, too: a link to it is no way around its rules.
      const places = directories.flatMap((directory) => [directory, realPath(directory)])
      return [...rulesOf].flatMap(([path, rules]) =>
        places.some((place) => isWithin(place, path)) ? [rules] : [],
      )
    },
    apply: ({ path, rules }) => void all().set(path, rules),
    rollback() {
      known = null
    },
  }
}

function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`)
}
