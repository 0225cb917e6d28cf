import { existsSync } from 'node:fs'
import { access, mkdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { CorralError } from '../core/error.ts'
import { slugOf } from '../core/slug.ts'
import { isInside } from './files.ts'
import { exitCodeOf, guard, refuseFiltered, type GuardedGit } from './guarded.ts'
import { mergeBack, type MergeOutcome } from './merge.ts'
import { openRepository, readStatus, type DiffRequest, type DiffText, type Repository } from './repository.ts'
import { commitAll, identity, snapshot } from './snapshot.ts'
import {
  baseRef,
  branchRef,
  carriedRef,
  parseWorktrees,
  reasonOf,
  refsOf,
  type WorktreeEntry,
} from './worktree-list.ts'

export interface WorktreeRequest {
  /** Short, and safe in the name of a branch: letters, digits, `-` and `_`. */
  readonly id: string
  /** Where it goes: a path that does not exist, outside of the checkout. */
  readonly path: string
  /** Uncommitted work of the checkout comes along, as a commit that a later merge leaves out. */
  readonly carry?: boolean
  /** The name of its branch; it must be free. */
  readonly branch?: string | undefined
  /** What the work is about: a branch with a name made of it, one that is free. */
  readonly about?: string | undefined
}

export interface Worktree {
  readonly id: string
  readonly path: string
  readonly branch: string
  readonly base: string
  /** The root of the checkout that it was made from. */
  readonly origin: string
}

/**
 * Worktrees of sessions. git itself remembers all about them: the lock of a worktree names its session and the
 * checkout that it was made from, and `refs/corral/ID/` has the commit that its changes are counted from. Changes to one repository happen one at a
 * time.
 */
export interface Worktrees {
  create(repo: Repository, request: WorktreeRequest): Promise<Worktree>
  list(repo: Repository): Promise<WorktreeEntry[]>
  /** From the base to the working tree, new files included. */
  diff(repo: Repository, id: string, request?: Pick<DiffRequest, 'file' | 'maxBytes'>): Promise<DiffText>
  /** Into the branch that is checked out in `repo`. Unless it succeeds, that checkout is as it was. */
  merge(repo: Repository, id: string, message?: string): Promise<MergeOutcome>
  /** All that is uncommitted in it, as a commit on the branch that is checked out in it. */
  commit(repo: Repository, id: string, message?: string): Promise<{ commit: string; ahead: number }>
  /** Folder, branch and refs; throws `unsaved_work` if something would be lost and `force` is not given. */
  discard(repo: Repository, id: string, options?: { force?: boolean }): Promise<void>
  /** The same for one that was perhaps only half made; none is none. */
  discardUnused(repo: Repository, id: string): Promise<void>
}

const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
const SLOW_MS = 120_000
/** Branches of one name, with a number behind it. */
const MAX_ALIKE = 99

export function createWorktrees(): Worktrees {
  const queues = new Map<string, Promise<unknown>>()

  function inTurn<T>(repo: Repository, work: () => Promise<T>): Promise<T> {
    const before = queues.get(repo.commonDir) ?? Promise.resolve()
    const result = before.then(work)
    const settled = result
      .catch(() => {})
      .finally(() => {
        if (queues.get(repo.commonDir) === settled) queues.delete(repo.commonDir)
      })
    queues.set(repo.commonDir, settled)
    return result
  }

  return {
    create: (repo, request) => inTurn(repo, () => create(repo, request)),
    list,
    async diff(repo, id, request = {}) {
      const entry = await find(repo, id)
      const worktree = await openRepository(repo.git, entry.path)
      return worktree.diff({ ...request, base: entry.base ?? 'HEAD', untracked: true })
    },
    merge: (repo, id, message) => inTurn(repo, async () => mergeBack(repo, await find(repo, id), message)),
    commit: (repo, id, message) => inTurn(repo, async () => commit(repo, await find(repo, id), message)),
    discard: (repo, id, { force = false } = {}) => inTurn(repo, () => discard(repo, id, force)),
    discardUnused: (repo, id) => inTurn(repo, () => discardUnused(repo, id)),
  }
}

async function create(repo: Repository, request: WorktreeRequest): Promise<Worktree> {
  const { id, path, carry = false } = request
  if (!ID.test(id)) throw new CorralError('invalid', `Not an id for a worktree: ${id}`, { field: 'id' })
  await repo.git.require(2, 38)
  const place = await placeFor(repo, path)
  const here = await repo.guarded()
  if ((await here.resolve('HEAD')) === null)
    throw new CorralError('unsupported', 'The repository has no commit yet', { path: repo.root })
  if ((await list(repo)).some((entry) => entry.id === id))
    throw new CorralError('invalid', `There is a worktree ${id} already`, { field: 'id' })
  const head = (await here.resolve('HEAD'))!
  const base = carry ? await snapshot(repo, 'Uncommitted work, carried over') : head
  const branch = await freeBranch(here, request)
  await here.run(['update-ref', '--stdin', '-z'], { input: refsInput(id, base, branch, base !== head) })
  const lock = ['--lock', '--reason', reasonOf(id, repo.root)]
  const add = ['worktree', 'add', '--quiet', '--no-track', '--no-checkout', ...lock, '-b', branch]
  try {
    await here.run([...add, '--', place, base], { env: identity(here) })
    await fill(await guard(repo.git, place), base)
  } catch (thrown) {
    await removeAll(here, { id, path: place, branch, made: branch })
    throw thrown
  }
  return { id, path: place, branch, base, origin: repo.root }
}

/** Other settings may hold there than where it was made from: some are for one branch, or one place, only. */
async function fill(there: GuardedGit, base: string): Promise<void> {
  await there.run(['read-tree', base])
  if (there.config.disabledFilters.size > 0) {
    const { stdout } = await there.run(['ls-files', '-z'])
    await refuseFiltered(there, stdout.toString().split('\0').slice(0, -1), ['--cached'])
  }
  await there.run(['reset', '--hard', '--quiet', '--no-recurse-submodules'], { timeoutMs: SLOW_MS })
}

async function placeFor(repo: Repository, path: string): Promise<string> {
  const parent = dirname(resolve(path))
  await mkdir(parent, { recursive: true })
  const place = join(await realpath(parent), basename(path))
  if (isInside(repo.root, place) || isInside(repo.commonDir, place))
    throw new CorralError('invalid', 'A worktree does not go into the checkout', { field: 'path', path })
  return place
}

/** A branch with the name `corral` leaves no room for branches below it. */
async function freeBranch(here: GuardedGit, { id, branch, about }: WorktreeRequest): Promise<string> {
  if (branch !== undefined) return mustBeFree(here, branch)
  const prefix = (await here.resolve('refs/heads/corral')) === null ? 'corral/' : 'corral-'
  const slug = about === undefined ? null : slugOf(about)
  for (let count = 1; slug !== null && count <= MAX_ALIKE; count++) {
    const name = `${prefix}${slug}${count === 1 ? '' : `-${count}`}`
    if ((await here.resolve(`refs/heads/${name}`)) === null) return name
  }
  return mustBeFree(here, `${prefix}${id}`)
}

async function mustBeFree(here: GuardedGit, branch: string): Promise<string> {
  const isName = (await exitCodeOf(here.run(['check-ref-format', `refs/heads/${branch}`]))) === 0
  if (!isName || branch.startsWith('-') || branch === 'HEAD')
    throw new CorralError('invalid', `${branch} is no name for a branch`, { field: 'branch' })
  if ((await here.resolve(`refs/heads/${branch}`)) === null) return branch
  throw new CorralError('invalid', `There is a branch ${branch} already`, { field: 'branch' })
}

function refsInput(id: string, base: string, branch: string, carried: boolean): string {
  const refs = [baseRef(id), branchRef(id, branch), ...(carried ? [carriedRef(id)] : [])]
  return refs.map((ref) => `update ${ref}\0${base}\0\0`).join('')
}

async function list(repo: Repository): Promise<WorktreeEntry[]> {
  await repo.git.require(2, 38)
  const here = await repo.guarded()
  const [listing, refs] = await Promise.all([
    here.text(['worktree', 'list', '--porcelain', '-z']),
    here.text(['for-each-ref', '--format=%(refname)%00%(objectname)', 'refs/corral/']),
  ])
  const entries = parseWorktrees(listing, refs)
  return Promise.all(entries.map(async (entry) => ({ ...entry, isMissing: !(await isThere(entry)) })))
}

/** The folder of a worktree has a `.git`, which is what makes it one. */
async function isThere({ path, isLeftOver }: WorktreeEntry): Promise<boolean> {
  if (isLeftOver) return false
  return access(join(path, '.git')).then(
    () => true,
    () => false,
  )
}

async function find(repo: Repository, id: string): Promise<WorktreeEntry> {
  const entry = (await list(repo)).find((entry) => entry.id === id)
  if (entry) return entry
  throw new CorralError('repo_not_found', `There is no worktree ${id}`, { id })
}

async function discard(repo: Repository, id: string, force: boolean): Promise<void> {
  const entry = await find(repo, id)
  const here = await repo.guarded()
  const branch = await branchOf(here, entry)
  if (!force) await refuseLoss(here, entry, branch, await uncommitted(repo, entry))
  await removeAll(here, { id, path: entry.path, branch, made: entry.made })
}

async function discardUnused(repo: Repository, id: string): Promise<void> {
  const entry = (await list(repo)).find((one) => one.id === id)
  if (!entry) return
  const here = await repo.guarded()
  const branch = await branchOf(here, entry)
  // Files that are not there have not been written yet, if it is half made.
  const files = (await uncommitted(repo, entry)).filter((file) => existsSync(join(entry.path, file)))
  await refuseLoss(here, entry, branch, files)
  await removeAll(here, { id, path: entry.path, branch, made: entry.made })
}

async function commit(
  repo: Repository,
  entry: WorktreeEntry,
  message = `Work of session ${entry.id}`,
): Promise<{ commit: string; ahead: number }> {
  const worktree = await openRepository(repo.git, entry.path)
  const head = await commitAll(worktree, message)
  const since = entry.base === null ? [] : ['--not', entry.base]
  const here = await worktree.guarded()
  return { commit: head, ahead: Number(await here.text(['rev-list', '--count', head, ...since, '--'])) }
}

async function branchOf(here: GuardedGit, { id, made }: WorktreeEntry): Promise<string | null> {
  for (const branch of made === null ? [`corral/${id}`, `corral-${id}`] : [made])
    if ((await here.resolve(`refs/heads/${branch}`)) !== null) return branch
  return null
}

async function refuseLoss(
  here: GuardedGit,
  entry: WorktreeEntry,
  branch: string | null,
  files: readonly string[],
): Promise<void> {
  const own = branch === null ? [] : [`refs/heads/${branch}`]
  const tips = [...(entry.head === null ? [] : [entry.head]), ...own]
  const kept = [...(branch === null ? [] : [`--exclude=${branch}`]), '--branches', '--tags', '--remotes']
  const known = entry.base === null ? kept : [entry.base, ...kept]
  const args = ['rev-list', '--count', ...tips, '--not', ...known, '--']
  const commits = tips.length === 0 ? 0 : Number(await here.text(args))
  if (files.length === 0 && commits === 0) return
  const parts = [counted(files.length, 'uncommitted file'), counted(commits, 'commit')].filter(Boolean)
  const text = `The worktree has work that is nowhere else: ${parts.join(' and ')}; merge it first, or use force to lose it`
  throw new CorralError('unsaved_work', text, { id: entry.id, files, commits })
}

function counted(count: number, what: string): string {
  return count === 0 ? '' : `${count} ${what}${count === 1 ? '' : 's'}`
}

async function uncommitted(repo: Repository, entry: WorktreeEntry): Promise<string[]> {
  if (entry.isMissing) return []
  const worktree = await openRepository(repo.git, entry.path)
  const status = await readStatus(await worktree.guarded(), worktree.root)
  return status.files.map(({ path }) => path)
}

/** Each step may have been done before: a discard that was cut short can be repeated. */
async function removeAll(
  here: GuardedGit,
  { id, path, branch, made }: { id: string; path: string; branch: string | null; made: string | null },
): Promise<void> {
  const listed = parseWorktrees(await here.text(['worktree', 'list', '--porcelain', '-z']), '')
  if (listed.some((entry) => entry.id === id && !entry.isLeftOver))
    await here.run(['worktree', 'remove', '--force', '--force', '--', path], { timeoutMs: SLOW_MS })
  const own = branch === null ? [] : [`refs/heads/${branch}`]
  const names = [...own, ...refsOf(id, made)]
  const input = names.map((ref) => `delete ${ref}\0\0`).join('')
  await here.run(['update-ref', '--stdin', '-z'], { input })
}
