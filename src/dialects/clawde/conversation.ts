import type { Approval } from '../../core/approval.ts'
import { textOf } from '../../core/content.ts'
import type { Event, EventType } from '../../core/event.ts'
import { riskOf, type Risk } from './risk.ts'

export type CallStatus = 'pending' | 'running' | 'done' | 'error' | 'rejected'

export interface ToolCall {
  readonly id: string
  readonly sessionId: string
  readonly name: string
  readonly input: unknown
  readonly status: CallStatus
  readonly output: string | null
  readonly riskLevel: Risk
  /** The call of the sub-agent that made it. */
  readonly parent: string | null
  readonly at: number
  /** No process of ours carries it out: there is no result to wait for. */
  readonly external: boolean
}

export interface Message {
  readonly id: string
  readonly sessionId: string
  readonly role: 'user' | 'assistant' | 'tool'
  readonly content: string
  readonly status: 'streaming' | 'done'
  readonly at: number
  /** Cut off by an interrupt or a crash. */
  readonly aborted?: boolean
  readonly call?: ToolCall
}

/** What an event changes. A call is also a message, which nobody is told of. */
export type Change =
  | { readonly kind: 'message' | 'content'; readonly message: Message }
  | { readonly kind: 'call' | 'call.status'; readonly call: ToolCall }

/** What a conversation is made of, beside the pieces of messages. */
export const CONVERSATION_TYPES: readonly EventType[] = [
  'turn.queued',
  'turn.steer_accepted',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'approval.resolved',
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
]

/** The state of one conversation, never changed in place: a copy of its maps is a copy of it. */
export interface Conversation {
  readonly open: Map<string, Message>
  /** Of the running turn. */
  readonly calls: Map<string, ToolCall>
  /** Questions, and the calls that they are about. */
  readonly asked: Map<string, string>
}

export function emptyConversation(): Conversation {
  return { open: new Map(), calls: new Map(), asked: new Map() }
}

export function copyOf({ open, calls, asked }: Conversation): Conversation {
  return { open: new Map(open), calls: new Map(calls), asked: new Map(asked) }
}

/** The next event of the session; `callOf` finds a question that was asked before this fold began. */
export function add(
  state: Conversation,
  event: Event,
  callOf: (approvalId: string) => ToolCall | null = () => null,
): Change[] {
  switch (event.type) {
    case 'turn.queued':
      return [{ kind: 'message', message: said(event, event.turnId) }]
    case 'turn.steer_accepted':
      return [{ kind: 'message', message: said(event, event.steerId) }]
    case 'message.delta':
      return isShown(event) ? streamed(state, event) : []
    case 'message.completed':
      return isShown(event) ? completed(state, event) : []
    case 'tool.started':
      return started(state, event)
    case 'tool.completed':
      return finished(state, event)
    case 'approval.requested':
      return asked(state, event)
    case 'approval.resolved':
      return answered(state, event, callOf)
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.interrupted':
      return ended(state, event.type === 'turn.completed' ? 'done' : 'error')
    default:
      return []
  }
}

/** Thoughts, and what sub-agents say among themselves, are no messages. */
export function isShown(event: { kind: string; parent: string | null }): boolean {
  return event.kind === 'text' && event.parent === null
}

function said(event: Event & { type: 'turn.queued' | 'turn.steer_accepted' }, id: string): Message {
  const { sessionId, at } = event
  return { id, sessionId, role: 'user', content: textOf(event.input), status: 'done', at }
}

function streamed(state: Conversation, event: Event & { type: 'message.delta' }): Change[] {
  const { messageId: id, sessionId, at, text } = event
  const known = state.open.get(id)
  const first = known ?? begun(id, sessionId, at)
  const message: Message = { ...first, content: first.content + text }
  state.open.set(id, message)
  return [...(known ? [] : [{ kind: 'message' as const, message: first }]), { kind: 'content', message }]
}

/** Every message of an assistant begins empty: clients are told of it first, and then what is in it. */
function begun(id: string, sessionId: string, at: number): Message {
  return { id, sessionId, role: 'assistant', content: '', status: 'streaming', at }
}

function completed(state: Conversation, event: Event & { type: 'message.completed' }): Change[] {
  const { messageId: id, sessionId, at, text, aborted } = event
  const known = state.open.get(id)
  state.open.delete(id)
  if (!known && text === '') return []
  const first = known ?? begun(id, sessionId, at)
  const content = text === '' ? first.content : text
  const message: Message = { ...first, content, status: 'done', ...(aborted && { aborted }) }
  return [...(known ? [] : [{ kind: 'message' as const, message: first }]), { kind: 'content', message }]
}

function started(state: Conversation, event: Event & { type: 'tool.started' }): Change[] {
  const { callId: id, tool: name, input, parent } = event
  // It may have been asked about before it began.
  const known = state.calls.get(id)
  const call: ToolCall = known
    ? { ...known, name, input, parent }
    : { ...newCall(event, id, name, input), parent }
  state.calls.set(id, call)
  return known ? [] : [{ kind: 'call', call }]
}

function finished(state: Conversation, event: Event & { type: 'tool.completed' }): Change[] {
  const { callId: id, output, isError } = event
  const known = state.calls.get(id) ?? newCall(event, id, '', null)
  const isRejected = known.status === 'rejected'
  const call: ToolCall = { ...known, output, status: isRejected ? 'rejected' : isError ? 'error' : 'done' }
  state.calls.set(id, call)
  return isRejected ? [] : [{ kind: 'call.status', call }]
}

function asked(state: Conversation, event: Event & { type: 'approval.requested' }): Change[] {
  const { approval, open, external } = event
  const id = callIdOf(approval)
  state.asked.set(approval.id, id)
  if (!open) return []
  const known = state.calls.get(id)
  const call: ToolCall = known
    ? { ...known, status: 'pending' }
    : { ...newCall(event, id, approval.tool, approval.input), status: 'pending', external }
  state.calls.set(id, call)
  return [{ kind: known ? 'call.status' : 'call', call }]
}

function answered(
  state: Conversation,
  event: Event & { type: 'approval.resolved' },
  callOf: (approvalId: string) => ToolCall | null,
): Change[] {
  const id = state.asked.get(event.approvalId)
  const known = id === undefined ? callOf(event.approvalId) : (state.calls.get(id) ?? null)
  state.asked.delete(event.approvalId)
  if (!known) return []
  const { behavior } = event.decision
  const isRefused = behavior === 'deny' || behavior === 'cancelled'
  const wasAsked = known.status === 'pending'
  if (!wasAsked && behavior !== 'deny') return []
  const status = isRefused ? 'rejected' : known.external ? 'done' : 'running'
  const call: ToolCall = { ...known, status }
  state.calls.set(call.id, call)
  return [{ kind: 'call.status', call }]
}

/** Nothing is left under way that nobody will finish. */
function ended(state: Conversation, status: 'done' | 'error'): Change[] {
  const changes: Change[] = []
  for (const [id, call] of state.calls) {
    if (call.external && call.status === 'pending') continue
    state.calls.delete(id)
    if (call.status !== 'running' && call.status !== 'pending') continue
    changes.push({ kind: 'call.status', call: { ...call, status } })
  }
  return changes
}

function newCall({ sessionId, at }: Event, id: string, name: string, input: unknown): ToolCall {
  const call = { id, sessionId, name, input, at, riskLevel: riskOf(name), parent: null, external: false }
  return { ...call, status: 'running', output: null }
}

/** What clients call a question: the call that it is about, or itself where there is none. */
export function callIdOf({ callId, id }: Pick<Approval, 'callId' | 'id'>): string {
  return callId ?? id
}
