import type { Approval, Decision } from './approval.ts'
import type { CallResult } from './call.ts'
import type { Comment } from './comment.ts'
import type { Content } from './content.ts'
import type { Effort } from './effort.ts'
import type { Marks } from './marks.ts'
import type { Hunk } from './file-change.ts'
import type { Mode } from './mode.ts'
import type { Rules } from './rule.ts'
import type { Notes } from './session.ts'
import type { SessionSettings } from './settings.ts'

export interface CreateSession {
  agent: string
  cwd: string
  mode?: Mode
  model?: string | null
  effort?: Effort | null
  title?: string | null
  settings?: SessionSettings
  /** Continue this conversation of the agent's own. */
  nativeId?: string | null
  rules?: Rules
  /** The session that it goes on from, where the agent itself cannot branch. */
  parentId?: string | null
  /** Its id, when the caller had to know it before. */
  id?: string
  /** The same key twice is one session. */
  key?: string
  origin?: string
  /** Its directory is a worktree that was made from this checkout. */
  worktreeOf?: string
}

/** A directory that is made for a session: once it is certain that the session is new, and unmade if nothing comes of it. */
export interface PlaceMaker {
  make(): Promise<{ id: string; cwd: string; worktreeOf: string }>
  unmake(id: string): Promise<void>
}

/**
 * What becomes of a message to a session that is busy: it waits; it is refused (`conversation_busy`); it is brought to the turn
 * that runs, and waits where none does; or the turn that runs is stopped for it, and it is the next one.
 */
export const WHEN_BUSY = ['queue', 'refuse', 'steer', 'interrupt'] as const
export type WhenBusy = (typeof WHEN_BUSY)[number]

export interface SendMessage {
  sessionId: string
  input: Content[]
  /** `queue` if not given. */
  busy?: WhenBusy
  /** The same key twice is one message. */
  key?: string
  origin?: string
  /** Keep a bookmark of this owner at the start of the turn, in the same commit as the message. */
  bookmark?: string
  /** Comments that it tells the agent: they are sent in the same commit. */
  comments?: readonly string[]
}

/** A message to the turn that runs, not a turn of its own. */
export interface SteerTurn {
  sessionId: string
  input: Content[]
  /** The same key twice is one message. */
  key?: string
  origin?: string
}

/** Another text for a message that waits. */
export interface EditTurn {
  sessionId: string
  turnId: string
  input: Content[]
}

export interface Interrupt {
  sessionId: string
  /** Only this one, out of the queue if it has not begun: whatever has begun meanwhile goes on. */
  turnId?: string
  /** Also drop what waits in the queue. */
  clearQueue?: boolean
  /** The daemon itself wants it, and no client. */
  reason?: 'stopping'
}

/** The same key twice is one wish. */
export interface CompactSession extends Pick<SendMessage, 'sessionId' | 'key' | 'origin'> {
  busy?: Exclude<WhenBusy, 'steer'>
}

export interface ConfigureSession {
  sessionId: string
  mode?: Mode
  /** In place of a mode: read only from now on, or as it was before it was last read only. */
  plan?: boolean
  model?: string | null
  effort?: Effort | null
  title?: string | null
  /** What is given replaces what was; the rest stays. */
  rules?: Partial<Rules>
  archived?: boolean
  /** What a dialect has to remember; keys that are given replace what was. */
  notes?: Notes
  /** Go on with this conversation of the agent's own; null starts a fresh one. */
  nativeId?: string | null
}

/** What is not given stays as it is. */
export interface MarkSession extends Partial<Marks> {
  sessionId: string
}

/** With a revision that is not the current one it is refused (`conflict`), unless the text is the same. */
export interface DraftMessage {
  sessionId: string
  /** Empty: there is none any more. */
  text: string
  revision?: number
}

/** What is not given is as in the session that it branches off. */
export interface ForkSession {
  sessionId: string
  /** After this turn of its, or of one that it branched off itself; as it is now if not given. */
  turnId?: string
  title?: string | null
  model?: string | null
  effort?: Effort | null
  settings?: SessionSettings
  id?: string
  key?: string
  origin?: string
}

export interface AddComment extends Pick<Comment, 'sessionId' | 'path' | 'side' | 'line' | 'text'> {
  /** `line` if not given. */
  endLine?: number
  /** What the line was shown in. */
  hunk: Hunk
}

export interface SendReview extends Pick<SendMessage, 'sessionId' | 'origin'> {
  /** All that were not sent, if not given. */
  commentIds?: readonly string[]
  /** What is said before them. */
  note?: string
  busy?: Extract<WhenBusy, 'queue' | 'steer'>
}

export interface DecideApproval {
  approvalId: string
  decision: Exclude<Decision, { behavior: 'cancelled' }>
  /** Who decided, for the log: a dialect, a device, a rule. */
  by: string
  /** The name of the device that it came from, if it was one. */
  device?: string
}

/** The result of a tool that the session's client has carried out. */
export interface AnswerCall {
  sessionId: string
  callId: string
  result: CallResult
}

/** A question that comes from outside and not from an agent's process. */
export interface AskHuman {
  sessionId: string
  kind: Approval['kind']
  tool: string
  input: unknown
  edits?: boolean
  fixed?: boolean
  callId?: string | null
  summary?: string | null
  /** How long it waits; null for ever; as the session says if not given. */
  timeoutMs?: number | null
  /** The same id twice is one question. */
  id?: string
}

/** What became of a message at the moment it was committed. */
export interface Sent {
  turnId: string
  /** 0: running now, or brought to the turn that runs; n: the n-th in the queue. */
  position: number
  /** `seq` of its `turn.queued` or `turn.steered` event: read the turn from just before here. */
  seq: number
  /** The key was known: nothing new happened. */
  repeated: boolean
  /** The turn that it was brought to; if that ends without it, it becomes a turn of its own, `turnId`. */
  steered?: string
}

export interface Steered {
  /** Also the id of the turn that it becomes if the running one ends without it. */
  steerId: string
  /** The turn that was running. */
  turnId: string
  /** `seq` of its `turn.steered` event. */
  seq: number
  /** The key was known: nothing new happened. */
  repeated: boolean
}
