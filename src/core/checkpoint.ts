import type { FileChange } from './file-change.ts'

/**
 * When a state was kept: before a turn, after it, before a restoration (so that it can be undone), or as what a restoration
 * has left.
 */
export type CheckpointKind = 'before' | 'after' | 'undo' | 'restored'

/** A state of the files that a session works on, kept by git; a row of the `checkpoints` read model. */
export interface Checkpoint {
  sessionId: string
  /** The turn that it was taken before or after; an id of its own where a restoration has taken it. */
  id: string
  kind: CheckpointKind
  /** `seq` of its event. */
  seq: number
  at: number
  /** git's name of it. */
  tree: string
  /** What keeps it from being cleaned away. */
  ref: string
  /** The directory that has the repository's objects and refs. */
  repository: string
  /** How many files its turn has changed; null: that is not known, or not over. */
  files: number | null
  /** Files that are not in it: too large, or not to be read without a filter of the repository's own. The first of them. */
  left: string[]
}

/** All files of a work tree that are not ignored. */
export interface WorkState {
  tree: string
  repository: string
  left: string[]
}

/** What to compare with: a tree, the last commit, or where the branch that a session works on began. */
export type DiffBase = { tree: string } | 'head' | { branchOf: string }

export interface DiffRequest {
  from: DiffBase
  /** Null: the files as they are now. */
  to: string | null
  /** Only this file, and more of it. */
  path?: string
  /** No lines. */
  brief?: boolean
}

export interface Diff {
  /** The object that `from` turned out to be. */
  base: string | null
  files: FileChange[]
  truncated: boolean
  /** Why there is nothing to compare with. */
  reason: string | null
}

/** A file that restoring would change or remove, and that somebody else may need. */
export interface Conflict {
  path: string
  why: string
}

export interface RestoreRequest {
  /** The tree to go back to. */
  target: string
  /** The tree that nobody would miss: what has changed since is somebody's own work. Null: nothing is known. */
  known: string | null
}

export interface RestorePlan {
  files: FileChange[]
  conflicts: Conflict[]
  truncated: boolean
}

/** git, as far as checkpoints need it. All take the directory of a session; paths are below the root of its work tree. */
export interface WorkTrees {
  /** The root of the work tree that a directory is in; null: there is none. */
  root(cwd: string): Promise<string | null>
  /** Writes down the files as they are; null: there is no repository. */
  take(cwd: string): Promise<WorkState | null>
  /** Looks after what `take` works with, when nobody waits. */
  tidy(cwd: string): Promise<void>
  /** Refs of a repository, all of them or none. */
  keep(
    repository: string,
    change: { set: readonly [ref: string, tree: string][]; remove: readonly string[] },
  ): Promise<void>
  /** Removes all refs of a session. */
  forget(repository: string, sessionId: string): Promise<void>
  /** A file as it is now, where it is text that is not too long; null: it is not there. */
  text(cwd: string, path: string): Promise<string | null>
  /** How many files differ. */
  count(cwd: string, from: string, to: string): Promise<number>
  diff(cwd: string, request: DiffRequest): Promise<Diff>
  /** What `restore` would do. */
  plan(cwd: string, request: RestoreRequest): Promise<RestorePlan>
  /**
   * Brings the files back. `save` gets what is there now, before anything is touched. Throws `unsaved_work`, unless told that
   * the work of others may go.
   */
  restore(
    cwd: string,
    request: RestoreRequest & { force: boolean; save: (state: WorkState) => Promise<void> },
  ): Promise<{ tree: string; files: number }>
}

/** Where the refs of a session are. */
export function refsOfSession(sessionId: string): string {
  return `refs/corral/checkpoints/${sessionId}`
}

/** Names of checkpoints go into names of refs. */
const SAFE = /^[A-Za-z0-9][A-Za-z0-9_-]{0,99}$/

/** Null: there is no ref of this name. */
export function refOf(sessionId: string, id: string, kind: CheckpointKind): string | null {
  if (!SAFE.test(sessionId) || !SAFE.test(id)) return null
  return `${refsOfSession(sessionId)}/${id}${kind === 'after' || kind === 'restored' ? '.after' : ''}`
}

/** One can go back to these. */
export function isStart({ kind }: Pick<Checkpoint, 'kind'>): boolean {
  return kind === 'before' || kind === 'undo'
}

/**
 * The newest state that Corral itself has left, by a turn or by a restoration. Null: that of the last turn was not kept.
 * `rows` are the newest first.
 */
export function knownState(rows: readonly Checkpoint[]): Checkpoint | null {
  const last = rows.find(({ kind }) => kind !== 'undo')
  return last && last.kind !== 'before' ? last : null
}

/** What a turn began with and what it has left; `to` is null while that is the present. */
export function spanOf(
  rows: readonly Checkpoint[],
  turnId: string,
): { from: Checkpoint; to: Checkpoint | null } | null {
  const from = rows.find(({ id, kind }) => id === turnId && kind === 'before')
  if (!from) return null
  const end = rows.find(({ id, kind }) => id === turnId && kind === 'after')
  return { from, to: end ?? rows.findLast(({ seq }) => seq > from.seq) ?? null }
}
