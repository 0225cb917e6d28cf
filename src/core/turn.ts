import type { Content } from './content.ts'
import type { Mode } from './mode.ts'
import type { Usage } from './usage.ts'

export type TurnState = 'queued' | 'running' | 'completed' | 'failed' | 'interrupted' | 'cancelled'

/** How a turn that has begun can end. */
export type Outcome = Extract<TurnState, 'completed' | 'failed' | 'interrupted'>

/** Why a turn failed, for people and for programs. */
export interface Failure {
  /** `agent_exited`, `agent_start`, `model_error`, `agent_output`, `limit`, … : stable, never translated. */
  code: string
  message: string
  /** HTTP status of the model's answer, exit code, stderr tail: whatever helps. */
  detail?: Record<string, unknown>
}

/** One user message and what became of it; a row of the `turns` read model. */
export interface Turn {
  id: string
  sessionId: string
  state: TurnState
  input: Content[]
  /** The client's idempotency key. */
  key: string | null
  /** The dialect that it came in by. */
  origin: string | null
  queuedAt: number
  startedAt: number | null
  endedAt: number | null
  /** `seq` of its `turn.queued` event. */
  seq: number
  usage: Usage | null
  error: Failure | null
  /** The agent's last words in it. */
  text: string | null
  /** What it runs with, or ran with last; null before it has started, and in turns of older logs. */
  agent: string | null
  mode: Mode | null
  /** As the agent has told, and as was chosen before that. */
  model: string | null
}

/** A message to the running turn that the agent has not taken yet. */
export interface Steer {
  id: string
  /** `seq` of its `turn.steered` event. */
  seq: number
  input: Content[]
  key: string | null
  origin: string | null
}

/** What a session keeps of the turn it is running. */
export interface RunningTurn {
  id: string
  startedAt: number
  /** `seq` of its `turn.started` event. */
  startedSeq: number
  /** The agent has told us that it has the message. */
  accepted: boolean
  /** How many processes have been tried. */
  attempts: number
  interrupting: boolean
  /** What it runs with; not there in turns that an older Corral began. */
  mode?: Mode
  model?: string | null
  /** The session's choice when it began. */
  chosenModel?: string | null
}
