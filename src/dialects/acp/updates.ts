import type {
  PromptResponse,
  SessionUpdate,
  StopReason,
  ToolCallStatus,
} from '@agentclientprotocol/sdk/unstable'
import type { Content } from '../../core/content.ts'
import type { Event, EventType } from '../../core/event.ts'
import type { Failure } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'
import { blockOf } from './content.ts'
import { failed } from './errors.ts'
import { outputContent, viewTool, type ToolView } from './tools.ts'

/** The events that an editor has to hear of, in one way or another. */
export const TYPES: EventType[] = [
  'turn.queued',
  'turn.started',
  'turn.steer_accepted',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
  'message.delta',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'agent.init',
  'agent.model',
  'agent.notice',
  'session.changed',
  'session.destroyed',
]

type Of<T extends EventType> = Extract<Event, { type: T }>

/** A tool call that is not over. */
interface OpenCall {
  view: ToolView
  /** It is only there to put a question to the user. */
  questionOnly: boolean
}

export interface Teller {
  step(event: Event): SessionUpdate[]
  /** The tool calls that are not over, for somebody who has not heard of them. */
  open(): SessionUpdate[]
}

/** Turns the events of a session into what is shown of them: of a completed message only what has not been. */
export function createTeller(cwd: string): Teller {
  const said = new Map<string, string>()
  const calls = new Map<string, OpenCall>()
  /** Approvals that wait, and the tool call that each is shown at. */
  const asked = new Map<string, string>()

  function delta({ messageId, kind, text, parent }: Of<'message.delta'>): SessionUpdate[] {
    if (parent !== null || text === '') return []
    said.set(messageId, (said.get(messageId) ?? '') + text)
    return [chunk(kind, messageId, text)]
  }

  function completed({ messageId, kind, text, parent }: Of<'message.completed'>): SessionUpdate[] {
    const had = said.get(messageId) ?? ''
    said.delete(messageId)
    const rest = text.startsWith(had) ? text.slice(had.length) : text
    return parent !== null || rest === '' ? [] : [chunk(kind, messageId, rest)]
  }

  function started({ callId, tool, input }: Of<'tool.started'>): SessionUpdate[] {
    const view = viewTool(tool, input, cwd)
    calls.set(callId, { view, questionOnly: false })
    return [toolCall(callId, 'in_progress', view)]
  }

  function finished({ callId, output, isError, cut }: Of<'tool.completed'>): SessionUpdate[] {
    const view = calls.get(callId)?.view
    calls.delete(callId)
    const update = status(callId, isError ? 'failed' : 'completed')
    // The changes that an edit has made say more than what it says about them.
    if (!isError && view?.content.some(({ type }) => type === 'diff')) return [update]
    return [{ ...update, content: outputContent(view?.kind ?? 'other', output, cut) }]
  }

  function requested({ approval, open }: Of<'approval.requested'>): SessionUpdate[] {
    if (!open) return []
    const callId = approval.callId ?? approval.id
    asked.set(approval.id, callId)
    if (calls.has(callId)) return []
    const view = viewTool(approval.tool, approval.input, cwd)
    calls.set(callId, { view, questionOnly: approval.callId === null })
    return [toolCall(callId, 'pending', view)]
  }

  /** Also how an editor learns that its question has been answered elsewhere. */
  function resolved({ approvalId, decision }: Of<'approval.resolved'>): SessionUpdate[] {
    const callId = asked.get(approvalId)
    asked.delete(approvalId)
    const call = callId === undefined ? undefined : calls.get(callId)
    if (callId === undefined || !call) return []
    const goesOn = decision.behavior === 'allow' || decision.behavior === 'respond'
    if (!call.questionOnly) return [status(callId, goesOn ? 'in_progress' : 'failed')]
    calls.delete(callId)
    return [status(callId, goesOn ? 'completed' : 'failed')]
  }

  /** What an agent left open is over with its turn. */
  function ended(how: ToolCallStatus): SessionUpdate[] {
    const left = [...calls].filter(([, call]) => !call.questionOnly).map(([callId]) => callId)
    for (const callId of left) calls.delete(callId)
    said.clear()
    return left.map((callId) => status(callId, how))
  }

  return {
    open: () => [...calls].map(([callId, { view }]) => toolCall(callId, 'in_progress', view)),
    step(event) {
      switch (event.type) {
        case 'message.delta':
          return delta(event)
        case 'message.completed':
          return completed(event)
        case 'tool.started':
          return started(event)
        case 'tool.completed':
          return finished(event)
        case 'approval.requested':
          return requested(event)
        case 'approval.resolved':
          return resolved(event)
        case 'turn.completed':
          return ended('completed')
        case 'turn.failed':
        case 'turn.interrupted':
          return ended('failed')
        default:
          return []
      }
    },
  }
}

function chunk(kind: 'text' | 'thinking', messageId: string, text: string): SessionUpdate {
  const sessionUpdate = kind === 'text' ? 'agent_message_chunk' : 'agent_thought_chunk'
  return { sessionUpdate, messageId, content: { type: 'text', text } }
}

function toolCall(toolCallId: string, how: ToolCallStatus, view: ToolView): SessionUpdate {
  return { sessionUpdate: 'tool_call', toolCallId, status: how, ...view }
}

function status(toolCallId: string, how: ToolCallStatus) {
  return { sessionUpdate: 'tool_call_update' as const, toolCallId, status: how }
}

export function userMessage(turnId: string, input: readonly Content[]): SessionUpdate[] {
  return input.map((part) => {
    return { sessionUpdate: 'user_message_chunk', messageId: turnId, content: blockOf(part) }
  })
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

export function endingOf(event: Event): Ending | null {
  switch (event.type) {
    case 'turn.completed':
      return { state: 'completed', usage: event.usage, error: null }
    case 'turn.failed':
      return { state: 'failed', usage: event.usage, error: event.error }
    case 'turn.interrupted':
      return { state: 'interrupted', usage: event.usage, error: null }
    case 'turn.cancelled':
      return { state: 'cancelled', usage: null, error: null }
    default:
      return null
  }
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
