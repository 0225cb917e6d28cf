import type { Approval, Asking, Decision } from './approval.ts'
import type { HeldCall } from './call.ts'
import type { Checkpoint } from './checkpoint.ts'
import type { Capabilities } from './capabilities.ts'
import type { Comment } from './comment.ts'
import type { Content } from './content.ts'
import type { Device } from './devices.ts'
import type { Effort } from './effort.ts'
import type { AgentModel, AgentOutput, EventType, LoggedEvent, RunInfo } from './event.ts'
import type { KnownLimits } from './limits.ts'
import type { CopyWrite, Machine } from './machine.ts'
import type { Mode } from './mode.ts'
import type { Project } from './projects.ts'
import type { Retention } from './retention.ts'
import type { Rules } from './rule.ts'
import type { Phrase } from './search/query.ts'
import type { Session, SessionStatus } from './session.ts'
import type { Failure, Steer, Turn } from './turn.ts'
import type { Usage } from './usage.ts'

/** How far an agent's journal has been read: committed together with the events made from those bytes. */
export interface JournalPosition {
  runId: string
  /** Everything before this byte is in the log. */
  offset: number
  /** The first byte of the running turn: where a translator starts over after a restart. */
  turnOffset: number
}

export interface RunRow extends RunInfo, Omit<JournalPosition, 'runId'> {
  sessionId: string
  /** The folder of its process; several runs have the same one where sessions share a process. */
  process: string
}

/** Up to where a client of a dialect has certainly read a turn of its own. */
export interface Bookmark {
  owner: string
  sessionId: string
  turnId: string
  seq: number
}

/** Read models, changed in the same transaction as the events. */
export type Write =
  | { op: 'session'; session: Session; key?: string | undefined }
  /** The session has this conversation of its agent's own. */
  | { op: 'conversation'; agent: string; id: string; sessionId: string }
  /** One that was there before, and was a steer meanwhile, waits again: its key stays. */
  | { op: 'turn'; turn: Turn }
  | {
      op: 'turn.update'
      id: string
      patch: Partial<Omit<Turn, 'id' | 'sessionId' | 'key' | 'origin' | 'queuedAt' | 'seq'>>
    }
  | { op: 'approval'; approval: ApprovalRow }
  | ({ op: 'approval.update'; id: string } & Decided)
  | { op: 'approval.defer'; id: string; until: number | null }
  | { op: 'run'; run: RunRow }
  | { op: 'run.position'; position: JournalPosition }
  | { op: 'run.delete'; id: string }
  /** A message is complete: its deltas, all at or after `from`, go. */
  | { op: 'deltas.drop'; sessionId: string; messageId: string; from: number }
  /** An event that another one takes the place of. */
  | { op: 'event.drop'; seq: number }
  | { op: 'bookmark'; bookmark: Bookmark }
  | { op: 'bookmark.delete'; owner: string; turnId: string }
  | { op: 'bookmarks.drop'; sessionId: string }
  | { op: 'checkpoint'; checkpoint: Checkpoint }
  /** All of a session, or those before this `seq`. */
  | { op: 'checkpoints.drop'; sessionId: string; before?: number }
  | { op: 'comment'; comment: Comment }
  | { op: 'comment.update'; id: string; text?: string; sentIn?: string }
  | { op: 'comment.delete'; id: string }
  /** What was said in a session is not to be found any more. */
  | { op: 'search.drop'; sessionId: string }
  | CopyWrite
  | DaemonWrite

/** Of what belongs to no session. */
export type DaemonWrite =
  | { op: 'directory'; directory: Directory }
  | { op: 'name'; name: string }
  /** What an agent has told of its models last. */
  | { op: 'models'; agent: string; models: AgentModel[] }
  /** What is not given stays as it was. */
  | { op: 'limits'; agent: string; limits: KnownLimits }
  | { op: 'project'; project: Project }
  | { op: 'project.delete'; id: string }
  | { op: 'device'; device: Device; tokenHash: string }
  | { op: 'device.name'; id: string; name: string }
  | { op: 'device.seen'; id: string; at: number }
  | { op: 'device.delete'; id: string }

/** A directory, and what is allowed in it and below without asking. */
export interface Directory {
  path: string
  rules: Rules
}

/** A directory that sessions have worked in. */
export interface RecentPath {
  path: string
  usedAt: number
  sessions: number
}

export interface ApprovalRow extends Approval, Asking {
  sessionId: string
  turnId: string | null
  requestedAt: number
  decision: Decision | null
  decidedBy: string | null
  decidedAt: number | null
  deferredUntil: number | null
}

interface Decided {
  decision: Decision
  by: string
  at: number
  /** A human had been asked. */
  asked: boolean
  /** The name of the device that it came from. */
  device: string | null
}

/** An approval that is decided. */
export interface DecidedApproval extends ApprovalRow {
  decision: Decision
  decidedBy: string
  decidedAt: number
  asked: boolean
  device: string | null
}

export interface DecidedQuery {
  sessionId?: string
  /** Those that a human was asked about, or those that mode and rules answered at once. */
  asked: boolean
  /** Decided before this one. */
  before?: { decidedAt: number; id: string }
  limit: number
}

export interface Batch {
  events: LoggedEvent[]
  writes: Write[]
}

export interface EventQuery {
  after?: number
  before?: number
  sessionId?: string
  turnId?: string
  types?: readonly EventType[]
  /** Leave deltas out. */
  whole?: boolean
  /** Leave out what was copied from other machines. */
  own?: boolean
  limit: number
  /** The event with which their JSON goes past this is the last one. */
  maxBytes?: number
}

export interface SearchQuery {
  phrases: readonly Phrase[]
  sessionId?: string
  /** Nothing later than this `seq`. */
  until: number
  offset: number
  limit: number
}

export interface SessionQuery {
  /** Sessions that were active before this point; from the previous page's last row. */
  before?: { activeAt: number; id: string } | null
  limit: number
  agent?: string
  /** Made by this dialect. */
  origin?: string
  includeDestroyed?: boolean
  archived?: boolean
  /** Only those that nothing branches off. */
  leaves?: boolean
}

/** Just after an event: what was there by then, and was not over before the time of it. */
export interface Moment {
  seq: number
  at: number
}

/** Turns that are over, by when they ended: from `since` on, and before `until`. */
export interface UsageQuery {
  sessionId?: string
  since: number
  until: number
  /** Ended before this one. */
  before?: { endedAt: number; turnId: string }
  limit: number
}

/** What a turn that is over has used. */
export interface TurnUsage {
  turnId: string
  sessionId: string
  /** Null in older logs. */
  agent: string | null
  endedAt: number
  usage: Usage
}

export interface ApprovalQuery {
  sessionId?: string
  open?: boolean
  moment?: Moment
  limit: number
}

/** The event log and its read models. Reads see committed state only. */
export interface Log {
  /** Changes when committed events may have been lost; half of every cursor. */
  readonly id: string
  /** The last committed `seq`. */
  readonly head: number
  /** The lowest `seq` that retention has left. */
  readonly oldest: number
  /** Resolves once the batch is committed; batches commit in the order of the calls, or not at all. */
  append(batch: Batch): Promise<void>
  /** Ascending by `seq`; with only `before`, the last `limit` before it (still ascending). */
  events(query: EventQuery): LoggedEvent[]
  session(id: string): Session | null
  sessionByKey(key: string): Session | null
  /** The one that was active last, if several go on with the same conversation. */
  sessionByNativeId(nativeId: string): Session | null
  /** The session that has had it last, also one that is gone. */
  conversation(agent: string, id: string): string | null
  sessions(query: SessionQuery): Session[]
  /** Sessions for which something falls due by itself. */
  due(): { sessionId: string; at: number }[]
  recentPaths(limit: number): RecentPath[]
  directories(): Directory[]
  /** What people call this daemon; null: nobody has said. */
  daemonName(): string | null
  /** The models that an agent has told of last; empty: it never has. */
  models(agent: string): AgentModel[]
  /** What an agent has told last about its account. */
  limits(agent: string): KnownLimits | null
  project(id: string): Project | null
  /** In the order in which they were made. */
  projects(): Project[]
  device(id: string): Device | null
  /** In the order in which they were let in. */
  devices(): Device[]
  /** By the SHA-256 of its token, in hex. */
  deviceByToken(tokenHash: string): Device | null
  deviceTokenHash(id: string): string | null
  /** What was said that has all of these in it: by relevance, then the newest first. */
  search(query: SearchQuery): LoggedEvent[]
  /** When a session was last active in this directory or below. */
  activeBelow(path: string): number | null
  /** Sessions that need looking after at start: a process, a running turn, a queue. */
  unfinished(): Session[]
  countSessions(): Record<Exclude<SessionStatus, 'destroyed'>, number>
  turn(id: string): Turn | null
  turnByKey(sessionId: string, key: string): Turn | null
  turns(sessionId: string, limit: number, moment?: Moment): Turn[]
  /** The one that ended last comes first. */
  usage(query: UsageQuery): TurnUsage[]
  approval(id: string): ApprovalRow | null
  approvals(query: ApprovalQuery): ApprovalRow[]
  /** The one that was decided last comes first. */
  decided(query: DecidedQuery): DecidedApproval[]
  countApprovals(): number
  run(id: string): RunRow | null
  runs(): RunRow[]
  bookmarks(owner: string, sessionId: string): Bookmark[]
  /** The newest first. */
  checkpoints(sessionId: string): Checkpoint[]
  /** Sessions that were destroyed and still have checkpoints. */
  checkpointsLeft(): string[]
  comment(id: string): Comment | null
  /** In the order in which they were made: those that were not sent, and at most `limit` of the others, the last sent. */
  comments(sessionId: string, limit: number): Comment[]
  /** In the order of their names. */
  machines(): Machine[]
  /** The `seq` here of an event that was copied, or of the last one before it; 0: there is none. */
  copyOf(machine: string, ownerSeq: number): number
  /** The other way round. */
  ownerSeqOf(machine: string, seq: number): number
  /** Sessions that were copied from a machine, also those that are gone there. */
  copiedFrom(machine: string): Session[]
  /** The ids of those that were not copied and are not gone. */
  ownSessions(): string[]
  /** How many of them are not gone. */
  countCopied(machine: string): number
  /** Called when a commit failed, before anybody hears of it: what is not committed has not happened. */
  onRollback: (() => void) | null
  /** Removes what is too old; returns how many events went, at most `limit`. */
  retain(request: Retention): Promise<number>
  close(clean: boolean): Promise<void>
}

/** Something to tell an agent. */
export type Intent =
  | { kind: 'prompt'; turnId: string; input: Content[] }
  | { kind: 'steer'; steer: Steer }
  /** A steer that the agent has read and not taken is not wanted any more. */
  | { kind: 'retract'; steerId: string }
  | { kind: 'decision'; approval: Approval; decision: Decision }
  /** `call.result` is there. */
  | { kind: 'result'; call: HeldCall }
  | { kind: 'mode'; mode: Mode }
  | { kind: 'model'; model: string | null }
  | { kind: 'effort'; effort: Effort | null }

/** What can be told at any time. */
export type Telling = Extract<Intent, { kind: 'decision' | 'result' | 'mode' | 'model' | 'effort' }>

export interface ExitInfo {
  code: number | null
  signal: string | null
  stderr: string
  expected: boolean
  /** There was no room for what it said. */
  diskFull?: boolean
}

/** What the host tells the engine. Every call may throw when the log cannot be written; the host then tries again later. */
export interface AgentSink {
  started(sessionId: string, run: RunRow, resumed: boolean): Promise<void>
  output(sessionId: string, position: JournalPosition, outputs: AgentOutput[]): Promise<void>
  exited(sessionId: string, runId: string, exit: ExitInfo): Promise<void>
  /** A process could not be started at all. */
  failedToStart(sessionId: string, turnId: string, error: Failure): Promise<void>
  /** The turn was interrupted before its message was written. */
  abandoned(sessionId: string, turnId: string): Promise<void>
}

/** Runs agents as processes. One process per session at the most. */
export interface AgentHost {
  /** Brings a user message to the session's agent, starting it if need be. `inDoubt`: it may have been written already. */
  prompt(sessionId: string, turnId: string, input: Content[], inDoubt: boolean): void
  /** Brings a steer to the agent of the running turn. `inDoubt`: it may have been written already. */
  steer(sessionId: string, steerId: string, inDoubt: boolean): void
  /** Before anything else that it is told: this message is not to run. */
  retract(sessionId: string, steerId: string): void
  /** Tells a running agent something; resolves when it is written, false when no process is there to be told. */
  tell(sessionId: string, intent: Telling): Promise<boolean>
  /** Orderly at first, then by signals on timers, until the turn or the process is over. */
  interrupt(sessionId: string): void
  pause(sessionId: string): void
  resume(sessionId: string): void
  /** Ends the session's process, if any; resolves when it is gone. */
  end(sessionId: string): Promise<void>
  /** Asks an agent for its models; null: it is not there, or has no account. Fails when it does not tell. */
  models(agent: string): Promise<AgentModel[] | null>
  /** Takes up processes that an earlier daemon left; resolves with the sessions whose process is alive. */
  attach(runs: RunRow[], sessions: Map<string, Session>): Promise<Set<string>>
}

/** Processes that wait for sessions. */
export interface SpareCounts {
  idle: number
  starting: number
}

export interface AgentCatalog {
  names(): string[]
  /** What people call it. */
  title(name: string): string
  /** Throws `agent_unknown`. */
  capabilities(name: string): Capabilities
  /** Looks whether it is installed; throws `agent_unknown` or `agent_missing`. */
  require(name: string): Promise<void>
}

export interface Clock {
  now(): number
}
