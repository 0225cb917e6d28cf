import { readdir } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { WorkTrees } from '../core/checkpoint.ts'
import { asCorralError } from '../core/error.ts'
import type { WorktreeWish } from '../core/own-worktree.ts'
import { listDirectory, readPiece, type FilePiece, type Listing } from './browse.ts'
import { Finder } from './find.ts'
import type { Match } from './fuzzy.ts'
import { createGit } from './git.ts'
import type { MergeOutcome } from './merge.ts'
import { Places } from './place.ts'
import { openRepository, type DiffRequest, type DiffText, type Repository } from './repository.ts'
import type { RepoStatus } from './status.ts'
import { parseUnifiedDiff, type FileDiff } from './unified.ts'
import { Watcher, type WatchedRepository } from './watch.ts'
import { createWorkTrees } from './work-trees.ts'
import { createWorktrees, type Worktree } from './worktree.ts'
import type { WorktreeEntry } from './worktree-list.ts'

export interface WorkspaceOptions {
  readonly env: NodeJS.ProcessEnv
  /** Corral's data directory: worktrees of sessions go below it, and what checkpoints are made with. */
  readonly home: string
  readonly problem: (root: string, why: string) => void
}

interface SessionWorktrees {
  /** Worktrees in the folder that is ours, by the id of their session. */
  ownWorktree(id: string): Promise<WorktreeEntry | null>
  ownWorktrees(): Promise<WorktreeEntry[]>
  addWorktree(path: string, id: string, wish?: WorktreeWish): Promise<Worktree>
  worktree(path: string, id: string): Promise<WorktreeEntry | null>
  worktreeDiff(path: string, id: string): Promise<DiffText>
  mergeWorktree(path: string, id: string, message?: string): Promise<MergeOutcome>
  /** Commits all that is uncommitted in it; with how many commits it is ahead of its base. */
  commitWorktree(path: string, id: string, message?: string): Promise<{ commit: string; ahead: number }>
  discardWorktree(path: string, id: string, force: boolean): Promise<void>
  /** One that nobody has worked in, whole or half made, if there is one. */
  discardUnused(path: string, id: string): Promise<void>
}

interface Files {
  /** Below a directory, without following links; `path` is relative, and empty for the directory itself. */
  listDirectory(directory: string, path: string): Promise<Listing>
  readPiece(
    directory: string,
    path: string,
    piece?: { offset?: number | undefined; limit?: number | undefined },
  ): Promise<FilePiece>
  findFiles(
    directory: string,
    query: string,
    limit: number,
  ): Promise<{ files: readonly Match[]; truncated: boolean }>
}

/** Repositories by path, for those who know no more about them. Every path may be below the checkout that is meant. */
export interface Workspace extends SessionWorktrees, Files {
  readonly trees: WorkTrees
  /** And watch it from now on. */
  open(path: string): Promise<RepoStatus>
  /** Whether it was open. */
  close(path: string): Promise<boolean>
  watched(): WatchedRepository[]
  /** Calls back when the status of an open repository is another one. */
  onChanged(tell: (status: RepoStatus) => void): void
  status(path: string): Promise<RepoStatus>
  /** Of one file also when it is untracked. */
  diff(path: string, request: Pick<DiffRequest, 'staged' | 'file'>): Promise<DiffText>
  files(path: string): Promise<{ root: string; files: readonly string[]; truncated: boolean }>
  readFile(path: string, file: string): Promise<{ root: string; content: string; sizeBytes: number }>
  structured(diff: string): FileDiff[]
  /** Resolves when no git of ours runs any more. */
  stop(): Promise<void>
}

export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { env, home, problem } = options
  const git = createGit(env)
  const places = new Places(git)
  const finder = new Finder(places)
  const readers: ((status: RepoStatus) => void)[] = []
  const watcher = new Watcher({
    changed: (_, status) => readers.forEach((tell) => tell(status)),
    problem,
  })
  const at = (path: string): Promise<Repository> => openRepository(git, path)

  return {
    open: async (path) => watcher.open(await at(path)),
    async close(path) {
      if (watcher.close(path)) return true
      // One that is gone may still be watched, by the name that it had.
      const found = await at(path).catch(noneIfNoRepository)
      return found !== null && watcher.close(found.root)
    },
    watched: () => watcher.list(),
    onChanged: (tell) => void readers.push(tell),
    status: async (path) => (await at(path)).status(),
    async diff(path, { staged = false, file }) {
      const repo = await at(path)
      return file === undefined ? repo.diff({ staged }) : repo.fileDiff(file, { staged })
    },
    async files(path) {
      const repo = await at(path)
      return { root: repo.root, ...(await repo.files()) }
    },
    async readFile(path, file) {
      const repo = await at(path)
      return { root: repo.root, ...(await repo.readFile(file)) }
    },
    structured: parseUnifiedDiff,
    trees: createWorkTrees(git, places, { folder: join(home, 'checkpoints'), home }),
    listDirectory,
    readPiece,
    findFiles: (directory, query, limit) => finder.find(directory, query, limit),
    ...worktreesOf(at, join(home, 'worktrees')),
    async stop() {
      await watcher.closeAll()
      git.close()
    },
  }
}

/** By path and the id of a session; `folder` is where they are made. */
function worktreesOf(at: (path: string) => Promise<Repository>, folder: string): SessionWorktrees {
  const worktrees = createWorktrees()

  async function worktree(path: string, id: string): Promise<WorktreeEntry | null> {
    const found = await worktrees.list(await at(path))
    return found.find((entry) => entry.id === id) ?? null
  }

  /** The checkout that the worktree of a session was made from; not always the main one of the repository. */
  async function origin(path: string, id: string): Promise<Repository> {
    return at((await worktree(path, id))?.from ?? path)
  }

  async function ownWorktree(id: string): Promise<WorktreeEntry | null> {
    if (basename(id) !== id) return null
    return worktree(join(folder, id), id).catch(noneIfNoRepository)
  }

  return {
    ownWorktree,
    async ownWorktrees() {
      const ids = await readdir(folder).catch(() => [])
      const found: (WorktreeEntry | null)[] = []
      for (const id of ids.toSorted((a, b) => (a < b ? -1 : 1))) found.push(await ownWorktree(id))
      return found.filter((entry) => entry !== null)
    },
    addWorktree: async (path, id, wish) =>
      worktrees.create(await at(path), { ...wish, id, path: join(folder, id) }),
    worktree,
    worktreeDiff: async (path, id) => worktrees.diff(await at(path), id),
    mergeWorktree: async (path, id, message) => worktrees.merge(await origin(path, id), id, message),
    commitWorktree: async (path, id, message) => worktrees.commit(await origin(path, id), id, message),
    discardUnused: async (path, id) => worktrees.discardUnused(await at(path), id),
    discardWorktree: async (path, id, force) => worktrees.discard(await origin(path, id), id, { force }),
  }
}

function noneIfNoRepository(thrown: unknown): null {
  if (asCorralError(thrown).code === 'repo_not_found') return null
  throw thrown
}
