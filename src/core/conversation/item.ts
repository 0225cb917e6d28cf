import type { Approval, Decision } from '../approval.ts'
import type { Content } from '../content.ts'
import type { PlanEntry } from '../event.ts'
import type { Mode } from '../mode.ts'
import type { Failure, Outcome } from '../turn.ts'
import type { Usage } from '../usage.ts'

/** Something that a user said: the message that a turn began with, or a steer. */
export interface UserMessage {
  /** The turn's id, or the steer's. */
  readonly id: string
  readonly content: readonly Content[]
  readonly key: string | null
  readonly origin: string | null
  /** It was brought to a turn that was running already. */
  readonly steer: boolean
  /** When it was sent. */
  readonly sentAt: number
}

/** What an agent says or thinks. */
export interface Message {
  readonly id: string
  readonly kind: 'text' | 'thinking'
  /** All there is of it so far. */
  readonly text: string
  /** The call of the sub-agent that says it; null: the agent itself. */
  readonly parent: string | null
  readonly openedAt: number
  readonly open: boolean
  /** Cut off by an interrupt, a steer or a crash. */
  readonly aborted: boolean
}

/**
 * `asked`: a human is asked. `running`: it was allowed, or nobody had to be asked. `refused`: by a human, a rule or a mode.
 * `done` and `failed` are its ends, by its own result or by the end of its turn.
 */
export type CallState = 'asked' | 'running' | 'refused' | 'done' | 'failed'

/** A tool call, or a question that stands for itself. */
export interface Call {
  readonly id: string
  readonly tool: string
  readonly input: unknown
  readonly state: CallState
  readonly output: string | null
  /** Bytes that were cut from `output`. */
  readonly cut: number
  /** The call of the sub-agent that made it; null: the agent itself. */
  readonly parent: string | null
  readonly startedAt: number
  /** Of the event that it began with; 0 where retention has removed that. */
  readonly seq: number
  /** The agent has begun it. False: so far there is only a question about it. */
  readonly begun: boolean
  /** No process of ours carries it out, so no result comes. */
  readonly external: boolean
  /** What the sub-agent that it ran has used, where the agent tells. */
  readonly usage?: Usage
}

/** A question, and the call that it is shown at. */
export interface ApprovalItem {
  readonly approval: Approval
  readonly turnId: string | null
  readonly external: boolean
  readonly timeoutAt: number | null
  /** A human was asked. False: a mode or a rule answered at once. */
  readonly asked: boolean
  readonly callId: string
}

/** A decision. */
export interface Verdict {
  readonly approvalId: string
  readonly decision: Decision
  readonly by: string
  /** A human had been asked. */
  readonly asked: boolean
}

/** The turn that runs. */
export interface OpenTurn {
  readonly id: string
  readonly mode: Mode | null
  readonly model: string | null
  readonly interrupting: boolean
}

export interface TurnEnd {
  readonly turnId: string
  readonly outcome: Outcome
  readonly usage: Usage
  readonly error: Failure | null
  /** The agent's last words. */
  readonly text: string | null
}

/** What one event changes in a conversation. */
export type Change =
  /** A message waits for its turn: the n-th, or 0 when it starts at once. `late`: a steer that its turn ended without. */
  | { type: 'waits'; message: UserMessage; position: number; late: boolean }
  | { type: 'moved'; id: string; position: number }
  /** A message that waits says something else. */
  | { type: 'edited'; message: UserMessage }
  /** A message that waited is gone; it never was part of the conversation. `steered`: it is brought to this turn as a steer. */
  | { type: 'withdrawn'; message: UserMessage; reason: string; steered: string | null }
  /** A user's message takes its place in the conversation. */
  | { type: 'said'; message: UserMessage; turn: OpenTurn }
  | { type: 'opened'; message: Message }
  | { type: 'grew'; message: Message; piece: string }
  /** `rest`: what no piece has told. When the whole is not what the pieces were the beginning of, it is the whole. */
  | { type: 'closed'; message: Message; rest: string }
  /** A call is there, or has another state. `was`: null when it is new. */
  | { type: 'call'; call: Call; was: CallState | null }
  /** `call` is null where a mode or a rule answers a question about a call that has not begun. */
  | { type: 'asked'; question: ApprovalItem; call: Call | null }
  /** The question is null when it came before this fold began. */
  | { type: 'decided'; verdict: Verdict; question: ApprovalItem | null; call: Call | null }
  | { type: 'plan'; entries: readonly PlanEntry[] }
  | { type: 'notice'; level: 'info' | 'warning'; code: string; message: string; data: unknown }
  | { type: 'compacting'; tokens: number | null; window: number | null }
  | {
      type: 'compacted'
      tokensBefore: number | null
      tokensAfter: number | null
      window: number | null
      error: string | null
    }
  | { type: 'interrupting'; turnId: string; byDaemon: boolean }
  | { type: 'ended'; end: TurnEnd }
