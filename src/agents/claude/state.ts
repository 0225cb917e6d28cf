import type { CallRequest } from '../../core/call.ts'
import type { AgentCommand } from '../../core/event.ts'
import type { Fullness } from '../../core/fullness.ts'
import type { AgentLimits } from '../../core/limits.ts'
import type { JsonObject } from '../json.ts'
import { NO_PLAN, type Planning } from './plan.ts'
import { remember, says, type Step } from '../step.ts'
import type { SubUsage } from './sub-usage.ts'

/** What the translator carries from line to line: plain data, every list bounded. */
export interface ClaudeState {
  /** The message of ours that it works on. */
  turn: string | null
  /** It says which messages it has; older versions (2.1.112, say) do not. */
  tells: boolean
  /** It works on a message and has not said on which. */
  begun: boolean
  /** Other messages of ours that it has told us about and not finished. */
  waiting: string[]
  /** The line of the transcript that its last answer is. */
  answer: string | null
  /** The message that streams, and the index of its newest block. */
  message: string | null
  block: number
  /** The message is still being streamed. */
  streams: boolean
  /** Calls of the client's tools that Claude has made already: they are told when the message is complete. */
  calls: CallRequest[]
  /** The next block index of the newest messages. */
  blocks: { message: string; next: number }[]
  /** Which tool call a sub-agent belongs to. */
  subAgents: { agent: string; callId: string }[]
  /** What they have used so far. */
  subUsage: SubUsage[]
  /** Claude's own name of its mode, as last stated. */
  permissionMode: string | null
  totalCost: number | null
  /** What Claude said in place of an answer when the model failed. */
  failure: { kind: string; text: string } | null
  /** It is summing up the conversation. */
  compacting: boolean
  /** What it has told last about the account. */
  limits: AgentLimits | null
  planning: Planning
  /** The commands that it has told of last. */
  commands?: AgentCommand[]
  /** How full the conversation is, and of which model's window. */
  context: Fullness & { model: string | null }
}

export const MAX_REMEMBERED = 64

export function initialState(): ClaudeState {
  return {
    turn: null,
    tells: false,
    begun: false,
    waiting: [],
    answer: null,
    message: null,
    block: -1,
    streams: false,
    calls: [],
    blocks: [],
    subAgents: [],
    subUsage: [],
    permissionMode: null,
    totalCost: null,
    failure: null,
    compacting: false,
    limits: null,
    planning: NO_PLAN,
    context: { used: null, window: null, model: null },
  }
}

/**
 * A line that comes in the middle of a turn only. From a version that does not say which messages it has, the first of them
 * proves that it has the one that was written.
 */
export function inTurn({ state, outputs }: Step<ClaudeState>): Step<ClaudeState> {
  if (state.tells || state.begun || state.turn !== null) return { state, outputs }
  return says({ ...state, begun: true }, { type: 'turn.begun' }, ...outputs)
}

/** Lines of a sub-agent name it and the tool call that started it; approvals name only the sub-agent. */
export function withSubAgent(state: ClaudeState, agent: unknown, callId: unknown): ClaudeState {
  if (typeof agent !== 'string' || typeof callId !== 'string') return state
  if (state.subAgents.some((known) => known.agent === agent)) return state
  return { ...state, subAgents: remember(state.subAgents, { agent, callId }, MAX_REMEMBERED) }
}

export function parentOf(line: JsonObject): string | null {
  return typeof line.parent_tool_use_id === 'string' ? line.parent_tool_use_id : null
}
