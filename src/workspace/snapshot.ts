import { CorralError } from '../core/error.ts'
import { refuseFiltered, type GuardedGit } from './guarded.ts'
import { readStatus, withIndexCopy, type Repository } from './repository.ts'
import type { RepoStatus } from './status.ts'

const FALLBACK_NAME = 'Corral'
const FALLBACK_EMAIL = 'corral@localhost'
const SLOW_MS = 120_000

/** The identity to commit with where the user has not configured one. */
export function identity(here: GuardedGit): Record<string, string> {
  const name = here.config.name ?? FALLBACK_NAME
  const email = here.config.email ?? FALLBACK_EMAIL
  return {
    GIT_AUTHOR_NAME: name,
    GIT_AUTHOR_EMAIL: email,
    GIT_COMMITTER_NAME: name,
    GIT_COMMITTER_EMAIL: email,
  }
}

/** A commit object that nothing points to yet. Made with plumbing: no hook, no signature, no editor. */
export function commitTree(
  here: GuardedGit,
  tree: string,
  parents: readonly string[],
  message: string,
): Promise<string> {
  const args = ['commit-tree', tree, ...parents.flatMap((parent) => ['-p', parent])]
  return here.text(args, { input: `${message}\n`, env: identity(here) })
}

/** The working tree of a checkout as a commit on top of HEAD; neither HEAD nor the index change. */
export async function snapshot(repo: Repository, message: string): Promise<string> {
  const here = await repo.guarded()
  const status = await readStatus(here, repo.root)
  const head = headOf(status)
  if (status.isClean) return head
  return withIndexCopy(repo.gitDir, async (index) => {
    const tree = await writeTree(here, status, { GIT_INDEX_FILE: index })
    return commitTree(here, tree, [head], message)
  })
}

/** Commits all uncommitted work of a checkout, new files included. Returns the new HEAD. */
export async function commitAll(repo: Repository, message: string): Promise<string> {
  const here = await repo.guarded()
  const status = await readStatus(here, repo.root)
  const head = headOf(status)
  if (status.isClean) return head
  const tree = await writeTree(here, status, {})
  const commit = await commitTree(here, tree, [head], message)
  const env = identity(here)
  await here.run(['update-ref', '-m', `commit: ${message.split('\n')[0]}`, 'HEAD', commit, head], { env })
  return commit
}

function headOf(status: RepoStatus): string {
  if (status.head === null)
    throw new CorralError('unsupported', 'The repository has no commit yet', { path: status.root })
  if (status.hasConflicts)
    throw new CorralError('unsupported', 'There are unresolved conflicts', { path: status.root })
  // A part of somebody's work under the name of all of it would be worse than none.
  if (status.truncated)
    throw new CorralError('unsupported', 'Too many files have changed', { path: status.root })
  return status.head
}

/** Nested repositories that the project does not know are left out: they end with a slash. */
async function writeTree(here: GuardedGit, status: RepoStatus, env: Record<string, string>): Promise<string> {
  const changed = status.files.flatMap(({ path, oldPath, code }) =>
    oldPath !== null && code.includes('R') ? [path, oldPath] : [path],
  )
  const paths = changed.filter((path) => !path.endsWith('/'))
  // git would not find it under the name that we have for it, and leave it out in silence.
  const unreadable = paths.find((path) => path.includes('\uFFFD'))
  if (unreadable !== undefined)
    throw new CorralError('unsupported', `The name of a file is not UTF-8: ${unreadable}`, {
      path: unreadable,
    })
  await refuseFiltered(here, paths)
  const input = paths.map((path) => `${path}\0`).join('')
  const update = ['update-index', '--add', '--remove', '-z', '--stdin']
  await here.run(update, { input, env, timeoutMs: SLOW_MS })
  return here.text(['write-tree'], { env })
}
