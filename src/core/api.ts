import type {
  AnswerCall,
  AskHuman,
  CompactSession,
  ConfigureSession,
  CreateSession,
  DecideApproval,
  ForkSession,
  Interrupt,
  SendMessage,
  Sent,
  Steered,
  SteerTurn,
} from './command.ts'
import type { AddDevice, Device } from './devices.ts'
import type { ExportPage, ExportRequest } from './export/export.ts'
import type { AgentModel, EventType, LoggedEvent } from './event.ts'
import type { KnownLimits } from './limits.ts'
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
import type { CreateProject, ProjectView, UpdateProject } from './projects.ts'
import type { Rules } from './rule.ts'
import type { SearchRequest, SearchResult } from './search/search.ts'
import type { Session } from './session.ts'
import type { Turn } from './turn.ts'

/**
 * The one door to everything: dialects call this and nothing else. Commands resolve after their commit and throw
 * `CorralError`; reads are of committed state and cheap enough to be synchronous.
 */
export interface Engine {
  /** Identity and range of the log: a cursor is `logId` + `seq`. */
  readonly logId: string
  readonly head: number
  readonly oldest: number

  create(command: CreateSession): Promise<Session>
  send(command: SendMessage): Promise<Sent>
  /** Brings a message to the turn that runs; it becomes the next turn if that one ends without having taken it. */
  steer(command: SteerTurn): Promise<Steered>
  /** Has the agent sum up its conversation: a turn like any other, which says `agent.compacted` before it ends. */
  compact(command: CompactSession): Promise<Sent>
  /** Stops the running turn; resolves when that is committed, not when the agent has stopped. */
  interrupt(command: Interrupt): Promise<{ interrupted: boolean; cancelled: string[] }>
  /** Takes a message out of the queue. */
  cancelTurn(sessionId: string, turnId: string): Promise<void>
  /** Moves a message within the queue; 1 is the next to run. Resolves with the queue as it is then. */
  moveTurn(sessionId: string, turnId: string, position: number): Promise<string[]>
  pause(sessionId: string): Promise<Session>
  resume(sessionId: string): Promise<Session>
  configure(command: ConfigureSession): Promise<Session>
  fork(command: ForkSession): Promise<Session>
  /** Resolves when the process is gone too. */
  destroy(sessionId: string): Promise<void>
  decide(command: DecideApproval): Promise<ApprovalRow>
  /** A question from outside. Mode and rules may have answered it when this resolves. */
  ask(command: AskHuman): Promise<ApprovalRow>
  /** Whoever asked has given up; what was decided before stays. */
  withdraw(approvalId: string, by: string): Promise<ApprovalRow>
  /** Brings the result of a call that the agent waits on. */
  answerCall(command: AnswerCall): Promise<void>
  /** Rules for every session that works in this directory or below; what is given replaces what was. */
  configureDirectory(path: string, rules: Partial<Rules>): Promise<Directory>
  directories(): Directory[]

  /** What people call this daemon; null: nobody has said. */
  readonly name: string | null
  setName(name: string): Promise<void>

  createProject(command: CreateProject): Promise<ProjectView>
  updateProject(command: UpdateProject): Promise<ProjectView>
  /** Repositories stay where they are. */
  deleteProject(projectId: string): Promise<void>
  addRepo(projectId: string, path: string): Promise<ProjectView>
  removeRepo(projectId: string, path: string): Promise<ProjectView>
  project(projectId: string): ProjectView
  /** In the order in which they were made. */
  projects(): ProjectView[]

  /** For `access/`, which knows who may; the token's hash is in no event. */
  addDevice(command: AddDevice): Promise<Device>
  renameDevice(deviceId: string, name: string): Promise<Device>
  /** Its token is worth nothing from now on. */
  revokeDevice(deviceId: string): Promise<void>
  /** Writes down that it is there, now and then. */
  deviceSeen(deviceId: string): Promise<void>
  device(deviceId: string): Device
  /** In the order in which they were let in. */
  devices(): Device[]
  /** By the SHA-256 of its token, in hex. */
  deviceByToken(tokenHash: string): Device | null

  /** Throws `session_not_found`, also for destroyed ones. */
  session(id: string): Session
  /** The session that goes on with this conversation of an agent's own; null when none does. */
  sessionByNativeId(nativeId: string): Session | null
  sessions(query: SessionQuery): Session[]
  /** The sessions that it branched off, the nearest first: destroyed ones too, as long as one that needs them is there. */
  ancestors(sessionId: string): Session[]
  /** Directories that sessions have worked in, the last used first. */
  recentPaths(limit: number): RecentPath[]
  countSessions(): Record<'idle' | 'running' | 'waiting' | 'paused', number>
  turn(id: string): Turn
  /** The newest first. */
  turns(sessionId: string, limit: number, moment?: Moment): Turn[]
  approval(id: string): ApprovalRow
  approvals(query: ApprovalQuery): ApprovalRow[]
  /** How many wait for an answer. */
  countApprovals(): number
  events(query: EventQuery): LoggedEvent[]
  /** What an agent has told last about its account, without windows that have begun anew since; null: nothing. */
  limits(agent: string): KnownLimits | null

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

  /** What users said and agents answered, by words; never fails for what was typed. */
  search(query: SearchRequest): SearchResult

  /** A session as a document, a page at a time. */
  exportPage(request: ExportRequest): ExportPage

  /** The models that an agent has told of last. One that never has is asked, which takes a moment; empty: it does not say. */
  models(agent: string): Promise<AgentModel[]>
  bookmarks(owner: string, sessionId: string): Bookmark[]
  setBookmark(bookmark: Bookmark): Promise<void>
  deleteBookmark(owner: string, turnId: string): Promise<void>
}

export interface SubscribeOptions {
  after: number
  sessionId?: string
  types?: readonly EventType[]
}

export interface Subscription {
  /** The last `seq` that was looked at, delivered or not of interest. */
  readonly cursor: number
  resume(): void
  close(): void
}
