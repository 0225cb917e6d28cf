import { createHash } from 'node:crypto'
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import type { WorkState } from '../core/checkpoint.ts'
import { asCorralError, CorralError } from '../core/error.ts'
import { isInside } from './files.ts'
import type { GuardedGit } from './guarded.ts'
import { copyIndex } from './index-copy.ts'
import { asInput, asName, namesIn, pathTo, shown } from './names.ts'
import { stampOfFile, type Place } from './place.ts'

/** A larger file that git does not track is left out. */
const MAX_FILE_BYTES = 20 * 1024 * 1024
/** With more that is neither tracked nor ignored nobody has meant to keep all of it. */
const MAX_UNTRACKED = 50_000
const MAX_UNTRACKED_BYTES = 512 * 1024 * 1024
const MAX_LIST_BYTES = 32 * 1024 * 1024
const MAX_TOLD = 100
const MAX_KNOWN = 200
const AT_ONCE = 64
const SLOW_MS = 60_000
/** How long it is not looked again whether there is less. */
const REST_MS = 5 * 60_000

/** An index of ours is whole and in one place, and line ends are as the repository wants them, whatever it thinks of that. */
const OWN_INDEX = [
  ['core.splitIndex', 'false'],
  ['core.safecrlf', 'false'],
] as const

/** What is known about a work tree beside its index. */
interface Known {
  /** Untracked files that are left out; null: nobody has looked. */
  large: string[] | null
  /** The tree that the index stands for, and what the index looked like then. */
  tree: string | null
  stamp: string | null
  /** What `tidy` has seen last. */
  tidied: string | null
  refused: { error: CorralError; until: number } | null
}

export interface Environment extends Readonly<Record<string, string>> {
  readonly GIT_INDEX_FILE: string
}

/**
 * Writes the files of work trees down as trees of git's, with an index of our own for each: it has the files as they were the
 * last time, so that only what has changed since is read. The user's index, HEAD and refs are not touched.
 */
export class WorkStates {
  /** Where the indexes are: a folder for each work tree. */
  readonly #folder: string
  /** Corral's own files are nobody's work. */
  readonly #home: string
  readonly #known = new Map<string, Known>()
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor(options: { folder: string; home: string }) {
    this.#folder = options.folder
    this.#home = options.home
  }

  /** One thing at a time happens to a work tree. */
  inTurn<T>(root: string, work: () => Promise<T>): Promise<T> {
    const result = (this.#queues.get(root) ?? Promise.resolve()).then(work)
    const settled = result
      .catch(() => {})
      .finally(() => {
        if (this.#queues.get(root) === settled) this.#queues.delete(root)
      })
    this.#queues.set(root, settled)
    return result
  }

  /** In turn only. Two processes of git's at the most, unless it is the first time. */
  async take(place: Place): Promise<WorkState> {
    const known = this.#of(place.root)
    await this.#look(place, known)
    const folder = this.#folderOf(place.root)
    await prepare(folder, place.root)
    try {
      return await this.#write(place, known, folder)
    } catch (thrown) {
      if (asCorralError(thrown).data['exitCode'] === undefined) throw thrown
      // What it was made of may be gone: a shared part of the user's index, or objects that were cleaned away.
      await rm(join(folder, 'index'), { force: true })
      known.stamp = null
      return this.#write(place, known, folder)
    }
  }

  /** The index that `take` has left. */
  indexOf(place: Place): Environment {
    return { GIT_INDEX_FILE: join(this.#folderOf(place.root), 'index') }
  }

  /** Files that `take` leaves out because of their size. */
  largeAt(place: Place): readonly string[] {
    return this.#of(place.root).large ?? []
  }

  /** The files as they are now, for as long as `use` runs: nothing is written into the repository. */
  async present<T>(place: Place, use: (tree: string, env: Environment) => Promise<T>): Promise<T> {
    const known = this.#of(place.root)
    await this.#look(place, known)
    const folder = await mkdtemp(join(tmpdir(), 'corral-present-'))
    try {
      const env = scratch(folder, place)
      await mkdir(join(folder, 'objects'))
      await copyIndex(join(this.#folderOf(place.root), 'index'), env.GIT_INDEX_FILE)
      await copyIndex(join(place.gitDir, 'index'), env.GIT_INDEX_FILE)
      const left = await this.#leftOut(place, known, env)
      await addAll(place.here, env, left)
      return await use(await writeTree(place.here, env), env)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  }

  /** In turn only. What is ignored by now leaves our index, what is tracked although it is ignored comes in. */
  async tidy(place: Place): Promise<void> {
    const known = this.#of(place.root)
    const seen = `${known.tree} ${await stampOfFile(join(place.gitDir, 'index'))}`
    if (known.tidied === seen || known.stamp === null) return
    const env = this.indexOf(place)
    const before = known.large
    known.large = null
    await this.#look(place, known)
    const [ours, users] = [await ignored(place.here, env), await ignored(place.here, {})]
    const strangers = [...ours].filter((name) => !users.has(name))
    const large = (known.large ?? []).filter((name) => !before?.includes(name))
    await updateIndex(place.here, env, ['--force-remove'], [...strangers, ...large])
    const missing = [...users].filter((name) => !ours.has(name))
    await updateIndex(place.here, env, ['--add', '--remove'], missing)
    known.tidied = seen
  }

  /** The index may have been changed, or may stand for what is gone. */
  changed(root?: string): void {
    for (const known of root === undefined ? this.#known.values() : [this.#of(root)]) known.stamp = null
  }

  /** Removes the indexes of work trees that are gone. */
  async sweep(): Promise<void> {
    for (const name of await readdir(this.#folder).catch(() => [])) {
      const folder = join(this.#folder, name)
      const root = await readFile(join(folder, 'root'), 'utf8').catch(() => null)
      if (root === null) continue
      const isThere = await stat(root).then(
        () => true,
        () => false,
      )
      if (isThere || this.#queues.has(root)) continue
      this.#known.delete(root)
      await rm(folder, { recursive: true, force: true })
    }
  }

  async #write(place: Place, known: Known, folder: string): Promise<WorkState> {
    const { here, gitDir, commonDir: repository } = place
    const env: Environment = { GIT_INDEX_FILE: join(folder, 'index') }
    // A git that was killed leaves its lock, and nobody else writes here.
    await rm(`${env.GIT_INDEX_FILE}.lock`, { force: true })
    await copyIndex(join(gitDir, 'index'), env.GIT_INDEX_FILE)
    const left = await this.#leftOut(place, known, env)
    await addAll(here, env, left)
    const stamp = await stampOfFile(env.GIT_INDEX_FILE)
    if (known.tree === null || stamp === null || stamp !== known.stamp) {
      known.stamp = null
      known.tree = await writeTree(here, env)
      known.stamp = await stampOfFile(env.GIT_INDEX_FILE)
    }
    return { tree: known.tree, repository, left: left.slice(0, MAX_TOLD).map(shown) }
  }

  #of(root: string): Known {
    let known = this.#known.get(root)
    if (!known) {
      const [oldest] = this.#known.keys()
      if (oldest !== undefined && this.#known.size >= MAX_KNOWN) this.#known.delete(oldest)
      known = { large: null, tree: null, stamp: null, tidied: null, refused: null }
      this.#known.set(root, known)
    }
    return known
  }

  #folderOf(root: string): string {
    return join(this.#folder, createHash('sha256').update(root).digest('hex').slice(0, 32))
  }

  async #look({ root, here }: Place, known: Known): Promise<void> {
    if (known.refused && Date.now() < known.refused.until) throw known.refused.error
    if (known.large) return
    try {
      known.large = await largeFiles(here, root)
      known.refused = null
    } catch (thrown) {
      const error = asCorralError(thrown)
      if (error.code === 'unsupported') known.refused = { error, until: Date.now() + REST_MS }
      throw error
    }
  }

  async #leftOut({ root, here }: Place, { large }: Known, env: Environment): Promise<string[]> {
    const own = isInside(root, this.#home) && root !== this.#home ? [asName(relative(root, this.#home))] : []
    return [...own, ...(large ?? []), ...(await filtered(here, env))]
  }
}

async function prepare(folder: string, root: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  await writeFile(join(folder, 'root'), root, { flag: 'wx' }).catch(() => {})
}

/** Objects go into a folder that is thrown away; those of the repository are there to be read. */
function scratch(folder: string, { commonDir }: Place): Environment {
  const objects = join(commonDir, 'objects')
    .replaceAll(/["\\]/g, String.raw`\$&`)
    .replaceAll('\n', String.raw`\n`)
  return {
    GIT_INDEX_FILE: join(folder, 'index'),
    GIT_OBJECT_DIRECTORY: join(folder, 'objects'),
    GIT_ALTERNATE_OBJECT_DIRECTORIES: `"${objects}"`,
  }
}

/** A file that cannot be read, or is gone before it was, stays as it was: an agent may be at work (1 is such an end). */
async function addAll(here: GuardedGit, env: Environment, left: readonly string[]): Promise<void> {
  const limits = { config: OWN_INDEX, timeoutMs: SLOW_MS, answers: [0, 1] }
  const add = ['add', '--all', '--ignore-errors']
  if (left.length === 0) return void (await here.run(add, { ...limits, env }))
  const specs = ['.', ...left.map((name) => `:(top,exclude,literal)${name}`)]
  const from = ['--pathspec-from-file=-', '--pathspec-file-nul']
  await here.run([...add, ...from], {
    ...limits,
    env: { ...env, GIT_LITERAL_PATHSPECS: '0' },
    input: asInput(specs),
  })
}

function writeTree(here: GuardedGit, env: Environment): Promise<string> {
  return here.text(['write-tree'], { env, config: OWN_INDEX, timeoutMs: SLOW_MS })
}

async function updateIndex(
  here: GuardedGit,
  env: Environment,
  flags: readonly string[],
  names: readonly string[],
): Promise<void> {
  if (names.length === 0) return
  const args = ['update-index', ...flags, '-z', '--stdin']
  await here.run(args, { env, config: OWN_INDEX, input: asInput(names), timeoutMs: SLOW_MS })
}

/** What an index has although it is ignored. */
async function ignored(here: GuardedGit, env: Readonly<Record<string, string>>): Promise<Set<string>> {
  const args = ['ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const { stdout } = await here.run(args, { env, maxBytes: MAX_LIST_BYTES, truncate: true })
  return new Set(namesIn(stdout))
}

/** Untracked files that are too large; throws where there are too many of any size. */
async function largeFiles(here: GuardedGit, root: string): Promise<string[]> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard']
  const listed = await here.run(args, { maxBytes: MAX_LIST_BYTES, truncate: true, timeoutMs: SLOW_MS })
  const names = namesIn(listed.stdout).filter((name) => !name.endsWith('/'))
  if (listed.truncated || names.length > MAX_UNTRACKED) throw tooMuch(`more than ${MAX_UNTRACKED}`)
  const sizes: number[] = []
  for (let at = 0; at < names.length; at += AT_ONCE) {
    const some = names.slice(at, at + AT_ONCE).map((name) => lstat(pathTo(root, name)).catch(() => null))
    sizes.push(...(await Promise.all(some)).map((found) => found?.size ?? 0))
  }
  const bytes = sizes.filter((size) => size <= MAX_FILE_BYTES).reduce((sum, size) => sum + size, 0)
  if (bytes > MAX_UNTRACKED_BYTES) throw tooMuch(`${Math.round(bytes / 1024 ** 2)} MiB of`)
  return names.filter((_, n) => sizes[n]! > MAX_FILE_BYTES)
}

function tooMuch(what: string): CorralError {
  const text = `There are ${what} files that git neither tracks nor ignores; ignore what is not worth keeping (.gitignore)`
  return new CorralError('unsupported', text)
}

/** Changed files whose filter we have switched off: an encrypted file, say, would be written down in clear. */
async function filtered(here: GuardedGit, env: Environment): Promise<string[]> {
  if (here.config.disabledFilters.size === 0) return []
  const args = ['ls-files', '-z', '--others', '--modified', '--exclude-standard']
  const { stdout } = await here.run(args, { env, timeoutMs: SLOW_MS })
  return needFilter(here, [...new Set(namesIn(stdout))])
}

/** Those of these files whose filter we have switched off. */
export async function needFilter(here: GuardedGit, names: readonly string[]): Promise<string[]> {
  const { disabledFilters } = here.config
  if (disabledFilters.size === 0 || names.length === 0) return []
  const { stdout } = await here.run(['check-attr', '-z', '--stdin', 'filter'], { input: asInput(names) })
  const fields = namesIn(stdout)
  return names.filter((_, n) => disabledFilters.has(shown(fields[n * 3 + 2] ?? '')))
}
