import type { Unasked } from '../core/about.ts'
import type { Defaults } from '../core/defaults.ts'
import type { WorktreeMaker, WorktreeWish } from '../core/own-worktree.ts'
import type { Capabilities } from '../core/capabilities.ts'
import type { AgentAbilities, Spares } from '../relay/ports.ts'
import type { Relay } from '../relay/relay.ts'

/*
 * What dialects use beside the engine, as they see it: the process around it, and git. The daemon hands it in.
 */

/** The process around the engine. */
export interface Daemon {
  readonly version: string
  readonly startedAt: number
  /** The same at every start on this machine and data directory. */
  id(): Promise<string>
  /** Where it listens now. */
  listeners(): Listener[]
  /** Why some of its listeners are elsewhere, or not there. */
  troubles(): { name: string; message: string }[]
  /** It has begun to stop. */
  isStopping(): boolean
  /** Agent processes now. */
  agents(): AgentsSummary
  /** The agents of this machine; looked for again each time. */
  reports(): Promise<AgentReport[]>
  /** What a session begins with where nobody says otherwise. */
  defaults(): Promise<Defaults>
  /** One of them; null: there is no agent of this name. */
  detect(name: string): Promise<Pick<AgentReport, 'installed' | 'version' | 'problem'> | null>
  /** What the relay must know about an agent before it asks it. */
  abilities(name: string): AgentAbilities
  /** Agent processes that wait for a session. */
  readonly spares: Spares
  /** Looks at itself and all around it. */
  examine(): Promise<Examination>
  readonly resources: Resources
  /** All counters, in Prometheus' text format. */
  metrics(): string
  readonly updates: Updates
  /** What is at a path, for somebody who looks for a directory to work in; `~` is the user's home. */
  lookAt(path: string): Promise<Place>
  /** Makes a fresh directory for the demo agent, with a repository in it where there is git. */
  makeTourDirectory(): Promise<{ readonly path: string; readonly isRepository: boolean }>
  /** Begins to stop, after answers that are due have gone out. */
  stop(options: { agents: 'end' | 'keep'; now: boolean }): void
}

/** Other machines. */
export interface Machines {
  list(): MachineReport[]
  /** This machine in a fleet; null: it is in none. */
  membership(): FleetReport | null
  /** Throws `machine_unreachable` when it does not answer. */
  add(name: string, target: string): Promise<MachineReport>
  remove(name: string): Promise<void>
  /** Calls a method of the native API there, for whoever is being served; resolves when what came of it is in this log too. */
  call(machine: string, method: string, params: unknown): Promise<unknown>
}

export type FleetReport = {
  /** What this machine is called there. */
  readonly name: string
} & (
  | { readonly state: 'joined' }
  | {
      readonly state: 'joining'
      /** Why that did not work yet. */
      readonly reason: string | null
    }
)

export type MachineReport = {
  readonly name: string
  /** How it is reached. */
  readonly target: string
  readonly sessions: number
} & (
  | { readonly state: 'here'; readonly version: string; readonly behind: number }
  | { readonly state: 'connecting' }
  | { readonly state: 'away'; readonly reason: string; readonly since: number }
)

export interface Place {
  readonly path: string
  readonly isDirectory: boolean
  readonly inRepository: boolean
  /** Names of the directories in it. */
  readonly directories: readonly string[]
  readonly truncated: boolean
}

export interface Listener {
  /** Of the dialect that it serves. */
  name: string
  /** A URL, or the path of a socket. */
  address: string
}

export interface AgentsSummary {
  running: number
  idle: number
  maxWarm: number
}

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

export interface AgentReport extends ProviderReport {
  /** How a human signs in; null when that is done. */
  signIn: string | null
  capabilities: Capabilities
  unasked: Unasked
}

export interface Examination {
  /** The worst of all. */
  status: 'ok' | 'warn' | 'error'
  checks: Finding[]
}

/** A finding of the doctor's. */
export interface Finding {
  group: 'machine' | 'home' | 'configuration' | 'daemon' | 'agents'
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

export interface DiffLine {
  readonly type: 'context' | 'added' | 'removed'
  readonly content: string
  readonly oldLineNo: number | null
  readonly newLineNo: number | null
  /** The last line of a file that does not end with a line feed. */
  readonly noNewline?: true
}

export interface DiffHunk {
  readonly header: string
  readonly oldStart: number
  readonly oldLines: number
  readonly newStart: number
  readonly newLines: number
  readonly lines: readonly DiffLine[]
}

export interface FileDiff {
  readonly path: string
  readonly oldPath: string | null
  readonly change: 'added' | 'deleted' | 'renamed' | 'modified'
  readonly isBinary: boolean
  readonly hunks: readonly DiffHunk[]
}

export interface WorktreeInfo {
  readonly path: string
  readonly branch: string | null
  readonly base: string | null
}

/** A worktree of a session's own. */
export interface WorktreeEntry extends WorktreeInfo {
  readonly id: string
  /** The checkout that it was made from; null: that cannot be told. */
  readonly from: string | null
}

export interface MergeOutcome {
  /** `conflict`, `blocked`: nothing was touched. */
  readonly outcome: 'merged' | 'nothing' | 'conflict' | 'blocked'
  readonly commit?: string
  readonly how?: 'fast-forward' | 'merge' | 'squash'
  readonly why?: 'detached' | 'uncommitted' | 'unfinished'
  readonly files?: readonly string[]
}

export interface Listing {
  readonly path: string
  readonly entries: readonly {
    readonly name: string
    readonly kind: 'file' | 'directory' | 'link' | 'other'
    readonly size: number | null
    readonly modifiedAt: number
  }[]
  readonly truncated: boolean
}

export interface FilePiece {
  readonly path: string
  /** Null: it is no text. */
  readonly text: string | null
  /** Of images. */
  readonly base64: string | null
  readonly mediaType: string | null
  readonly size: number
  readonly truncated: boolean
  readonly modifiedAt: number
}

/** Git repositories; every path may be below the checkout that is meant. Throws `repo_not_found`. */
export interface Workspace extends WorktreeMaker {
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
  /** Below a directory, without following links; `path` is relative, and empty for the directory itself. */
  listDirectory(directory: string, path: string): Promise<Listing>
  readPiece(
    directory: string,
    path: string,
    piece: { offset?: number | undefined; limit?: number | undefined },
  ): Promise<FilePiece>
  findFiles(
    directory: string,
    query: string,
    limit: number,
  ): Promise<{
    readonly files: readonly { readonly path: string; readonly score: number }[]
    readonly truncated: boolean
  }>
  /** Checkouts that sessions have for themselves. */
  ownWorktree(id: string): Promise<WorktreeEntry | null>
  ownWorktrees(): Promise<WorktreeEntry[]>
  addWorktree(path: string, id: string, wish?: WorktreeWish): Promise<WorktreeInfo & { origin: string }>
  discardUnused(path: string, id: string): Promise<void>
  worktree(path: string, id: string): Promise<WorktreeInfo | null>
  worktreeDiff(path: string, id: string): Promise<DiffText>
  mergeWorktree(path: string, id: string, message?: string): Promise<MergeOutcome>
  /** Commits all that is uncommitted in it; with how many commits it is ahead of its base. */
  commitWorktree(path: string, id: string, message?: string): Promise<{ commit: string; ahead: number }>
  /** Calls back when the status of an open repository is another one. */
  onChanged(tell: (status: RepoStatus) => void): void
}

/** The relay, for its owner; its own dialect serves programs. */
export interface RelayPort {
  /** Where programs reach it. */
  readonly address: string
  /** Whether anybody has used it, now or before. Until then nothing of it is loaded. */
  isUsed(): boolean
  /** Loads it, if it is not. */
  open(): Promise<Relay>
}

/** Where the relay's dialect leaves it when it listens; null: it does not. */
export interface RelayPlace {
  port: RelayPort | null
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

export interface SessionResources {
  sessionId: string
  agent: string
  tier: 'active' | 'warm' | 'cold'
  pid: number | null
  bytes: number
  activeAt: number
}

export interface Resources {
  /** With the sessions that are not cold. */
  now(): Promise<Sample & { sessions: SessionResources[] }>
  /** The newest first. */
  history(limit: number): Sample[]
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
