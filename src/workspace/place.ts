import { lstat, realpath, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { asCorralError, CorralError } from '../core/error.ts'
import type { Git } from './git.ts'
import type { GuardedGit } from './guarded.ts'
import { openRepository, type Repository } from './repository.ts'

/** A checkout, and git in it. */
export interface Place extends Pick<Repository, 'root' | 'gitDir' | 'commonDir'> {
  readonly here: GuardedGit
}

/** A file that has changed this recently might change again without looking different. */
const FRESH_MS = 1000
const MAX_KNOWN = 200

/**
 * Finds checkouts, and remembers what git has said about them, which takes it four processes, for as long as nothing that
 * it depends on changes: neither where the repository is, nor what its settings say.
 */
export class Places {
  readonly #git: Git
  readonly #known = new Map<string, { place: Place; print: string }>()

  constructor(git: Git) {
    this.#git = git
  }

  /** Null: the directory is in no repository, or is not there. Throws when git refuses the one that it is in. */
  async at(path: string): Promise<Place | null> {
    const start = await realpath(path).catch(() => null)
    const mark = start === null ? null : await markAbove(start)
    if (start === null || mark === null) return null
    const known = this.#known.get(start)
    if (known && known.print === (await printOf(known.place, mark))?.text) return known.place
    this.#known.delete(start)
    const repo = await openRepository(this.#git, start).catch((thrown: unknown) => {
      throw refused(thrown)
    })
    const print = await printOf(repo, mark)
    const { root, gitDir, commonDir } = repo
    const place = { root, gitDir, commonDir, here: await repo.guarded() }
    if (print && place.here.config.isWhole && print.changedAt + FRESH_MS < Date.now())
      this.#remember(start, { place, print: print.text })
    return place
  }

  #remember(start: string, known: { place: Place; print: string }): void {
    const [oldest] = this.#known.keys()
    if (oldest !== undefined && this.#known.size >= MAX_KNOWN) this.#known.delete(oldest)
    this.#known.set(start, known)
  }
}

/** It looks like a repository, but git will have none of it: its reason is worth knowing. */
function refused(thrown: unknown): CorralError {
  const error = asCorralError(thrown)
  const why = error.data['why']
  return typeof why === 'string' ? new CorralError(error.code, why, error.data, thrown) : error
}

/** The nearest directory that has a `.git`, whatever that is. */
async function markAbove(start: string): Promise<string | null> {
  for (let at = start; ; at = dirname(at)) {
    const isMarked = await lstat(join(at, '.git')).then(
      () => true,
      () => false,
    )
    if (isMarked) return at
    if (at === dirname(at)) return null
  }
}

/** What the answers of git depend on; null: too much to keep an eye on. */
async function printOf(
  { root, gitDir, commonDir }: Pick<Place, 'root' | 'gitDir' | 'commonDir'>,
  mark: string,
): Promise<{ text: string; changedAt: number } | null> {
  const git = await lstat(join(root, '.git'), { bigint: true }).catch(() => null)
  if (!git || git.isSymbolicLink()) return null
  const names = [join(commonDir, 'config'), join(gitDir, 'config.worktree'), join(gitDir, 'commondir')]
  const files = await Promise.all(names.map((name) => stat(name, { bigint: true }).catch(() => null)))
  // Of a directory the time changes with each file in it.
  const own = git.isDirectory() ? `${git.dev}:${git.ino}` : stampOf(git)
  const times = [...(git.isDirectory() ? [] : [git]), ...files].map((one) => Number(one?.ctimeMs ?? 0n))
  return {
    text: [mark, own, ...files.map((one) => (one ? stampOf(one) : '-'))].join('\n'),
    changedAt: Math.max(...times),
  }
}

interface Stamped {
  readonly dev: bigint
  readonly ino: bigint
  readonly size: bigint
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
}

function stampOf({ dev, ino, size, mtimeNs, ctimeNs }: Stamped): string {
  return [dev, ino, size, mtimeNs, ctimeNs].join(':')
}

/** Changes whenever the file does; null: it is not there. */
export async function stampOfFile(path: string): Promise<string | null> {
  return stat(path, { bigint: true }).then(stampOf, () => null)
}
