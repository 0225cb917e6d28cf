import type { Content } from '../../core/content.ts'
import type { Effort } from '../../core/effort.ts'
import type { AgentModel } from '../../core/event.ts'
import type { LimitWindow } from '../../core/limits.ts'
import type { Mode } from '../../core/mode.ts'
import type { Failure } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'

/** What the demo agent reads, one JSON object a line. */
export type DemoInput =
  /** `tools`: names of those that the client carries out. */
  | { type: 'settings'; system: string[]; tools: string[]; effort: Effort | null }
  | { type: 'prompt'; turnId: string; input: Content[] }
  /** A message to the running turn: part of its next round, or the next turn if there is none. */
  | { type: 'steer'; steerId: string; input: Content[] }
  | { type: 'retract'; steerId: string }
  | DemoDecision
  | DemoResult
  | { type: 'mode'; mode: Mode }
  | { type: 'model'; model: string | null }
  | { type: 'effort'; effort: Effort | null }
  | { type: 'interrupt' }
  | { type: 'barrier'; id: string }
  /** Ends the process once nothing is left to do. */
  | { type: 'end' }

export interface DemoDecision {
  type: 'decision'
  requestId: string
  behavior: 'allow' | 'deny'
  /** Takes the place of the call's input. */
  input?: unknown
  answers?: Record<string, string>
  comment?: string
}

/** What the client's tool came to. */
export interface DemoResult {
  type: 'result'
  requestId: string
  text: string
  isError: boolean
}

/** What the demo agent writes, one JSON object a line. */
export type DemoOutput =
  /** The first line. `conversationId` is null when the conversation to resume is not there. */
  | { type: 'ready'; conversationId: string | null; model: string; version: string; about: string }
  | { type: 'models'; models: AgentModel[] }
  | { type: 'model'; model: string }
  | { type: 'accepted'; turnId: string }
  | { type: 'steer-read'; steerId: string }
  | { type: 'steer-taken'; steerId: string }
  | ({ type: 'delta'; messageId: string; kind: MessageKind; text: string } & Teller)
  | ({ type: 'message'; messageId: string; kind: MessageKind; text: string; aborted: boolean } & Teller)
  | ({ type: 'tool-start'; callId: string; tool: string; input: unknown } & Teller)
  /** `usage`: what the sub-agent has used that it ran. */
  | ({ type: 'tool-end'; callId: string; output: string; isError: boolean; usage?: Usage } & Teller)
  | ({
      type: 'ask'
      requestId: string
      kind: 'tool' | 'question'
      tool: string
      input: unknown
      callId: string
      summary: string
    } & Teller)
  /** A call that the client carries out. */
  | { type: 'call'; requestId: string; callId: string; tool: string; input: unknown }
  | { type: 'withdraw'; requestId: string }
  | { type: 'compacting'; tokens: number }
  | { type: 'compacted'; before: number; after: number; error: string | null }
  | { type: 'limits'; windows: LimitWindow[] }
  | { type: 'context'; used: number; window: number }
  | { type: 'notice'; code: string; message: string }
  | { type: 'end-of-turn'; turnId: string; outcome: Outcome; usage: Usage; error: Failure | null }
  | { type: 'barrier'; id: string }

/** Whose line it is: without `parent` the agent's own, else the sub-agent's that this call runs. */
export interface Teller {
  parent?: string
}

export type MessageKind = 'text' | 'thinking'
export type Outcome = 'completed' | 'failed' | 'interrupted'

export const DEMO_VERSION = '1.0.0'
export const DEMO_TITLE = 'Demo (built in, no model)'
export const DEFAULT_MODEL = 'demo-script'
/** In tokens; a token is four characters. */
export const DEMO_WINDOW = 100_000
/** Any other name is as good. */
export const DEMO_MODELS: AgentModel[] = [
  {
    id: 'demo',
    name: 'Demo',
    description: 'obeys the script in the prompt',
    efforts: ['off', 'low', 'medium', 'high'],
    defaultEffort: 'medium',
    contextWindow: DEMO_WINDOW,
  },
]
