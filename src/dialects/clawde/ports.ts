/*
 * What this dialect needs beside the engine, as it sees it; the daemon hands it in.
 */

/** An agent of this machine. */
export interface ProviderReport {
  name: string
  title: string
  installed: boolean
  path: string | null
  version: string | null
  problem: string | null
  /** Null: it cannot be told. */
  signedIn: boolean | null
}

/** A finding of the doctor's. */
export interface Finding {
  name: string
  status: 'ok' | 'warn' | 'error' | 'skipped'
  message: string
  fix: string | null
}

export interface RepoStatus {
  readonly root: string
  readonly branch: string
  readonly detached: boolean
  readonly ahead: number
  readonly behind: number
  readonly remotes: readonly string[]
  readonly files: readonly {
    readonly path: string
    readonly oldPath: string | null
    readonly status: string
    /** git's two letters, index and working tree, `.` for unchanged, `??` for untracked. */
    readonly code: string
  }[]
  readonly truncated: boolean
  readonly isClean: boolean
  readonly hasConflicts: boolean
}

export interface DiffText {
  readonly text: string
  readonly truncated: boolean
}

export interface FileDiff {
  readonly path: string
  readonly oldPath: string | null
  readonly isBinary: boolean
  readonly hunks: readonly object[]
}

export interface WorktreeInfo {
  readonly path: string
  readonly branch: string | null
  readonly base: string | null
}

/** Git repositories; every path may be below the checkout that is meant. Throws `repo_not_found`. */
export interface Workspace {
  /** And watch it from now on. */
  open(path: string): Promise<RepoStatus>
  /** Whether it was open. */
  close(path: string): Promise<boolean>
  watched(): readonly { readonly root: string; readonly status: RepoStatus }[]
  status(path: string): Promise<RepoStatus>
  diff(path: string, request: { staged?: boolean; file?: string }): Promise<DiffText>
  files(
    path: string,
  ): Promise<{ readonly root: string; readonly files: readonly string[]; readonly truncated: boolean }>
  readFile(
    path: string,
    file: string,
  ): Promise<{ readonly root: string; readonly content: string; readonly sizeBytes: number }>
  structured(diff: string): readonly FileDiff[]
  /** A checkout of its own for a session. */
  addWorktree(path: string, id: string, carry: boolean): Promise<WorktreeInfo>
  worktree(path: string, id: string): Promise<WorktreeInfo | null>
  worktreeDiff(path: string, id: string): Promise<DiffText>
  mergeWorktree(path: string, id: string, message?: string): Promise<object>
  /** Throws `unsaved_work` unless told that it may be lost. */
  discardWorktree(path: string, id: string, force: boolean): Promise<void>
}

/** What was used at one moment. */
export interface Sample {
  readonly at: number
  readonly totalBytes: number
  readonly usedBytes: number
  readonly daemonBytes: number
  readonly agentsBytes: number
  readonly active: number
  readonly warm: number
  readonly cold: number
}

export interface Resources {
  now(): Promise<Sample>
  /** The newest first. */
  history(limit: number): readonly Sample[]
}

export type UpdateCheck =
  | { readonly state: 'unconfigured' | 'failed'; readonly current: string; readonly message: string }
  | { readonly state: 'current'; readonly current: string; readonly latest: string }
  | { readonly state: 'available'; readonly current: string; readonly latest: string; readonly notes: string }

export interface Updates {
  check(): Promise<UpdateCheck>
  /** Fetches and verifies the newest package. */
  stage(): Promise<{ readonly version: string; readonly path: string; readonly command: string }>
  /** The version that was fetched and waits to be installed. */
  readonly pending: string | null
}
