import type {
  AddComment,
  AnswerCall,
  AskHuman,
  CompactSession,
  ConfigureSession,
  CreateSession,
  PlaceMaker,
  DecideApproval,
  DraftMessage,
  EditTurn,
  ForkSession,
  Interrupt,
  MarkSession,
  SendMessage,
  SendReview,
  Sent,
  Steered,
  SteerTurn,
} from './command.ts'
import type { AdoptConversation, Adopted, ConversationQuery, Conversations } from './adopting.ts'
import type { ApprovalContext } from './approval-context.ts'
import type { DecisionPage, DecisionQuery } from './decisions.ts'
import type { Conflict, Diff } from './checkpoint.ts'
import type { Comment } from './comment.ts'
import type { AddDevice, Device } from './devices.ts'
import type { ExportPage, ExportRequest } from './export/export.ts'
import type { Conversation } from './conversation/conversation.ts'
import type { AgentModel, Event, EventType, LoggedEvent } from './event.ts'
import type { FileChange } from './file-change.ts'
import type { KnownLimits } from './limits.ts'
import type { ConversationPart } from './lineage.ts'
import type { LogCursor, Machine } from './machine.ts'
import type {
  ApprovalQuery,
  ApprovalRow,
  Bookmark,
  EventQuery,
  Directory,
  Moment,
  RecentPath,
  SessionQuery,
} from './ports.ts'
import type { CreateProject, Project, ProjectView, UpdateProject } from './projects.ts'
import type { Rules } from './rule.ts'
import type { SearchRequest, SearchResult } from './search/search.ts'
import type { Session } from './session.ts'
import type { SubAgent } from './subagents.ts'
import type { Turn } from './turn.ts'
import type { DraftText } from './unsent.ts'
import type { Series, SeriesQuery } from './usage-series.ts'

/**
 * The one door to everything, by nouns: a dialect is handed the ones that it needs. Commands resolve after their commit and throw
 * `CorralError`; reads are of committed state and cheap enough to be synchronous.
 */
export interface Engine {
  readonly sessions: Sessions
  readonly turns: Turns
  readonly unsent: Unsent
  readonly approvals: Approvals
  readonly directories: DirectoryRules
  readonly checkpoints: Checkpoints
  readonly reviews: Reviews
  readonly projects: Projects
  readonly devices: Devices
  readonly events: Events
  readonly bookmarks: Bookmarks
  readonly agents: Agents
  readonly daemon: DaemonName
  readonly copies: Copies
  /** What users said and agents answered, by words; never fails for what was typed. */
  search(query: SearchRequest): SearchResult
}

export interface Sessions {
  create(command: CreateSession, place?: PlaceMaker): Promise<Session>
  fork(command: ForkSession): Promise<Session>
  /** Goes on with a conversation that began without Corral, with what was said in it. */
  adopt(command: AdoptConversation): Promise<Adopted>
  configure(command: ConfigureSession): Promise<Session>
  /** Notes what people think of it; agents are told nothing. */
  mark(command: MarkSession): Promise<Session>
  pause(sessionId: string): Promise<Session>
  resume(sessionId: string): Promise<Session>
  /** Resolves when the process is gone too. */
  destroy(sessionId: string): Promise<void>
  /** Throws `session_not_found`, also for destroyed ones. */
  get(id: string): Session
  list(query: SessionQuery): Session[]
  count(): Record<'idle' | 'running' | 'waiting' | 'paused', number>
  /** The session that goes on with this conversation of an agent's own; null when none does. */
  byNativeId(nativeId: string): Session | null
  /** The sessions that it branched off, the nearest first: destroyed ones too, as long as one that needs them is there. */
  ancestors(sessionId: string): Session[]
  /** What a session's conversation is made of: parts of those that it branched off, the oldest first, and the session itself. */
  lineage(sessionId: string): ConversationPart[]
  /** Directories that sessions have worked in, the last used first. */
  recentPaths(limit: number): RecentPath[]
  /** What was under way in a session after an event, for a reader that goes on from there. */
  conversationAt(sessionId: string, moment: Moment): Conversation
  /** What was under way when this event came. */
  conversationBefore(event: Pick<Event, 'sessionId' | 'seq'>): Conversation
  /** A session as a document, a page at a time. */
  exportPage(request: ExportRequest): ExportPage
}

export interface Turns {
  send(command: SendMessage): Promise<Sent>
  /** Brings a message to the turn that runs; it becomes the next turn if that one ends without having taken it. */
  steer(command: SteerTurn): Promise<Steered>
  /** Has the agent sum up its conversation: a turn like any other, which says `agent.compacted` before it ends. */
  compact(command: CompactSession): Promise<Sent>
  /** Stops the running turn; resolves when that is committed, not when the agent has stopped. */
  interrupt(command: Interrupt): Promise<{ interrupted: boolean; cancelled: string[] }>
  /** Takes a message out of the queue. */
  cancel(sessionId: string, turnId: string): Promise<void>
  /** Moves a message within the queue; 1 is the next to run. Resolves with the queue as it is then. */
  move(sessionId: string, turnId: string, position: number): Promise<string[]>
  /** Changes what a message says that waits in the queue; `turn_not_found` when it does not. */
  edit(command: EditTurn): Promise<Turn>
  /** Makes a message that waits a steer of the turn that runs, once: the same again is the same steer. */
  steerQueued(sessionId: string, turnId: string): Promise<Steered>
  /** Brings the result of a call that the agent waits on. */
  answerCall(command: AnswerCall): Promise<void>
  get(id: string): Turn
  /** The newest first. */
  list(sessionId: string, limit: number, moment?: Moment): Turn[]
  /** The sub-agents of a session, or of one of its turns; each after the one that runs it. */
  subAgents(sessionId: string, turnId?: string): Promise<SubAgent[]>
  /** What turns have used, over time. */
  usage(query: SeriesQuery): Promise<Series>
}

/** What somebody types in a session and has not sent: one text for each session, the same on every screen. */
export interface Unsent {
  /** Throws `conflict`, with what is there now, when it is based on another revision. */
  set(command: DraftMessage): Promise<{ revision: number; updatedAt: number }>
  get(sessionId: string): DraftText
}

export interface Approvals {
  decide(command: DecideApproval): Promise<ApprovalRow>
  /** A question from outside. Mode and rules may have answered it when this resolves. */
  ask(command: AskHuman): Promise<ApprovalRow>
  /** Whoever asked has given up; what was decided before stays. */
  withdraw(approvalId: string, by: string): Promise<ApprovalRow>
  /** "Not now": it waits on, put off until then; null takes that back. */
  defer(approvalId: string, until: number | null): Promise<ApprovalRow>
  /** What was decided, the newest first, a page at a time. */
  history(query: DecisionQuery): DecisionPage
  /** What a human wants to know before deciding. */
  context(id: string): ApprovalContext
  get(id: string): ApprovalRow
  list(query: ApprovalQuery): ApprovalRow[]
  /** How many wait for an answer. */
  count(): number
}

/** Rules for every session that works in a directory or below. */
export interface DirectoryRules {
  /** What is given replaces what was. */
  configure(path: string, rules: Partial<Rules>): Promise<Directory>
  list(): Directory[]
}

/** A state of the files that one can go back to. */
export interface CheckpointView {
  /** The turn that it was taken before; of an `undo`, an id of its own. */
  turnId: string
  kind: 'turn' | 'undo'
  at: number
  ref: string
  tree: string
  /** How many files the turn has changed, where that is known. */
  files: number | null
  /** Files that are not in it. */
  left: string[]
}

export interface RestorePreview {
  /** What restoring would do. */
  files: FileChange[]
  truncated: boolean
  conflicts: Conflict[]
  canRestore: boolean
  /** Why it cannot, or what to know before. */
  reason: string | null
}

export interface ChangesRequest {
  sessionId: string
  scope: 'turn' | 'session' | 'branch' | 'uncommitted'
  /** The last one if not given. */
  turnId?: string
  path?: string
  /** Which files, and how much of them, but none of their lines. */
  brief?: boolean
}

export interface Changes extends Diff {
  scope: ChangesRequest['scope']
  turnId: string | null
}

/** States of the files that sessions work on, and what has changed since. */
export interface Checkpoints {
  /** The newest first; `reason`: why there are none. */
  list(sessionId: string): Promise<{ checkpoints: CheckpointView[]; reason: string | null }>
  preview(sessionId: string, id: string): Promise<RestorePreview>
  /** `undo` is a checkpoint of what there was before. Throws `unsaved_work` and `conversation_busy`. */
  restore(command: {
    sessionId: string
    id: string
    force?: boolean
  }): Promise<{ restored: number; undo: { turnId: string } }>
  changes(request: ChangesRequest): Promise<Changes>
}

export interface CommentView extends Comment {
  /** The lines that it speaks about are not there any more. */
  stale: boolean
}

/** Comments on changes, collected and sent as one message. */
export interface Reviews {
  add(command: AddComment): Promise<CommentView>
  update(id: string, text: string): Promise<CommentView>
  remove(id: string): Promise<void>
  list(sessionId: string): Promise<CommentView[]>
  send(command: SendReview): Promise<Sent & { comments: string[] }>
}

export interface Projects {
  create(command: CreateProject): Promise<ProjectView>
  update(command: UpdateProject): Promise<ProjectView>
  /** Repositories stay where they are. */
  remove(projectId: string): Promise<void>
  addRepo(projectId: string, path: string): Promise<ProjectView>
  removeRepo(projectId: string, path: string): Promise<ProjectView>
  get(projectId: string): ProjectView
  /** In the order in which they were made. */
  list(): ProjectView[]
  /** The one that a directory belongs to: the nearest, if it lies in several. */
  at(path: string): Project | null
}

/** For `access/`, which knows who may; the token's hash is in no event. */
export interface Devices {
  add(command: AddDevice): Promise<Device>
  rename(deviceId: string, name: string): Promise<Device>
  /** Its token is worth nothing from now on. */
  revoke(deviceId: string): Promise<void>
  /** Writes down that it is there, now and then. */
  seen(deviceId: string): Promise<void>
  get(deviceId: string): Device
  /** In the order in which they were let in. */
  list(): Device[]
  /** By the SHA-256 of its token, in hex. */
  byToken(tokenHash: string): Device | null
  /** Null: there is no such device. */
  tokenHash(deviceId: string): string | null
}

export interface Events {
  /** Identity and range of the log: a cursor is `logId` + `seq`. */
  readonly logId: string
  readonly head: number
  readonly oldest: number
  read(query: EventQuery): LoggedEvent[]
  /**
   * Events after a cursor, first from the log, then live, without a gap or a repeat. `deliver` gets batches in order; when
   * it returns false the subscription leaves the live feed until `resume()` is called, and then catches up from the log.
   */
  subscribe(
    options: SubscribeOptions,
    deliver: (events: LoggedEvent[]) => boolean | void,
    /** The log could not be read, or `deliver` threw: nothing more comes. */
    failed?: (error: unknown) => void,
  ): Subscription
}

/** How far a client has certainly read a turn. */
export interface Bookmarks {
  list(owner: string, sessionId: string): Bookmark[]
  set(bookmark: Bookmark): Promise<void>
  remove(owner: string, turnId: string): Promise<void>
}

export interface Agents {
  /** The models that an agent has told of last. One that never has is asked, which takes a moment; empty: it does not say. */
  models(agent: string): Promise<AgentModel[]>
  /** What an agent has told last about its account, without windows that have begun anew since; null: nothing. */
  limits(agent: string): KnownLimits | null
  /** The conversations in the stores of agents; without those that Corral has, unless asked. */
  conversations(query: ConversationQuery): Promise<Conversations>
}

/** What has happened on other machines, copied into this log: read like everything else, and decided there. */
export interface Copies {
  /** The machines that are copied from. */
  machines(): Machine[]
  addMachine(machine: Pick<Machine, 'name' | 'target'>): Promise<void>
  /** What was copied from it is destroyed here; on the machine itself nothing changes. */
  removeMachine(name: string): Promise<void>
  /** Writes down what has happened on a machine, in order, with how far its log has been read: in one commit. */
  add(copy: CopiedEvents): Promise<void>
  /** Forgets all that was copied from a machine, to begin anew. */
  reset(machine: string): Promise<void>
  /** How far this log is, without what was copied. */
  ownHead(): number
  /** The ids of the sessions that run here. */
  ownSessions(): string[]
  /** One of them; null: it is gone, or runs elsewhere. */
  own(sessionId: string): Session | null
  /** Whether a session is in this log, wherever it runs. */
  has(sessionId: string): boolean
  /** Where a session runs; null: here, or there is no such session. */
  machineOf(sessionId: string): string | null
  /** How many sessions there are of a machine. */
  count(machine: string): number
  /** The `seq` here of an event there, or of the last one before it. */
  seqOf(machine: string, ownerSeq: number): number
  /** The number that an event here has there, or the last one before it. */
  ownerSeqOf(machine: string, seq: number): number
}

export interface CopiedEvents {
  machine: string
  /** The machine's own log, and how far this brings us in it. */
  cursor: LogCursor
  /** As they are in that log. */
  events: readonly Event[]
}

export interface DaemonName {
  /** What people call this daemon; null: nobody has said. */
  readonly name: string | null
  setName(name: string): Promise<void>
}

export interface SubscribeOptions {
  after: number
  sessionId?: string
  types?: readonly EventType[]
  /** Without what was copied from other machines. */
  own?: boolean
}

export interface Subscription {
  /** The last `seq` that was looked at, delivered or not of interest. */
  readonly cursor: number
  resume(): void
  close(): void
}
