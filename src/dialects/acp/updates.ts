import type {
  PromptResponse,
  SessionUpdate,
  StopReason,
  ToolCallStatus,
} from '@agentclientprotocol/sdk/unstable'
import { CONVERSATION_TYPES, type Conversation } from '../../core/conversation/conversation.ts'
import type { Call, CallState, Change, Message, UserMessage } from '../../core/conversation/item.ts'
import type { AgentCommand, Event, EventType, PlanEntry } from '../../core/event.ts'
import type { Failure } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'
import { blockOf } from './content.ts'
import { failed } from './errors.ts'
import { outputContent, viewTool } from './tools.ts'

/** The events that an editor has to hear of, in one way or another. */
export const TYPES: EventType[] = [
  ...CONVERSATION_TYPES,
  'agent.init',
  'agent.model',
  'agent.commands',
  'session.changed',
  'session.destroyed',
]

/** What an editor is shown of a change in the conversation. */
export function updatesOf(change: Change, event: Event, cwd: string): SessionUpdate[] {
  switch (change.type) {
    case 'said':
      return userMessage(change.message)
    case 'grew':
      return chunk(change.message, change.piece)
    case 'closed':
      return chunk(change.message, change.rest)
    case 'call':
      return called(change, event, cwd)
    case 'plan':
      return [planUpdate(change.entries)]
    default:
      return []
  }
}

/** The tool calls that are not over, for somebody who has not heard of them. */
export function openCalls({ calls }: Conversation, cwd: string): SessionUpdate[] {
  const open = [...calls.values()].filter(({ state }) => state === 'asked' || state === 'running')
  return open.map((call) => toolCall(call, cwd))
}

function userMessage({ id: messageId, content }: UserMessage): SessionUpdate[] {
  return content.map((part) => {
    return { sessionUpdate: 'user_message_chunk', messageId, content: blockOf(part) }
  })
}

/** Of a sub-agent, editors see what it does and not what it says. */
function chunk({ id: messageId, kind, parent }: Message, text: string): SessionUpdate[] {
  if (parent !== null || text === '') return []
  const sessionUpdate = kind === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk'
  return [{ sessionUpdate, messageId, content: { type: 'text', text } }]
}

/** An agent may begin a call in another way than it has asked about it, so the call is then shown anew. */
function called(
  { call, was }: Extract<Change, { type: 'call' }>,
  event: Event,
  cwd: string,
): SessionUpdate[] {
  if (event.type === 'tool.completed') return [result(call, cwd)]
  if (event.type === 'tool.started' || was === null) return [toolCall(call, cwd)]
  return call.state === was ? [] : [status(call)]
}

const STATUS: Record<CallState, ToolCallStatus> = {
  asked: 'pending',
  running: 'in_progress',
  refused: 'failed',
  done: 'completed',
  failed: 'failed',
}

function toolCall({ id: toolCallId, state, tool, input }: Call, cwd: string): SessionUpdate {
  return { sessionUpdate: 'tool_call', toolCallId, status: STATUS[state], ...viewTool(tool, input, cwd) }
}

function status({ id: toolCallId, state }: Call) {
  return { sessionUpdate: 'tool_call_update' as const, toolCallId, status: STATUS[state] }
}

function result(call: Call, cwd: string): SessionUpdate {
  const { kind, content } = viewTool(call.tool, call.input, cwd)
  // The changes that an edit has made say more than what it says about them.
  if (call.state === 'done' && content.some(({ type }) => type === 'diff')) return status(call)
  return { ...status(call), content: outputContent(kind, call.output ?? '', call.cut) }
}

const PLAN_STATUS = { pending: 'pending', active: 'in_progress', done: 'completed' } as const

function planUpdate(entries: readonly PlanEntry[]): SessionUpdate {
  return {
    sessionUpdate: 'plan',
    // Agents do not rank what they plan, and the protocol wants a rank.
    entries: entries.map(({ text, state }) => {
      return { content: text, priority: 'medium', status: PLAN_STATUS[state] }
    }),
  }
}

/** What a user may write at the beginning of a message: the agent understands it. */
export function commandsUpdate(commands: readonly AgentCommand[]): SessionUpdate {
  const availableCommands = commands.map(({ name, about }) => ({ name, description: about ?? '' }))
  return { sessionUpdate: 'available_commands_update', availableCommands }
}

/** A word of Corral's own, to an editor that has no other place for it. */
export function remark(text: string): SessionUpdate {
  return { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: `\n\n${text}\n\n` } }
}

/** How a turn that is over ended. */
export interface Ending {
  state: 'completed' | 'failed' | 'interrupted' | 'cancelled'
  usage: Usage | null
  error: Failure | null
}

/** How a prompt ends that a change is the end of. */
export function endingOf(change: Change): { turnId: string; ending: Ending } | null {
  if (change.type === 'withdrawn') {
    // It lives on as a part of another turn.
    if (change.steered !== null) return null
    return { turnId: change.message.id, ending: { state: 'cancelled', usage: null, error: null } }
  }
  if (change.type !== 'ended') return null
  const { turnId, outcome: state, usage, error } = change.end
  return { turnId, ending: { state, usage, error } }
}

/** The answer to the prompt that began the turn. */
export function promptResult({ state, usage, error }: Ending): PromptResponse | Error {
  const stopReason = stopReasonOf(state, error)
  if (stopReason === null) return failed(error ?? { code: 'agent_error', message: 'The turn failed' })
  return { stopReason, ...(usage && { usage: usageOf(usage) }) }
}

const LIMITS: Partial<Record<string, StopReason>> = {
  max_tokens: 'max_tokens',
  max_turn_requests: 'max_turn_requests',
  error_max_turns: 'max_turn_requests',
}

function stopReasonOf(state: Ending['state'], error: Failure | null): StopReason | null {
  if (state === 'completed') return 'end_turn'
  if (state !== 'failed') return 'cancelled'
  if (error?.code === 'refusal') return 'refusal'
  // Other limits (an account's, a budget's) are told in words: the protocol has no reason for them.
  return (error?.code === 'limit' && LIMITS[String(error.detail?.['limit'])]) || null
}

function usageOf(usage: Usage) {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = usage
  return {
    totalTokens: inputTokens + outputTokens + cacheReadTokens + cacheWriteTokens,
    inputTokens,
    outputTokens,
    cachedReadTokens: cacheReadTokens,
    cachedWriteTokens: cacheWriteTokens,
  }
}
