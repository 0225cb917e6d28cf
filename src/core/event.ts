import type { Approval, Asking, Decision, ApprovalRequest } from './approval.ts'
import type { CallRequest, CallResult } from './call.ts'
import type { CheckpointKind } from './checkpoint.ts'
import type { Comment } from './comment.ts'
import type { Content, Picture } from './content.ts'
import type { DeviceEvent } from './devices.ts'
import type { Effort } from './effort.ts'
import type { AgentLimits } from './limits.ts'
import type { Marks } from './marks.ts'
import type { Mode } from './mode.ts'
import type { ProjectEvent } from './projects.ts'
import type { Rules } from './rule.ts'
import type { Notes, SessionStatus } from './session.ts'
import type { SessionSettings } from './settings.ts'
import type { Failure, Outcome } from './turn.ts'
import type { Usage } from './usage.ts'

/** Which process an agent runs as. Identity is pid + start time + boot id: pids are used again. */
export interface RunInfo {
  id: string
  pid: number
  startTime: string
  bootId: string
}

/** A model that an agent offers; of what is not there the agent says nothing. */
export interface AgentModel {
  id: string
  name: string
  description?: string
  /** In rising order. */
  efforts?: Effort[]
  defaultEffort?: Effort
  /** In tokens. */
  contextWindow?: number
}

/** One line of an agent's plan or to-do list. */
export interface PlanEntry {
  text: string
  state: 'pending' | 'active' | 'done'
}

/** A command of an agent's own, which it understands at the beginning of a message. */
export interface AgentCommand {
  /** Without the slash. */
  name: string
  /** What it does, where the agent tells. */
  about: string | null
}

/** Where a conversation of an agent's own can be branched off: after a message of its, by its own names. */
export interface BranchPoint {
  nativeId: string
  message: string
}

/** A turn of the session that this one branched off, and the `seq` of its end: what came later is not part of it. */
export interface Branch {
  turnId: string
  seq: number
}

/** Facts that an agent's output tells; a translator makes these. */
export type AgentFact =
  | {
      type: 'agent.init'
      nativeId: string | null
      model: string | null
      version: string | null
      /** The agent's own line, for clients that want all of it. */
      raw: unknown
    }
  /** It uses this model from here on, whatever was chosen: it was told to, or it had to fall back on another. */
  | { type: 'agent.model'; model: string }
  /** The agent has the user's message. */
  | { type: 'turn.accepted'; turnId: string }
  /** A streamed piece; leaves the log when its message is complete. */
  | {
      type: 'message.delta'
      messageId: string
      kind: 'text' | 'thinking'
      text: string
      parent: string | null
    }
  | {
      type: 'message.completed'
      messageId: string
      kind: 'text' | 'thinking'
      text: string
      parent: string | null
      /** Cut off by an interrupt or a crash. */
      aborted: boolean
      pastAt?: number
    }
  | { type: 'tool.started'; callId: string; tool: string; input: unknown; parent: string | null }
  | {
      type: 'tool.completed'
      callId: string
      output: string
      isError: boolean
      parent: string | null
      /** Bytes that were cut from `output`, 0 when it is whole. */
      cut: number
      /** Images of the result, as many as the log keeps of one. */
      images?: readonly Picture[]
      /** What the sub-agent that it ran has used, where the agent tells. */
      usage?: Usage
    }
  /** The agent sums up its conversation to make room. Numbers are its own, where it tells them. */
  | { type: 'agent.compacting'; tokens: number | null; window: number | null }
  /** It has, or it could not and `error` says why. */
  | {
      type: 'agent.compacted'
      tokensBefore: number | null
      tokensAfter: number | null
      window: number | null
      error: string | null
    }
  /** How many tokens the conversation takes now, of how many; null: the agent has not said. */
  | { type: 'agent.context'; used: number | null; window: number | null }
  /** The agent's plan or to-do list, whole, as it is now. */
  | { type: 'agent.plan'; entries: PlanEntry[] }
  /** The commands that the agent has of its own, all of them, as they are now. */
  | { type: 'agent.commands'; commands: AgentCommand[] }
  /** Retries, warnings: worth showing, changes nothing. */
  | { type: 'agent.notice'; level: 'info' | 'warning'; code: string; message: string; data: unknown }
  /** A line that no translator knows, kept as it came. */
  | { type: 'agent.other'; kind: string; raw: unknown }

/** What agents say that the engine makes events of, in the light of what their session is doing. */
export type AgentSignal =
  /** The agent works on a message of ours and does not say on which: the turn that runs is accepted. */
  | { type: 'turn.begun' }
  | { type: 'approval.asked'; approval: ApprovalRequest }
  | { type: 'approval.withdrawn'; requestId: string }
  /** It calls a tool of its client's, and waits. */
  | ({ type: 'call.asked' } & CallRequest)
  | {
      type: 'turn.ended'
      /** Which turn, where the agent says; else it is the one that runs. */
      turnId?: string
      outcome: 'completed' | 'failed' | 'interrupted'
      usage: Usage
      error: Failure | null
      text: string | null
      /** The last message of it, where the agent can branch off there later. */
      branch?: string
    }
  /** What is left of its account has changed noticeably. */
  | { type: 'limits.told'; limits: AgentLimits }
  /** The agent changed its own mode (a plan was agreed to, say); null: to one that Corral has nothing like. */
  | { type: 'mode.observed'; mode: Mode | null }
  /** A steer is part of the running turn from here on. */
  | { type: 'steer.taken'; steerId: string }
  /** The models that it offers. */
  | { type: 'models.told'; models: AgentModel[] }
  /** What the agent calls its conversation. */
  | { type: 'title.told'; title: string }

/** What a host tells the engine of an agent. */
export type AgentOutput = AgentFact | AgentSignal

export interface SessionPatch {
  mode?: Mode
  model?: string | null
  effort?: Effort | null
  title?: string | null
  /** What the agent calls it. */
  toldTitle?: string
  nativeId?: string | null
  paused?: boolean
  /** The mode to go back to when a plan has been agreed to. */
  modeBeforePlan?: Mode | null
  rules?: Rules
  archived?: boolean
  notes?: Notes
  /** The conversation could not be branched off: the agent is told what was said instead. */
  forkFrom?: null
  forkAt?: null
  recap?: boolean
}

/** What belongs to no session. */
export type DaemonEvent =
  | { type: 'daemon.renamed'; name: string }
  /** The rules that hold in this directory and below, from here on. */
  | { type: 'directory.changed'; path: string; rules: Rules }
  | ProjectEvent
  | DeviceEvent

export type EventBody =
  | AgentFact
  | {
      type: 'session.created'
      agent: string
      cwd: string
      mode: Mode
      model: string | null
      /** Not there in older logs. */
      effort?: Effort | null
      title: string | null
      settings: SessionSettings
      nativeId: string | null
      /** The session this one was forked from, and its native conversation then. */
      parentId: string | null
      forkFrom: string | null
      /** After which of its messages; not there: as it is when the first process starts. */
      forkAt?: string
      /** The turn after which it branched off; not there: it went on from where the other one was. */
      branch?: Branch
      /** The agent cannot branch off there: it is told what was said up to there, with the first message. */
      recap?: true
      origin: string | null
      rules: Rules
      /** It works in a worktree that was made from this checkout. Not there in older logs. */
      worktreeOf?: string
    }
  /** `reason`: it was not asked for; time has run out, or the agent has done it by itself and need not be told. */
  | ({ type: 'session.changed'; reason?: 'expired' | 'agent' } & SessionPatch)
  /** Derived from the rest, published exactly once per change; with how the last turn that is over ended. */
  | { type: 'session.status'; status: SessionStatus; previous: SessionStatus; outcome: Outcome | null }
  /** What people have noted about it: what has changed of that. */
  | ({ type: 'session.marked' } & Partial<Marks>)
  /** What somebody types and has not sent. The one before it has left the log. */
  | { type: 'session.drafted'; text: string; revision: number }
  | { type: 'session.destroyed' }
  | {
      type: 'turn.queued'
      turnId: string
      input: Content[]
      key: string | null
      origin: string | null
      /** 0: starts at once; n: the n-th in the queue. */
      position: number
      /** A steer that its turn ended without: it goes before all that wait, and keeps its id. */
      late?: true
      pastAt?: number
    }
  /** With what it runs: the model as far as it is known. Not there in older logs. */
  | {
      type: 'turn.started'
      turnId: string
      agent?: string
      mode?: Mode
      model?: string | null
      pastAt?: number
    }
  /** Its process ended before it had the message; another one is tried. */
  | { type: 'turn.retried'; turnId: string; reason: string }
  /** `reason`: nobody asked for it; the daemon is on its way out. */
  | { type: 'turn.interrupting'; turnId: string; reason?: 'stopping' }
  /** A message to the running turn: it is taken, or becomes a turn of the same id when that one is over. */
  | {
      type: 'turn.steered'
      turnId: string
      steerId: string
      input: Content[]
      key: string | null
      origin: string | null
    }
  /** The agent has taken it into the turn: its place in the conversation is here. */
  | { type: 'turn.steer_accepted'; turnId: string; steerId: string; input: Content[]; origin: string | null }
  /** `branch`: where the agent itself can branch off later. */
  | {
      type: 'turn.completed'
      turnId: string
      usage: Usage
      text: string | null
      branch?: BranchPoint
      pastAt?: number
    }
  | { type: 'turn.failed'; turnId: string; usage: Usage; error: Failure }
  | { type: 'turn.interrupted'; turnId: string; usage: Usage; pastAt?: number }
  /** It waits in another place: the n-th in the queue. */
  | { type: 'turn.moved'; turnId: string; position: number }
  /** It waits, and says this from here on. */
  | { type: 'turn.edited'; turnId: string; input: Content[] }
  /** Taken out of the queue before it ran. `steered`: it is brought to this turn instead, and `turn.steered` follows. */
  | { type: 'turn.cancelled'; turnId: string; reason: string; steered?: string }
  | ({
      type: 'approval.requested'
      turnId: string | null
      approval: Approval
      /** False: mode or rules answer it at once, nobody is asked. */
      open: boolean
    } & Asking)
  | {
      type: 'approval.resolved'
      approvalId: string
      decision: Decision
      by: string
      /** A human had been asked. Not there in older logs: see `wasAsked`. */
      asked?: boolean
      /** The name of the device that it came from; not there: it came from this machine, or nobody knows. */
      device?: string
    }
  /** "Not now": it is put off until then; null: it is not any more. */
  | { type: 'approval.deferred'; approvalId: string; until: number | null }
  /** The answer has been written to the agent. */
  | { type: 'approval.delivered'; approvalId: string }
  /** The agent waits for its client to carry out a tool. */
  | ({ type: 'call.held' } & CallRequest)
  | { type: 'call.answered'; callId: string; result: CallResult }
  /** The result has been written to the agent. */
  | { type: 'call.delivered'; callId: string }
  /** The agent has given up waiting. */
  | { type: 'call.dropped'; callId: string }
  | ({ type: 'agent.limits'; agent: string } & AgentLimits)
  /** The state of the files, kept under this id: a turn's, or one of its own where a restoration has taken it. */
  | {
      type: 'checkpoint.taken'
      checkpointId: string
      kind: CheckpointKind
      tree: string
      ref: string
      repository: string
      files: number | null
      left: string[]
    }
  /** The files are as they were at that checkpoint; `undo` is the one that was taken before. */
  | { type: 'checkpoint.restored'; checkpointId: string; undo: string; tree: string; files: number }
  | { type: 'review.added'; comment: Comment }
  | { type: 'review.updated'; commentId: string; text: string }
  | { type: 'review.removed'; commentId: string }
  /** The agent is told these in the message that becomes, or is brought to, this turn. */
  | { type: 'review.sent'; commentIds: string[]; turnId: string }
  | { type: 'agent.started'; run: RunInfo; resumed: boolean }
  | {
      type: 'agent.exited'
      runId: string
      code: number | null
      signal: string | null
      stderr: string
      /** Corral ended it itself (idle, stop, destroy). */
      expected: boolean
    }
  | DaemonEvent

/** What happened to the daemon itself belongs to no session: these events have this in place of one. */
export const NO_SESSION = ''

export type EventType = EventBody['type']

/**
 * One fact in the log. `turnId` is there whenever it happened during a turn. One that was copied from another machine names it, and
 * the number that it has in the log there.
 */
export type Event = EventBody & {
  seq: number
  at: number
  sessionId: string
  turnId?: string | null
  machine?: string
  ownerSeq?: number
}

/** When it was: `pastAt` is there where that was before Corral had the conversation, so that nothing follows from it. */
export function timeOf(event: Event): number {
  return ('pastAt' in event ? event.pastAt : undefined) ?? event.at
}

export function isPast(event: Event): boolean {
  return 'pastAt' in event && event.pastAt !== undefined
}

export type EventOf<T extends EventType> = Extract<EventBody, { type: T }>

/**
 * An event as it is handed around: its one serialisation, and the object, which is parsed only if somebody looks
 * (a reader that passes bytes on never does).
 */
export class LoggedEvent {
  readonly seq: number
  readonly sessionId: string
  readonly type: EventType
  readonly json: string
  #event: Event | null

  constructor(seq: number, sessionId: string, type: EventType, json: string, event: Event | null = null) {
    this.seq = seq
    this.sessionId = sessionId
    this.type = type
    this.json = json
    this.#event = event
  }

  static of(event: Event): LoggedEvent {
    return new LoggedEvent(event.seq, event.sessionId, event.type, JSON.stringify(event), event)
  }

  get event(): Event {
    return (this.#event ??= JSON.parse(this.json) as Event)
  }
}
