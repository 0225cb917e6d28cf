import type { About } from './about.ts'
import type { Mode } from './mode.ts'

/** A question that an agent waits on: may I use this tool, a question to the human, or a plan to agree to. */
export type ApprovalKind = 'tool' | 'question' | 'plan'

export interface Approval {
  /** Unique in the log. */
  id: string
  /** The agent's own name for its request: the answer carries it. */
  requestId: string
  kind: ApprovalKind
  tool: string
  input: unknown
  /** What rules look at. Missing where it can be told from the tool's name: see `aboutOf`. */
  about?: About
  /** The tool changes files and does nothing else. */
  edits: boolean
  /** Whoever asked from outside runs what it asked for: a human cannot change its input. */
  fixed?: boolean
  /** The tool call this is about, as in `tool.started`. */
  callId: string | null
  /** One line for people, if the agent gave one. */
  summary: string | null
  /** The agent's own suggestions for lasting rules, passed through. */
  suggestions: unknown
  /** The tool call of the sub-agent that asks, null at the top. */
  parent: string | null
  /** The agent's name for an earlier request about the same thing: a yes to that one is a yes to this one. */
  covers?: string
  /** Where it is decided; not there: here. */
  machine?: string
}

/** A question as an agent asks it: which number it gets is the log's business. */
export type ApprovalRequest = Omit<Approval, 'id'>

export type Decision =
  | {
      behavior: 'allow'
      /** Run the tool with this input instead. */
      input?: unknown
      /** And let the same thing pass the next time, in this session or in every session of the project. */
      forSession?: boolean
      forDirectory?: boolean
      answers?: Record<string, string>
      /** For the record: an agent that may go ahead hears no more than that. */
      comment?: string
    }
  | { behavior: 'deny'; comment: string }
  /** A human's own words, where yes or no is not the answer. */
  | { behavior: 'respond'; text: string }
  | { behavior: 'cancelled'; reason: string }

/** How a question came, and how long it waits. */
export interface Asking {
  /** Asked from outside: whoever asked looks for the answer, no process of ours waits for it. */
  external: boolean
  /** When it is refused because nobody answered; null: it waits for ever. */
  timeoutAt: number | null
}

/** An approval that the session still has to do with: open, or answered and not yet handed to the agent. */
export interface PendingApproval extends Approval, Asking {
  turnId: string | null
  requestedAt: number
  decision: Decision | null
  /** "Not now": it waits on, and nobody is to be bothered with it before this time. Null or missing: it was not put off. */
  deferredUntil?: number | null
}

/** What the mode alone says about a request; null means that a human decides. */
export function modePolicy(mode: Mode, approval: Approval): Decision | null {
  if (approval.kind === 'question') return null
  if (mode === 'auto') return { behavior: 'allow' }
  if (mode === 'code' && approval.edits) return { behavior: 'allow' }
  if (mode === 'plan' && approval.kind === 'tool') {
    return { behavior: 'deny', comment: 'This session is in plan mode: it may read, not change anything.' }
  }
  return null
}

/** Whether a human had been asked before this decision. Events of older logs do not say so; then whoever decided tells it. */
export function wasAsked({ asked, by }: { asked?: boolean; by: string }): boolean {
  return asked ?? !/^(mode:|rule$|interrupt$|approval$)/.test(by)
}
