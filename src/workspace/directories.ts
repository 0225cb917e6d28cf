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

/** Long enough to look at what a burst of events made in one go. */
const BATCH_MS = 50
const HAS_RECURSIVE = process.platform === 'darwin' || process.platform === 'win32'
const OUT_OF_WATCHES: ReadonlySet<unknown> = new Set(['ENOSPC', 'EMFILE', 'ENFILE', 'ENOMEM'])

/**
 * Watches a tree by one watch for each directory. Node's own recursive watch on Linux has one for each *file*:
 * 20,000 files cost 66 MB and 0.8 s of a blocked event loop, their 2,000 directories 5 MB and 0.1 s.
 */
export class DirectoryWatch {
  readonly #options: DirectoryOptions
  readonly #watched = new Map<string, FSWatcher>()
  readonly #roots = new Set<string>()
  #inTrees = new Set<string>()
  #appeared = new Set<string>()
  #timer: NodeJS.Timeout | null = null
  #work: Promise<void> = Promise.resolve()
  #nextRewalk: Promise<void> | null = null
  #closed = false

  constructor(options: DirectoryOptions) {
    this.#options = options
  }

  /** Directories below this one, and itself. */
  addTree(directory: string): Promise<void> {
    this.#roots.add(directory)
    if (this.#options.recursive ?? HAS_RECURSIVE) return Promise.resolve(this.#add(directory, true))
    return this.#enqueue(() => this.#walk([directory]))
  }

  /** Only what is directly in it. */
  addFlat(directory: string): void {
    this.#roots.add(directory)
    this.#add(directory)
  }

  /** Looks again at what is ignored. */
  rewalk(): Promise<void> {
    // One that has not begun yet sees everything that has happened until now.
    return (this.#nextRewalk ??= this.#enqueue(() => this.#walkAgain()))
  }

  close(): void {
    this.#closed = true
    if (this.#timer) clearTimeout(this.#timer)
    for (const directory of this.#watched.keys()) this.#drop(directory)
  }

  #add(directory: string, recursive = false): void {
    const { budget } = this.#options
    if (this.#closed || this.#watched.has(directory)) return
    if (budget.left <= 0) return this.#giveUp('There are too many directories to watch')
    try {
      const watcher = watch(directory, { persistent: false, recursive }, (event, name) =>
        this.#heard(directory, event, name),
      )
      watcher.on('error', () => this.#drop(directory))
      this.#watched.set(directory, watcher)
      budget.left--
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException
      if (OUT_OF_WATCHES.has(code)) this.#giveUp(`The system has no watches left: ${message}`)
    }
  }

  #heard(directory: string, event: string, name: string | null): void {
    if (this.#closed) return
    const path = name === null ? directory : join(directory, name)
    if (event === 'rename' && this.#inTrees.has(directory)) {
      this.#appeared.add(path)
      this.#timer ??= setTimeout(() => {
        this.#timer = null
        void this.#enqueue(() => this.#lookAtAppeared())
      }, BATCH_MS)
    }
    this.#options.onEvent(path)
  }

  #enqueue(step: () => Promise<void>): Promise<void> {
    return (this.#work = this.#work.then(() => (this.#closed ? undefined : step())).catch(() => {}))
  }

  /** A directory that was made anew under an old name has lost its watch, so old names start over. */
  async #lookAtAppeared(): Promise<void> {
    const paths = new Set([...this.#appeared].map(withoutGit).filter((path) => !this.#roots.has(path)))
    this.#appeared = new Set()
    this.#dropBelow(paths)
    const found = await Promise.all([...paths].map(async (path) => ((await isDirectory(path)) ? [path] : [])))
    const directories = found.flat()
    if (directories.length === 0) return
    await this.#walk(directories)
    // What happened there before the watch was set has been missed.
    for (const directory of directories) this.#options.onEvent(directory)
  }

  async #walk(first: readonly string[]): Promise<void> {
    for (let level = first; level.length > 0 && !this.#closed;) {
      const skipped = await this.#options.ignored(level)
      const entered = level.filter((directory) => !skipped.has(directory))
      const below = await Promise.all(entered.map((directory) => this.#enter(directory)))
      level = below.flat()
    }
  }

  /** Watched first and read afterwards, so that nothing falls between. */
  async #enter(directory: string): Promise<string[]> {
    this.#inTrees.add(directory)
    this.#add(directory)
    const entries = await readdir(directory, { withFileTypes: true }).catch((): Dirent[] => [])
    const git = entries.find(({ name }) => name === '.git')
    if (git && !this.#roots.has(directory)) {
      this.#drop(directory)
      await this.#enterNested(join(directory, '.git'), git.isDirectory())
      return []
    }
    const directories = entries.filter((entry) => entry.isDirectory() && entry.name !== '.git')
    return directories.map(({ name }) => join(directory, name))
  }

  /** Of a repository within, such as a submodule, only its commit matters. */
  async #enterNested(git: string, isDirectory: boolean): Promise<void> {
    if (isDirectory) return this.#add(git)
    const target = await linkIn(git)
    if (target !== null) this.#add(resolve(dirname(git), target))
  }

  async #walkAgain(): Promise<void> {
    this.#nextRewalk = null
    const before = this.#inTrees
    this.#inTrees = new Set()
    await this.#walk([...this.#roots].filter((root) => before.has(root)))
    for (const directory of before) if (!this.#inTrees.has(directory)) this.#drop(directory)
  }

  #drop(directory: string): void {
    const watcher = this.#watched.get(directory)
    this.#inTrees.delete(directory)
    if (!watcher) return
    watcher.close()
    this.#watched.delete(directory)
    this.#options.budget.left++
  }

  #dropBelow(paths: ReadonlySet<string>): void {
    for (const directory of this.#watched.keys()) {
      if (this.#roots.has(directory)) continue
      for (let at = directory; basename(at) !== ''; at = dirname(at)) {
        if (!paths.has(at)) continue
        this.#drop(directory)
        break
      }
    }
  }

  #giveUp(why: string): void {
    if (this.#closed) return
    this.close()
    this.#options.onLimit(why)
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
