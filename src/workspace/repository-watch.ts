import { basename, dirname, join, relative, sep } from 'node:path'
import { DirectoryWatch, type WatchBudget } from './directories.ts'
import { isInside } from './files.ts'
import type { Repository } from './repository.ts'

export interface RepositoryWatch {
  /** Resolves when everything that is there now is watched. */
  readonly ready: Promise<void>
  close(): void
}

export interface RepositoryWatchOptions {
  readonly budget: WatchBudget
  readonly onDirty: () => void
  readonly onLimit: (why: string) => void
}

/** Files of git's own that a status depends on. The rest of them changes with every commit, fetch and lock. */
const TELLING = new Set('HEAD index packed-refs config config.worktree MERGE_HEAD exclude'.split(' '))

/** The working tree without what is ignored, and those of git's own files that change the status. */
export function watchRepository(
  repo: Repository,
  { budget, onDirty, onLimit }: RepositoryWatchOptions,
): RepositoryWatch {
  const refs = join(repo.commonDir, 'refs')
  const own = new Set([repo.gitDir, repo.commonDir, join(repo.commonDir, 'info')])
  const watch = new DirectoryWatch({ budget, onLimit, onEvent, ignored })

  function onEvent(path: string): void {
    if (!isTelling(path)) return
    if (basename(path) === '.gitignore' || basename(path) === 'exclude') void watch.rewalk().then(onDirty)
    onDirty()
  }

  function isTelling(path: string): boolean {
    if (isInside(refs, path)) return !path.endsWith('.lock')
    const folder = dirname(path)
    const isGits = own.has(folder) || basename(folder) === '.git' || folder.includes(`${sep}.git${sep}`)
    return !isGits || TELLING.has(basename(path))
  }

  /**
   * Patterns first, and the index for what they match: an ignored directory with tracked files in it counts.
   * Asking the index about all of them would take git seconds in a large repository.
   */
  async function ignored(directories: readonly string[]): Promise<ReadonlySet<string>> {
    const names = directories.filter((path) => path !== repo.root && !isInside(refs, path))
    const matched = await checkIgnore(names, ['--no-index'])
    return new Set(await checkIgnore(matched, []))
  }

  async function checkIgnore(paths: readonly string[], flags: readonly string[]): Promise<string[]> {
    if (paths.length === 0) return []
    const output = await repo.git
      .run({
        cwd: repo.root,
        args: ['check-ignore', '-z', '--stdin', ...flags],
        // This command refuses literal paths; a dot at the start makes them as good as that.
        env: { GIT_LITERAL_PATHSPECS: '0' },
        input: paths.map((path) => `./${relative(repo.root, path)}\0`).join(''),
        answers: [0, 1],
      })
      // Without an answer nothing is ignored: more watches than needed, but no event is lost.
      .catch(() => null)
    const found = output?.stdout.toString().split('\0').slice(0, -1) ?? []
    return found.map((path) => join(repo.root, path))
  }

  for (const folder of own) watch.addFlat(folder)
  const ready = Promise.all([watch.addTree(repo.root), watch.addTree(refs)]).then(() => {})
  return { ready, close: () => watch.close() }
}
