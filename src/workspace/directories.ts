import { watch, type Dirent, type FSWatcher } from 'node:fs'
import { lstat, readdir } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { linkIn } from './is-repository.ts'

/** How many directories may be watched, by all that share it. */
export interface WatchBudget {
  left: number
}

export interface DirectoryOptions {
  readonly budget: WatchBudget
  /** Something happened to this path. */
  readonly onEvent: (path: string) => void
  /** Which of these directories are not to be watched. */
  readonly ignored: (directories: readonly string[]) => Promise<ReadonlySet<string>>
  /** No more watches are to be had; by then all of them are given back. */
  readonly onLimit: (why: string) => void
  /** One watch for a whole tree, where the system itself has such a thing. */
  readonly recursive?: boolean
}

/**
 * Watches a tree by one watch for each directory. Node's own recursive watch on Linux has one for each *file*:
 * 20,000 files cost 66 MB and 0.8 s of a blocked event loop, their 2,000 directories 5 MB and 0.1 s.
 */
export interface DirectoryWatch {
  /** Directories below this one, and itself. */
  addTree(directory: string): Promise<void>
  /** Only what is directly in it. */
  addFlat(directory: string): void
  /** Looks again at what is ignored. */
  rewalk(): Promise<void>
  close(): void
}

/** Long enough to look at what a burst of events made in one go. */
const BATCH_MS = 50
const HAS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32'
const OUT_OF_WATCHES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM'])

export function watchDirectories(options: DirectoryOptions): DirectoryWatch {
  const { budget, onEvent, ignored, onLimit, recursive = HAS_RECURSIVE } = options
  const watched = new Map<string, FSWatcher>()
  const roots = new Set<string>()
  let inTrees = new Set<string>()
  let appeared = new Set<string>()
  let timer: NodeJS.Timeout | null = null
  let work: Promise<void> = Promise.resolve()
  let nextRewalk: Promise<void> | null = null
  let closed = false

  function add(directory: string, recursive = false): void {
    if (closed || watched.has(directory)) return
    if (budget.left <= 0) return giveUp('There are too many directories to watch')
    try {
      const watcher = watch(directory, { persistent: false, recursive }, (event, name) =>
        heard(directory, event, name),
      )
      watcher.on('error', () => drop(directory))
      watched.set(directory, watcher)
      budget.left--
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (OUT_OF_WATCHES.has(code)) giveUp(`The system has no watches left: ${message}`)
    }
  }

  function heard(directory: string, event: string, name: string | null): void {
    if (closed) return
    const path = name === null ? directory : join(directory, name)
    if (event === 'rename' && inTrees.has(directory)) {
      appeared.add(path)
      timer ??= setTimeout(() => {
        timer = null
        void enqueue(lookAtAppeared)
      }, BATCH_MS)
    }
    onEvent(path)
  }

  function enqueue(step: () => Promise<void>): Promise<void> {
    work = work.then(() => (closed ? undefined : step())).catch(() => {})
    return work
  }

  /** A directory that was made anew under an old name has lost its watch, so old names start over. */
  async function lookAtAppeared(): Promise<void> {
    const paths = new Set([...appeared].map(withoutGit).filter((path) => !roots.has(path)))
    appeared = new Set()
    dropBelow(paths)
    const found = await Promise.all([...paths].map(async (path) => ((await isDirectory(path)) ? [path] : [])))
    const directories = found.flat()
    if (directories.length === 0) return
    await walk(directories)
    // What happened there before the watch was set has been missed.
    for (const directory of directories) onEvent(directory)
  }

  async function walk(first: readonly string[]): Promise<void> {
    for (let level = first; level.length > 0 && !closed;) {
      const skipped = await ignored(level)
      const entered = level.filter((directory) => !skipped.has(directory))
      const below = await Promise.all(entered.map(enter))
      level = below.flat()
    }
  }

  /** Watched first and read afterwards, so that nothing falls between. */
  async function enter(directory: string): Promise<string[]> {
    inTrees.add(directory)
    add(directory)
    const entries = await readdir(directory, { withFileTypes: true }).catch((): Dirent[] => [])
    const git = entries.find(({ name }) => name === '.git')
    if (git && !roots.has(directory)) {
      drop(directory)
      await enterNested(join(directory, '.git'), git.isDirectory())
      return []
    }
    const directories = entries.filter((entry) => entry.isDirectory() && entry.name !== '.git')
    return directories.map(({ name }) => join(directory, name))
  }

  /** Of a repository within, such as a submodule, only its commit matters. */
  async function enterNested(git: string, isDirectory: boolean): Promise<void> {
    if (isDirectory) return add(git)
    const place = await linkIn(git)
    if (place !== null) add(resolve(dirname(git), place))
  }

  async function rewalk(): Promise<void> {
    nextRewalk = null
    const before = inTrees
    inTrees = new Set()
    await walk([...roots].filter((root) => before.has(root)))
    for (const directory of before) if (!inTrees.has(directory)) drop(directory)
  }

  function drop(directory: string): void {
    const watcher = watched.get(directory)
    inTrees.delete(directory)
    if (!watcher) return
    watcher.close()
    watched.delete(directory)
    budget.left++
  }

  function dropBelow(paths: ReadonlySet<string>): void {
    for (const directory of watched.keys()) {
      if (roots.has(directory)) continue
      for (let at = directory; basename(at) !== ''; at = dirname(at)) {
        if (!paths.has(at)) continue
        drop(directory)
        break
      }
    }
  }

  function giveUp(why: string): void {
    if (closed) return
    close()
    onLimit(why)
  }

  function close(): void {
    closed = true
    if (timer) clearTimeout(timer)
    for (const directory of watched.keys()) drop(directory)
  }

  return {
    addTree(directory) {
      roots.add(directory)
      if (recursive) return Promise.resolve(add(directory, true))
      return enqueue(() => walk([directory]))
    },
    addFlat(directory) {
      roots.add(directory)
      add(directory)
    },
    // One that has not begun yet sees everything that has happened until now.
    rewalk: () => (nextRewalk ??= enqueue(rewalk)),
    close,
  }
}

/** A `.git` that comes or goes changes what the directory around it is. */
function withoutGit(path: string): string {
  return basename(path) === '.git' ? dirname(path) : path
}

async function isDirectory(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}
