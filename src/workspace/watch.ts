import { asCorralError, CorralError } from '../core/error.ts'
import type { WatchBudget } from './directories.ts'
import { createPace, PACE, type Pace, type PaceTiming } from './pace.ts'
import { openRepository, type Repository } from './repository.ts'
import { watchRepository, type RepositoryWatch } from './repository-watch.ts'
import type { RepoStatus } from './status.ts'

export interface WatcherOptions {
  /** The status of a repository is another one than before. */
  readonly changed: (root: string, status: RepoStatus) => void
  /** It can only be polled, or its status cannot be read for now; or it is gone, and closed (`isGone`). */
  readonly problem?: (root: string, why: string, isGone: boolean) => void
  readonly timing?: Partial<PaceTiming & { pollMs: number }>
  /** Directories, over all repositories. */
  readonly maxWatches?: number
}

export interface WatchedRepository {
  readonly root: string
  readonly status: RepoStatus
  readonly how: 'watching' | 'polling'
}

interface Watched {
  readonly repo: Repository
  readonly pace: Pace
  /** Null while it is being opened. */
  status: RepoStatus | null
  watch: RepositoryWatch | null
  poll: NodeJS.Timeout | null
  retry: NodeJS.Timeout | null
  closed: boolean
}

const MAX_WATCHES = 50_000
const POLL_MS = 5000

export class Watcher {
  readonly #options: WatcherOptions
  readonly #budget: WatchBudget
  readonly #pollMs: number
  readonly #open = new Map<string, Watched>()
  readonly #opening = new Map<string, Promise<RepoStatus>>()
  readonly #closing = new Set<Promise<void>>()
  #stopped = false

  constructor(options: WatcherOptions) {
    this.#options = options
    this.#budget = { left: options.maxWatches ?? MAX_WATCHES }
    this.#pollMs = options.timing?.pollMs ?? POLL_MS
  }

  /** The status now; opening twice is opening once. */
  async open(repo: Repository): Promise<RepoStatus> {
    const known = this.#open.get(repo.root)
    if (known?.status) return known.status
    const started =
      this.#opening.get(repo.root) ?? this.#start(repo).finally(() => this.#opening.delete(repo.root))
    this.#opening.set(repo.root, started)
    return started
  }

  /** Whether it was open. Nothing is said about it afterwards. */
  close(root: string): boolean {
    const entry = this.#open.get(root)
    if (!entry) return false
    this.#open.delete(root)
    this.#end(entry)
    return true
  }

  /** Resolves when no git of ours runs any more. */
  async closeAll(): Promise<void> {
    this.#stopped = true
    for (const root of this.#open.keys()) this.close(root)
    await Promise.allSettled(this.#opening.values())
    await Promise.all(this.#closing)
  }

  list(): WatchedRepository[] {
    return [...this.#open.values()].flatMap(({ repo, status, poll }) =>
      status ? [{ root: repo.root, status, how: poll ? 'polling' : 'watching' }] : [],
    )
  }

  /** Watched from before the first status is read, so that no change falls between. */
  async #start(repo: Repository): Promise<RepoStatus> {
    const pace = createPace(() => this.#check(entry), { ...PACE, ...this.#options.timing })
    const entry: Watched = { repo, pace, status: null, watch: null, poll: null, retry: null, closed: false }
    entry.watch = watchRepository(repo, {
      budget: this.#budget,
      onDirty: () => pace.nudge(),
      onLimit: (why) => this.#fallBack(entry, why),
    })
    try {
      await entry.watch.ready
      const status = await repo.status()
      if (this.#stopped) throw new CorralError('stopping', 'The daemon is stopping')
      entry.status = status
      this.#open.set(repo.root, entry)
      return status
    } catch (thrown) {
      this.#end(entry)
      throw thrown
    }
  }

  #fallBack(entry: Watched, why: string): void {
    entry.poll = setInterval(() => entry.pace.nudge(), this.#pollMs).unref()
    this.#options.problem?.(entry.repo.root, why, false)
  }

  async #check(entry: Watched): Promise<void> {
    // A nudge that came while it was being opened; the first status may be older.
    if (entry.status === null) return entry.pace.nudge()
    try {
      const status = await entry.repo.status()
      if (entry.closed || isSame(status, entry.status)) return
      entry.status = status
      this.#options.changed(entry.repo.root, status)
    } catch (thrown) {
      await this.#failed(entry, thrown)
    }
  }

  /** Anything but a repository that is gone may pass: a slow disk, an index that is being repaired. */
  async #failed(entry: Watched, thrown: unknown): Promise<void> {
    const isGone = !(await isStillThere(entry.repo))
    if (entry.closed) return
    if (isGone) this.close(entry.repo.root)
    else entry.retry = setTimeout(() => entry.pace.nudge(), this.#pollMs).unref()
    this.#options.problem?.(entry.repo.root, asCorralError(thrown).message, isGone)
  }

  #end(entry: Watched): void {
    entry.closed = true
    entry.watch?.close()
    if (entry.poll) clearInterval(entry.poll)
    if (entry.retry) clearTimeout(entry.retry)
    const closed = entry.pace.close()
    this.#closing.add(closed)
    void closed.finally(() => this.#closing.delete(closed))
  }
}

function isSame(one: RepoStatus, other: RepoStatus): boolean {
  return JSON.stringify(one) === JSON.stringify(other)
}

async function isStillThere(repo: Repository): Promise<boolean> {
  return openRepository(repo.git, repo.root).then(
    ({ root }) => root === repo.root,
    (thrown: unknown) => asCorralError(thrown).code !== 'repo_not_found',
  )
}
