import { lstat, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Conflict } from '../core/checkpoint.ts'
import { CorralError } from '../core/error.ts'
import type { GuardedGit } from './guarded.ts'
import { asInput, namesIn, pathTo, shown } from './names.ts'
import type { Place } from './place.ts'
import { needFilter, type Environment } from './work-state.ts'

const MAX_LIST_BYTES = 32 * 1024 * 1024
const SLOW_MS = 120_000
const MAX_CONFLICTS = 1000
const MAX_WALK = 10_000
const SUBMODULE = '160000'
const NOTHING = '000000'

/** What restoring does to one path: from what is there now to what was there then. */
interface Step {
  readonly name: string
  readonly mode: string
  readonly object: string
  readonly targetMode: string
}

export interface Going {
  /** The files as they are now, and the index that has just been filled with them. */
  readonly present: string
  readonly env: Environment
  readonly target: string
  readonly known: string | null
  /** Files that are too large for a checkpoint. */
  readonly large: readonly string[]
}

export interface Steps {
  /** The tree to go to: the target, but for what is not touched. */
  readonly tree: string
  readonly count: number
  readonly conflicts: readonly Conflict[]
}

/**
 * What going from the present to the target would do, and what speaks against it. What is ignored, submodules, files outside
 * of a sparse checkout and those with a filter of the repository's own are never touched. With `force` only what cannot be
 * kept for an undo speaks against it, and is not touched either.
 */
export async function stepsOf(place: Place, going: Going, force = false): Promise<Steps> {
  const { here, root } = place
  const all = await stepsBetween(here, going.present, going.target, going.env)
  const untouched = await untouchable(place, going.env, all)
  const steps = all.filter(({ name }) => !untouched.has(name))
  const blocked = await blockedBy(root, steps, new Set(going.large))
  const changed = going.known === null || force ? null : await changedSince(here, going)
  const conflicts = new Map(blocked)
  for (const { name } of force ? [] : steps) {
    if (conflicts.has(name)) continue
    if (going.known === null)
      conflicts.set(name, 'it is not known who has changed it: the end of the last turn was not kept')
    else if (changed?.has(name))
      conflicts.set(name, 'it has been changed since the last turn of this session')
  }
  const left = all.filter(({ name }) => untouched.has(name) || blocked.has(name))
  return {
    tree: left.length === 0 ? going.target : await without(here, going, left),
    count: all.length - left.length,
    conflicts: [...conflicts].slice(0, MAX_CONFLICTS).map(([name, why]) => ({ path: shown(name), why })),
  }
}

/**
 * git checks all of it before it touches anything, and refuses when a file is not as the index has it. It does not write
 * through links.
 */
export async function goTo({ here }: Place, present: string, tree: string, env: Environment): Promise<void> {
  const args = ['read-tree', '-m', '-u', '--no-sparse-checkout', present, tree]
  await here.run(args, { env, timeoutMs: SLOW_MS, config: [['core.splitIndex', 'false']] })
}

async function stepsBetween(
  here: GuardedGit,
  from: string,
  to: string,
  env: Readonly<Record<string, string>>,
): Promise<Step[]> {
  const args = [
    'diff-tree',
    '-r',
    '--raw',
    '-z',
    '--no-renames',
    '--no-abbrev',
    '--ignore-submodules=none',
    from,
    to,
  ]
  const { stdout, truncated } = await here.run(args, { env, maxBytes: MAX_LIST_BYTES, truncate: true })
  if (truncated) throw new CorralError('unsupported', 'Too many files have changed to be restored')
  const fields = namesIn(stdout)
  return Array.from({ length: fields.length / 2 }, (_, n) => {
    const [mode = '', targetMode = '', object = ''] = fields[n * 2]!.slice(1).split(' ')
    return { name: fields[n * 2 + 1]!, mode, targetMode, object }
  })
}

/** Somebody else has, since the last state that Corral has left. */
async function changedSince(here: GuardedGit, { known, present, env }: Going): Promise<Set<string>> {
  const steps = await stepsBetween(here, known!, present, env)
  return new Set(steps.map(({ name }) => name))
}

async function untouchable(
  { here, root }: Place,
  env: Environment,
  steps: readonly Step[],
): Promise<Set<string>> {
  if (steps.length === 0) return new Set()
  const names = steps.map(({ name }) => name)
  const modules = new Set(
    steps
      .filter(({ mode, targetMode }) => mode === SUBMODULE || targetMode === SUBMODULE)
      .map(({ name }) => name),
  )
  const [hidden, ignored, filtered] = await Promise.all([
    hiddenFiles(here, env),
    reachable(root, names, modules).then((asked) => ignoredFiles(here, asked)),
    needFilter(here, names),
  ])
  const set = new Set([...modules, ...ignored, ...filtered])
  for (const name of names) if (hidden.has(name)) set.add(name)
  return set
}

/** Files that git is told not to look at: outside of a sparse checkout, or assumed to be unchanged. */
async function hiddenFiles(here: GuardedGit, env: Environment): Promise<Set<string>> {
  const { stdout } = await here.run(['ls-files', '-v', '-z'], { env, maxBytes: 2 * MAX_LIST_BYTES })
  const hidden = namesIn(stdout).filter((line) => line.startsWith('S') || /^[a-z]/.test(line))
  return new Set(hidden.map((line) => line.slice(2)))
}

/** git does not say whether something is ignored that would be behind a link or in a submodule. */
async function reachable(
  root: string,
  names: readonly string[],
  modules: ReadonlySet<string>,
): Promise<string[]> {
  const ends = new Map<string, Promise<boolean>>()
  const isEnd = (folder: string): Promise<boolean> => {
    const known = ends.get(folder)
    if (known) return known
    const asked = lstat(pathTo(root, folder)).then(
      (found) => found.isSymbolicLink() || modules.has(folder),
      () => false,
    )
    ends.set(folder, asked)
    return asked
  }
  const asked: string[] = []
  for (const name of names) {
    const parts = name.split('/')
    const folders = parts.slice(1).map((_, n) => parts.slice(0, n + 1).join('/'))
    const found = await Promise.all(folders.map(isEnd))
    if (!found.includes(true)) asked.push(name)
  }
  return asked
}

/** As the user's index has it: what is tracked is not ignored. */
async function ignoredFiles(here: GuardedGit, names: readonly string[]): Promise<string[]> {
  const { stdout } = await here.run(['check-ignore', '-z', '--stdin'], {
    // This command refuses literal paths; a dot at the start makes them as good as that.
    env: { GIT_LITERAL_PATHSPECS: '0' },
    input: asInput(names.map((name) => `./${name}`)),
    answers: [0, 1],
  })
  return namesIn(stdout).map((name) => name.replace(/^\.\//, ''))
}

/** What is in the way of files that would come back, and what could not be brought back again. */
async function blockedBy(
  root: string,
  steps: readonly Step[],
  large: ReadonlySet<string>,
): Promise<Map<string, string>> {
  const going = new Set(steps.filter(({ targetMode }) => targetMode === NOTHING).map(({ name }) => name))
  const blocked = new Map<string, string>()
  for (const { name, mode } of steps) {
    if (large.has(name)) blocked.set(name, 'it is too large now for a checkpoint that could bring it back')
    else if (mode === NOTHING && (await isInTheWay(root, name, going)))
      blocked.set(name, 'something that is in no checkpoint is in its place')
  }
  return blocked
}

/** Whether something stays where a file is to come. */
async function isInTheWay(root: string, name: string, going: ReadonlySet<string>): Promise<boolean> {
  const parts = name.split('/')
  for (let depth = 1; depth < parts.length; depth++) {
    const folder = parts.slice(0, depth).join('/')
    const found = await lstat(pathTo(root, folder)).catch(() => null)
    if (!found) return false
    if (!found.isDirectory()) return !going.has(folder)
  }
  const found = await lstat(pathTo(root, name)).catch(() => null)
  if (!found) return false
  return !found.isDirectory() || !(await goesWhole(root, name, going))
}

/** Whether all files of a folder go. */
async function goesWhole(root: string, folder: string, going: ReadonlySet<string>): Promise<boolean> {
  const folders = [folder]
  let seen = 0
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const entries = await readdir(pathTo(root, at), { withFileTypes: true, encoding: 'buffer' })
    if ((seen += entries.length) > MAX_WALK) return false
    for (const entry of entries) {
      const name = `${at}/${entry.name.toString('latin1')}`
      if (entry.isDirectory()) folders.push(name)
      else if (!going.has(name)) return false
    }
  }
  return true
}

/** The target, but with these as they are now. */
async function without(here: GuardedGit, { target, env }: Going, left: readonly Step[]): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'corral-target-'))
  const own = { env: { ...env, GIT_INDEX_FILE: join(folder, 'index') }, timeoutMs: SLOW_MS }
  const nothing = '0'.repeat(target.length)
  const lines = left.map(({ name, mode, object }) =>
    mode === NOTHING ? `0 ${nothing}\t${name}` : `${mode} ${object}\t${name}`,
  )
  try {
    await here.run(['read-tree', target], own)
    await here.run(['update-index', '--replace', '-z', '--index-info'], { ...own, input: asInput(lines) })
    return await here.text(['write-tree', '--missing-ok'], own)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
