import { lstat, mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { asCorralError, CorralError } from '../core/error.ts'
import { checkedPath, isInside, readTextFile, type FileContent } from './files.ts'
import type { Git } from './git.ts'
import { guard, type GuardedGit } from './guarded.ts'
import { copyIndex } from './index-copy.ts'
import { parseStatus, type RepoStatus } from './status.ts'

export interface DiffRequest {
  /** From HEAD to the index, instead of from HEAD to the working tree. */
  readonly staged?: boolean
  /** New files that git does not know yet, too. */
  readonly untracked?: boolean
  readonly file?: string
  /** A commit to compare with, instead of HEAD. */
  readonly base?: string
  readonly maxBytes?: number
}

export interface DiffText {
  readonly text: string
  readonly truncated: boolean
}

export interface FileList {
  readonly files: readonly string[]
  readonly truncated: boolean
}

/** One checkout: the main one of a repository, or a linked worktree. */
export interface Repository {
  readonly root: string
  /** What belongs to this checkout: HEAD, index. */
  readonly gitDir: string
  /** What all checkouts of the repository share: refs, objects. */
  readonly commonDir: string
  readonly git: Git
  status(): Promise<RepoStatus>
  /** Unified text. */
  diff(request?: DiffRequest): Promise<DiffText>
  /** One file, also when it is untracked; empty if it did not change. */
  fileDiff(file: string, request?: Pick<DiffRequest, 'staged'>): Promise<DiffText>
  /** Tracked files that are there, and new ones that are not ignored. */
  files(): Promise<FileList>
  readFile(path: string): Promise<FileContent>
  guarded(): Promise<GuardedGit>
}

const MAX_STATUS_FILES = 10_000
const MAX_LISTED_FILES = 100_000
const MAX_DIFF_BYTES = 8 * 1024 * 1024
const MAX_LIST_BYTES = 32 * 1024 * 1024

/** No setting of the user's or the repository's changes what we parse. */
export const DIFF = (
  'diff --no-ext-diff --no-textconv --no-color --src-prefix=a/ --dst-prefix=b/ --unified=3 ' +
  '--inter-hunk-context=0 --no-relative --find-renames -O/dev/null --submodule=short --ignore-submodules=dirty'
).split(' ')

const STATUS =
  'status --porcelain=v2 --branch -z --untracked-files=all --ignore-submodules=dirty --ahead-behind --find-renames'.split(
    ' ',
  )

/** The checkout that a path belongs to; throws `repo_not_found`. */
export async function openRepository(git: Git, path: string): Promise<Repository> {
  const start = await realpath(path).catch((cause: unknown) => {
    throw new CorralError('repo_not_found', `No such directory: ${path}`, { path }, cause)
  })
  const ask = async (flag: string): Promise<string> => {
    const { stdout } = await git.run({ cwd: start, args: ['rev-parse', flag] })
    return stdout.toString().replace(/\n$/, '')
  }
  try {
    const answers = ['--show-toplevel', '--absolute-git-dir', '--git-common-dir'].map(ask)
    const [top = '', gitDir = '', common = ''] = await Promise.all(answers)
    const root = await realpath(top)
    if (!(await isRootOf(root, start))) throw notFound(path, `its settings lead to ${root}`)
    return repository(git, root, gitDir, await realpath(resolve(start, common)))
  } catch (thrown) {
    const error = asCorralError(thrown)
    if (error.code !== 'git_failed' || error.data['exitCode'] !== 128) throw error
    throw notFound(path, error.message, thrown)
  }
}

/** A repository may claim any folder for its working tree (`core.worktree`); only its own is one. */
async function isRootOf(root: string, path: string): Promise<boolean> {
  const isMarked = await lstat(join(root, '.git')).then(
    () => true,
    () => false,
  )
  return isMarked && isInside(root, path)
}

function notFound(path: string, why: string, cause?: unknown): CorralError {
  return new CorralError('repo_not_found', `Not a git checkout: ${path}`, { path, why }, cause)
}

function repository(git: Git, root: string, gitDir: string, commonDir: string): Repository {
  const guarded = (): Promise<GuardedGit> => guard(git, root)

  async function diff(request: DiffRequest = {}): Promise<DiffText> {
    const here = await guarded()
    const paths = request.file === undefined ? [] : await namesOf(here, root, request.file)
    const base = request.base ?? (await here.resolve('HEAD')) ?? (await emptyTree(here))
    const args = [...DIFF, ...(request.staged ? ['--cached'] : []), base, '--', ...paths]
    const show = async (env: Record<string, string>): Promise<DiffText> => {
      const limit = { maxBytes: request.maxBytes ?? MAX_DIFF_BYTES, truncate: true, env }
      const { stdout, truncated } = await here.run(args, limit)
      return { text: wholeLines(stdout, truncated), truncated }
    }
    if (request.staged || !request.untracked) return show({})
    return withUntracked(here, gitDir, paths, show)
  }

  return {
    root,
    gitDir,
    commonDir,
    git,
    guarded,
    status: async () => readStatus(await guarded(), root),
    diff,
    fileDiff: (file, request = {}) => diff({ ...request, file, untracked: true }),
    files: async () => listFiles(await guarded()),
    readFile: (path) => readTextFile(root, path),
  }
}

/** A renamed file is compared with what it was. */
async function namesOf(here: GuardedGit, root: string, given: string): Promise<string[]> {
  const file = checkedPath(given)
  const entry = (await readStatus(here, root)).files.find(({ path }) => path === file)
  return entry?.oldPath ? [file, entry.oldPath] : [file]
}

/** With a copy of the index that has the new files as empty ones: no content of theirs is written anywhere. */
async function withUntracked(
  here: GuardedGit,
  gitDir: string,
  paths: readonly string[],
  show: (env: Record<string, string>) => Promise<DiffText>,
): Promise<DiffText> {
  const args = ['ls-files', '-z', '--others', '--exclude-standard', '--', ...paths]
  const listed = await here.run(args, { maxBytes: MAX_LIST_BYTES, truncate: true })
  // A character for each byte: not every name is UTF-8, and git wants them back as they are.
  const names = listed.stdout.toString('latin1').split('\0').slice(0, -1)
  const added = names.filter((name) => !name.endsWith('/'))
  if (added.length === 0) return show({})
  const empty = await here.text(['hash-object', '-t', 'blob', '--stdin'])
  const lines = added.map((name) => `100644 ${empty}\t${name}\0`).join('')
  return withIndexCopy(gitDir, async (index) => {
    const env = { GIT_INDEX_FILE: index }
    // Unlike `add`, this does not mind a file that is gone meanwhile: an agent may be at work.
    const input = Buffer.from(lines, 'latin1')
    await here.run(['update-index', '-z', '--index-info'], { env, input })
    return show(env)
  })
}

async function listFiles(here: GuardedGit): Promise<FileList> {
  const args = ['ls-files', '-z', '-t', '--cached', '--others', '--deleted', '--exclude-standard']
  const { stdout, truncated } = await here.run(args, { maxBytes: MAX_LIST_BYTES, truncate: true })
  const files = presentFiles(stdout.toString())
  const kept = files.slice(0, MAX_LISTED_FILES)
  return { files: kept, truncated: truncated || kept.length < files.length }
}

export async function readStatus(here: GuardedGit, root: string): Promise<RepoStatus> {
  const { stdout, truncated } = await here.run(STATUS, { maxBytes: MAX_LIST_BYTES, truncate: true })
  const about = { root, remotes: here.config.remotes, maxFiles: MAX_STATUS_FILES }
  const status = parseStatus(stdout.toString(), about)
  return truncated ? { ...status, truncated } : status
}

/** Runs with an index of its own in a folder of its own. */
export async function withIndexCopy<T>(gitDir: string, use: (index: string) => Promise<T>): Promise<T> {
  const folder = await mkdtemp(join(tmpdir(), 'corral-index-'))
  try {
    const index = join(folder, 'index')
    await copyIndex(join(gitDir, 'index'), index)
    return await use(index)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

export function emptyTree(here: GuardedGit): Promise<string> {
  return here.text(['hash-object', '-t', 'tree', '--stdin'])
}

function wholeLines(bytes: Buffer, truncated: boolean): string {
  return (truncated ? bytes.subarray(0, bytes.lastIndexOf(10) + 1) : bytes).toString()
}

/** `R` marks what is deleted in the working tree, and a nested repository ends with a slash. */
function presentFiles(listing: string): string[] {
  const entries = listing.split('\0').slice(0, -1)
  const gone = new Set(entries.filter((entry) => entry.startsWith('R ')))
  const names = entries.filter((entry) => !gone.has(entry) && !gone.has(`R ${entry.slice(2)}`))
  return [...new Set(names.map((entry) => entry.slice(2)))].filter((name) => !name.endsWith('/')).sort()
}
