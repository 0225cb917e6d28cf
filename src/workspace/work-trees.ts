import { mkdir, realpath, stat } from 'node:fs/promises'
import type { Diff, DiffRequest, RestorePlan, RestoreRequest, WorkTrees } from '../core/checkpoint.ts'
import { refsOfSession } from '../core/checkpoint.ts'
import { asCorralError, CorralError } from '../core/error.ts'
import { readPiece } from './browse.ts'
import type { Git } from './git.ts'
import type { GuardedGit } from './guarded.ts'
import { namesIn } from './names.ts'
import type { Place, Places } from './place.ts'
import { emptyTree } from './repository.ts'
import { goTo, stepsOf } from './restore.ts'
import { diffTrees } from './tree-diff.ts'
import { WorkStates } from './work-state.ts'
import { baseRef } from './worktree-list.ts'

/** Refs of ours have no history. */
const NO_REFLOG = [['core.logAllRefUpdates', 'false']] as const

/** Checkpoints of work trees, by the directories of sessions. */
export function createWorkTrees(
  git: Git,
  places: Places,
  options: { folder: string; home: string },
): WorkTrees {
  const states = new WorkStates(options)

  async function placeOf(cwd: string): Promise<Place> {
    const place = await places.at(cwd)
    if (place) return place
    throw new CorralError('repo_not_found', `Not in a git repository: ${cwd}`, { path: cwd })
  }

  return {
    root: async (cwd) => (await places.at(cwd))?.root ?? null,
    async take(cwd) {
      const place = await places.at(cwd)
      return place && states.inTurn(place.root, () => states.take(place))
    },
    async tidy(cwd) {
      const place = await places.at(cwd)
      if (place) await states.inTurn(place.root, () => states.tidy(place))
    },
    keep: (repository, change) => keep(git, repository, change),
    async forget(repository, sessionId) {
      if (await isThere(repository)) {
        const prefix = `${refsOfSession(sessionId)}/`
        await keep(git, repository, { set: [], remove: await refsBelow(git, repository, prefix) })
      }
      states.changed()
      await states.sweep()
    },
    async text(cwd, path) {
      return textOf((await places.at(cwd))?.root ?? (await realpath(cwd)), path)
    },
    async count(cwd, from, to) {
      const { here } = await placeOf(cwd)
      const { stdout } = await here.run(['diff-tree', '-r', '-z', '--name-only', '--no-renames', from, to])
      return namesIn(stdout).length
    },
    async diff(cwd, request) {
      return diff(await placeOf(cwd), states, request)
    },
    plan: async (cwd, request) => plan(await placeOf(cwd), states, request),
    async restore(cwd, request) {
      const place = await placeOf(cwd)
      const done = await states.inTurn(place.root, () => restore(place, states, request))
      // A folder that is empty goes with its last file, but an agent has to be somewhere.
      await mkdir(cwd, { recursive: true })
      return done
    },
  }
}

async function textOf(root: string, path: string): Promise<string | null> {
  const piece = await readPiece(root, path).catch(nothingIfGone)
  if (piece === null) return null
  if (piece.text !== null && !piece.truncated) return piece.text
  throw new CorralError('unsupported', 'The file is too large, or no text', { path })
}

function plan(place: Place, states: WorkStates, { target, known }: RestoreRequest): Promise<RestorePlan> {
  return states.present(place, async (present, env) => {
    const going = { present, env, target, known, large: states.largeAt(place) }
    const { tree, conflicts } = await stepsOf(place, going)
    const { files, truncated } = await diffTrees(place.here, { from: present, to: tree, env })
    return { files, conflicts: [...conflicts], truncated }
  })
}

type Restore = Parameters<WorkTrees['restore']>[1]

async function restore(place: Place, states: WorkStates, { target, known, force, save }: Restore) {
  const state = await states.take(place)
  const env = states.indexOf(place)
  const going = { present: state.tree, env, target, known, large: states.largeAt(place) }
  const { tree, count, conflicts } = await stepsOf(place, going, force)
  if (conflicts.length > 0 && !force) {
    const some = conflicts.slice(0, 3).map(({ path }) => path)
    const others = conflicts.length - some.length
    const names = `${some.join(', ')}${others > 0 ? ` and ${others} more` : ''}`
    const text = `Restoring would lose work in ${names}; look at them first, or use force`
    throw new CorralError('unsaved_work', text, { files: conflicts.map(({ path }) => path), conflicts })
  }
  await save(state)
  states.changed(place.root)
  await goTo(place, state.tree, tree, env)
  return { tree, files: count }
}

async function diff(place: Place, states: WorkStates, { from, to, path, brief }: DiffRequest): Promise<Diff> {
  const { here } = place
  const base = await baseOf(here, from)
  if (base === null) {
    const reason = 'There is no branch to compare with: neither an upstream nor a default branch is known'
    return { base: null, files: [], truncated: false, reason }
  }
  const compare = (tree: string, env?: Readonly<Record<string, string>>) =>
    diffTrees(here, { from: base, to: tree, path, brief, env })
  const found = to === null ? await states.present(place, compare) : await compare(to)
  return { base, ...found, reason: null }
}

async function baseOf(here: GuardedGit, from: DiffRequest['from']): Promise<string | null> {
  if (from === 'head') return (await here.resolve('HEAD')) ?? emptyTree(here)
  return 'tree' in from ? from.tree : branchBase(here, from.branchOf)
}

/** Where the work on a branch began: as its worktree remembers it, or where it left the default branch. */
async function branchBase(here: GuardedGit, sessionId: string): Promise<string | null> {
  const own = /^[\w-]+$/.test(sessionId) ? await here.resolve(baseRef(sessionId)) : null
  if (own !== null) return own
  const head = await here.resolve('HEAD')
  const branch = await here.text(['symbolic-ref', '--quiet', 'HEAD'], { answers: [0, 1] })
  const origin = await here.text(['symbolic-ref', '--quiet', 'refs/remotes/origin/HEAD'], { answers: [0, 1] })
  const defaults = [origin, 'refs/heads/main', 'refs/heads/master'].filter(
    (ref) => ref !== '' && ref !== branch,
  )
  for (const ref of branch === '' ? defaults : [...defaults, '@{upstream}']) {
    const other = head === null ? null : await resolved(here, ref)
    if (head === null || other === null) continue
    const [base] = (await here.text(['merge-base', head, other], { answers: [0, 1] })).split('\n')
    if (base) return base
  }
  return null
}

/** A branch without an upstream is an error to git. */
async function resolved(here: GuardedGit, name: string): Promise<string | null> {
  return here.resolve(name).catch((thrown: unknown) => {
    if (asCorralError(thrown).data['exitCode'] === 128) return null
    throw thrown
  })
}

async function keep(
  git: Git,
  repository: string,
  { set, remove }: Parameters<WorkTrees['keep']>[1],
): Promise<void> {
  if (set.length + remove.length === 0) return
  const updates = set.map(([ref, tree]) => `update ${ref}\0${tree}\0\0`)
  const deletes = remove.map((ref) => `delete ${ref}\0\0`)
  await git.run({
    cwd: repository,
    args: ['update-ref', '--stdin', '-z'],
    env: { GIT_DIR: repository },
    config: NO_REFLOG,
    input: [...updates, ...deletes].join(''),
  })
}

async function refsBelow(git: Git, repository: string, prefix: string): Promise<string[]> {
  const args = ['for-each-ref', '--format=%(refname)', prefix]
  const { stdout } = await git.run({ cwd: repository, args, env: { GIT_DIR: repository } })
  return stdout
    .toString()
    .split('\n')
    .filter((ref) => ref !== '')
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )
}

function nothingIfGone(thrown: unknown): null {
  if (asCorralError(thrown).code === 'path_not_found') return null
  throw thrown
}
