import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { CorralError } from '../core/error.ts'
import { exitCodeOf, refuseFiltered, type GuardedGit } from './guarded.ts'
import { openRepository, readStatus, type Repository } from './repository.ts'
import { commitAll, commitTree, identity } from './snapshot.ts'
import { baseRef, type WorktreeEntry } from './worktree-list.ts'

export type MergeOutcome =
  | { readonly outcome: 'nothing' }
  | { readonly outcome: 'merged'; readonly commit: string; readonly how: 'fast-forward' | 'merge' | 'squash' }
  /** Both sides changed these; nothing was touched. */
  | { readonly outcome: 'conflict'; readonly files: readonly string[] }
  /** Nothing was touched, because of the state of one of the two checkouts. */
  | { readonly outcome: 'blocked'; readonly why: Blocked; readonly files: readonly string[] }

/**
 * `detached`: no branch is checked out to merge into. `uncommitted`: the merge would change files that have
 * uncommitted changes. `unfinished`: a merge, rebase or the like is under way in the checkout or the worktree.
 */
export type Blocked = 'detached' | 'uncommitted' | 'unfinished'

const SLOW_MS = 120_000
const UNDER_WAY = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply']

/**
 * The result is made among the objects first, where a conflict hurts nobody; the checkout itself only ever moves
 * forward to a commit that is complete.
 */
export async function mergeBack(
  repo: Repository,
  entry: WorktreeEntry,
  message = `Work of session ${entry.id}`,
): Promise<MergeOutcome> {
  const worktree = await openRepository(repo.git, entry.path)
  const here = await repo.guarded()
  const status = await readStatus(here, repo.root)
  if (status.detached || status.head === null) return blocked('detached')
  for (const checkout of [repo, worktree]) if (await isUnderWay(checkout)) return blocked('unfinished')
  const ours = await commitAll(worktree, message)
  const { target, how, conflicts } = await combine(here, status.head, ours, entry, message)
  if (conflicts) return { outcome: 'conflict', files: conflicts }
  if (target === status.head) return { outcome: 'nothing' }
  const changed = await changedFiles(here, status.head, target)
  const names = new Set(changed)
  const inTheWay = status.files.filter(({ path, oldPath }) => names.has(path) || names.has(oldPath ?? path))
  if (inTheWay.length > 0)
    return blocked(
      'uncommitted',
      inTheWay.map(({ path }) => path),
    )
  await refuseFiltered(here, changed)
  await forward(here, target)
  await here.run(['update-ref', baseRef(entry.id), ours])
  return { outcome: 'merged', commit: target, how }
}

function blocked(why: Blocked, files: readonly string[] = []): MergeOutcome {
  return { outcome: 'blocked', why, files }
}

async function isUnderWay(repo: Repository): Promise<boolean> {
  const found = await Promise.all(
    UNDER_WAY.map((name) =>
      access(join(repo.gitDir, name)).then(
        () => true,
        () => false,
      ),
    ),
  )
  return found.includes(true)
}

interface Combined {
  readonly target: string
  readonly how: 'fast-forward' | 'merge' | 'squash'
  readonly conflicts?: readonly string[]
}

async function combine(
  here: GuardedGit,
  head: string,
  ours: string,
  entry: WorktreeEntry,
  message: string,
): Promise<Combined> {
  if (ours === entry.base || (await isAncestor(here, ours, head))) return { target: head, how: 'merge' }
  if (entry.isCarried && entry.base !== null) return squash(here, head, ours, entry.base, message)
  if (await isAncestor(here, head, ours)) return { target: ours, how: 'fast-forward' }
  const { tree, conflicts } = await mergeTrees(here, head, ours)
  if (conflicts.length > 0) return { target: head, how: 'merge', conflicts }
  return { target: await commitTree(here, tree, [head, ours], message), how: 'merge' }
}

/**
 * Carried work is the user's to commit, so its commit does not come along: one commit has what was done since the
 * base. A stand-in for HEAD whose parent is the base makes git merge from that base.
 */
async function squash(
  here: GuardedGit,
  head: string,
  ours: string,
  base: string,
  message: string,
): Promise<Combined> {
  const standIn = await commitTree(here, `${head}^{tree}`, [base], 'HEAD')
  const { tree, conflicts } = await mergeTrees(here, standIn, ours)
  if (conflicts.length > 0) return { target: head, how: 'squash', conflicts }
  if (tree === (await here.resolve(`${head}^{tree}`))) return { target: head, how: 'squash' }
  return { target: await commitTree(here, tree, [head], message), how: 'squash' }
}

async function mergeTrees(
  here: GuardedGit,
  head: string,
  ours: string,
): Promise<{ tree: string; conflicts: string[] }> {
  const args = ['merge-tree', '--write-tree', '--allow-unrelated-histories', '--name-only', '--no-messages']
  const options = { answers: [0, 1], timeoutMs: SLOW_MS }
  const { code, stdout } = await here.run([...args, '-z', head, ours], options)
  const [tree = '', ...names] = stdout.toString().split('\0')
  return { tree, conflicts: code === 0 ? [] : [...new Set(names.filter((name) => name !== ''))] }
}

async function isAncestor(here: GuardedGit, older: string, newer: string): Promise<boolean> {
  return (await exitCodeOf(here.run(['merge-base', '--is-ancestor', older, newer]))) === 0
}

async function changedFiles(here: GuardedGit, from: string, to: string): Promise<string[]> {
  const { stdout } = await here.run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to])
  return stdout.toString().split('\0').slice(0, -1)
}

/**
 * Refuses by itself, before it touches anything, what would overwrite a file, even an ignored one. The strategy is not
 * used, but one that is configured instead (`pull.twohead`) could forbid to move forward.
 */
async function forward(here: GuardedGit, target: string): Promise<void> {
  const flags = ['--ff-only', '--strategy=ort', '--quiet', '--no-stat', '--no-autostash']
  const safety = ['--no-verify-signatures', '--no-overwrite-ignore']
  await here.run(['merge', ...flags, ...safety, target], { timeoutMs: SLOW_MS, env: identity(here) })
  if ((await here.resolve('HEAD')) === target) return
  throw new CorralError('git_failed', 'git merge has made something else of it', { command: 'merge' })
}
