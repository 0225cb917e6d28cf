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

export interface Watcher {
  /** The status now; opening twice is opening once. */
  open(repo: Repository): Promise<RepoStatus>
  /** Whether it was open. Nothing is said about it afterwards. */
  close(root: string): boolean
  /** Resolves when no git of ours runs any more. */
  closeAll(): Promise<void>
  list(): WatchedRepository[]
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

export function createWatcher({ changed, problem, timing, maxWatches }: WatcherOptions): Watcher {
  const open = new Map<string, Watched>()
  const opening = new Map<string, Promise<RepoStatus>>()
  const closing = new Set<Promise<void>>()
  const budget: WatchBudget = { left: maxWatches ?? MAX_WATCHES }
  const pollMs = timing?.pollMs ?? POLL_MS
  let stopped = false

  /** Watched from before the first status is read, so that no change falls between. */
  async function start(repo: Repository): Promise<RepoStatus> {
    const pace = createPace(() => check(entry), { ...PACE, ...timing })
    const entry: Watched = { repo, pace, status: null, watch: null, poll: null, retry: null, closed: false }
    entry.watch = watchRepository(repo, {
      budget,
      onDirty: () => pace.nudge(),
      onLimit: (why) => fallBack(entry, why),
    })
    try {
      await entry.watch.ready
      const status = await repo.status()
      if (stopped) throw new CorralError('stopping', 'The daemon is stopping')
      entry.status = status
      open.set(repo.root, entry)
      return status
    } catch (thrown) {
      end(entry)
      throw thrown
    }
  }

  function fallBack(entry: Watched, why: string): void {
    entry.poll = setInterval(() => entry.pace.nudge(), pollMs)
    entry.poll.unref()
    problem?.(entry.repo.root, why, false)
  }

  async function check(entry: Watched): Promise<void> {
    // A nudge that came while it was being opened; the first status may be older.
    if (entry.status === null) return entry.pace.nudge()
    try {
      const status = await entry.repo.status()
      if (entry.closed || isSame(status, entry.status)) return
      entry.status = status
      changed(entry.repo.root, status)
    } catch (thrown) {
      await failed(entry, thrown)
    }
  }

  /** Anything but a repository that is gone may pass: a slow disk, an index that is being repaired. */
  async function failed(entry: Watched, thrown: unknown): Promise<void> {
    const isGone = !(await isStillThere(entry.repo))
    if (entry.closed) return
    if (isGone) remove(entry.repo.root)
    else entry.retry = setTimeout(() => entry.pace.nudge(), pollMs).unref()
    problem?.(entry.repo.root, asCorralError(thrown).message, isGone)
  }

  function end(entry: Watched): void {
    entry.closed = true
    entry.watch?.close()
    if (entry.poll) clearInterval(entry.poll)
    if (entry.retry) clearTimeout(entry.retry)
    const closed = entry.pace.close()
    closing.add(closed)
    void closed.finally(() => closing.delete(closed))
  }

  function remove(root: string): boolean {
    const entry = open.get(root)
    if (!entry) return false
    open.delete(root)
    end(entry)
    return true
  }

  return {
    async open(repo) {
      const known = open.get(repo.root)
      if (known?.status) return known.status
      const started = opening.get(repo.root) ?? start(repo).finally(() => opening.delete(repo.root))
      opening.set(repo.root, started)
      return started
    },
    close: remove,
    async closeAll() {
      stopped = true
      for (const root of open.keys()) remove(root)
      await Promise.allSettled(opening.values())
      await Promise.all(closing)
    },
    list() {
      return [...open.values()].flatMap(({ repo, status, poll }) =>
        status ? [{ root: repo.root, status, how: poll ? 'polling' : 'watching' }] : [],
      )
    },
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
