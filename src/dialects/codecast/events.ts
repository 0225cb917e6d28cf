import type { Approval } from '../../core/approval.ts'
import { textOf } from '../../core/content.ts'
import { step, type Conversation } from '../../core/conversation/conversation.ts'
import type { Change, Message, ApprovalItem, TurnEnd, Verdict } from '../../core/conversation/item.ts'
import type { Event, LoggedEvent } from '../../core/event.ts'
import type { Failure } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'
import { waitingEvent } from './waiting.ts'
import type { WireEvent } from './wire.ts'

export interface TurnMapperOptions {
  turnId: string
  /** What was under way before the first event that is mapped. */
  conversation(): Conversation
  /** The agent's own conversation id, where the turn's events have not told it. */
  nativeId(): string | null
  /** Whether an approval still waits for somebody. */
  isOpen(approvalId: string): boolean
}

/** What one logged event is on the wire; nothing, often. */
export interface Mapped {
  seq: number
  events: WireEvent[]
}

export interface TurnMapper {
  /** Maps events of a session; those of other turns are passed over, as is all that follows the turn's end. */
  map(batch: readonly LoggedEvent[]): Mapped[]
  readonly ended: boolean
}

/** One turn of the log in Codecast's words. */
export function createTurnMapper(options: TurnMapperOptions): TurnMapper {
  const { turnId, isOpen } = options
  let conversation: Conversation | null = null
  let nativeId: string | null = null
  let ended = false
  const around: Around = { turnId, isOpen, nativeId: () => nativeId ?? options.nativeId() }

  function one(event: Event): WireEvent[] {
    if (event.type === 'message.delta') return partial(event)
    if (event.type === 'agent.init') nativeId = event.nativeId ?? nativeId
    ended = isEnd(event)
    const changes = step((conversation ??= options.conversation()), event)
    return [...beside(event), ...changes.flatMap((change) => spell(change, event, around))]
  }

  return {
    map(batch) {
      const mapped: Mapped[] = []
      for (const { event } of batch) {
        if (ended) break
        if (event.turnId !== turnId && event.type !== 'session.destroyed') continue
        const events = one(event)
        if (events.length > 0) mapped.push({ seq: event.seq, events })
      }
      return mapped
    },
    get ended() {
      return ended
    },
  }
}

/** What a change is told with, beside itself. */
type Around = Pick<TurnMapperOptions, 'turnId' | 'nativeId' | 'isOpen'>

/** What an event changes in the conversation, in Codecast's words. */
function spell(change: Change, event: Event, around: Around): WireEvent[] {
  switch (change.type) {
    // The wire has no message of a user's; what it does not know of `system` its clients pass over.
    case 'said':
      return change.message.steer
        ? [{ type: 'system', subtype: 'steered', raw: { message: textOf(change.message.content) } }]
        : []
    case 'closed':
      return isAnswer(change.message) ? [{ type: 'text', content: change.message.text }] : []
    case 'call':
      return toolUse(change, event)
    case 'asked':
      return change.question.asked ? asked(change.question, around) : []
    case 'decided':
      return isOurs(change, around) ? [approvalResolved(change.verdict)] : []
    case 'notice': {
      const { level, code, message, data } = change
      return [{ type: 'system', subtype: code, raw: { level, message, data } }]
    }
    case 'withdrawn':
      return [{ type: 'interrupted', message: change.reason }]
    case 'ended':
      return [end(change.end, around)]
    default:
      return []
  }
}

/** A piece is told as it comes: a stream has no need to gather the whole, which comes complete. */
function partial(event: Event & { type: 'message.delta' }): WireEvent[] {
  return isAnswer(event) ? [{ type: 'partial', content: event.text }] : []
}

/** What an agent says about itself, and the end of its session, are no part of a conversation. */
function beside(event: Event): WireEvent[] {
  switch (event.type) {
    case 'agent.init':
      return [init(event)]
    case 'agent.other':
      return event.kind.startsWith('system/')
        ? [{ type: 'system', subtype: event.kind.slice('system/'.length), raw: event.raw }]
        : []
    case 'session.destroyed':
      return [{ type: 'interrupted' }]
    default:
      return []
  }
}

function isEnd({ type }: Event): boolean {
  return (
    type === 'turn.completed' ||
    type === 'turn.failed' ||
    type === 'turn.interrupted' ||
    type === 'turn.cancelled' ||
    type === 'session.destroyed'
  )
}

/** Text of the agent itself: neither its thinking nor what its sub-agents say to it. */
function isAnswer({ kind, parent }: Pick<Message, 'kind' | 'parent'>): boolean {
  return kind === 'text' && parent === null
}

/** A call is told when the agent begins it, and with its result. */
function toolUse({ call: { tool, input, output } }: Change & { type: 'call' }, event: Event): WireEvent[] {
  if (event.type === 'tool.started') return [{ type: 'tool_use', tool, input }]
  if (event.type !== 'tool.completed') return []
  const named = tool === '' ? {} : { tool }
  const failed = event.isError ? { is_error: true as const } : {}
  return [{ type: 'tool_use', ...named, message: output ?? '', ...failed }]
}

/** For programs; and in words, as long as there is something to do about it. */
function asked({ approval }: ApprovalItem, { isOpen }: Around): WireEvent[] {
  return [approvalRequested(approval), ...(isOpen(approval.id) ? [waitingEvent(approval)] : [])]
}

/** A turn's stream tells the answers to the questions that it has told. */
function isOurs({ verdict, question }: Change & { type: 'decided' }, { turnId }: Around): boolean {
  return verdict.asked && question?.turnId === turnId
}

function init(event: Event & { type: 'agent.init' }): WireEvent {
  return {
    type: 'system',
    subtype: 'init',
    ...(event.nativeId === null ? {} : { session_id: event.nativeId }),
    ...(event.model === null ? {} : { model: event.model }),
    raw: event.raw,
  }
}

function approvalRequested({ id, kind, tool, input, summary }: Approval): WireEvent {
  return {
    type: 'system',
    subtype: 'approval_requested',
    raw: { approvalId: id, kind, tool, input, summary },
  }
}

function approvalResolved({ approvalId, decision, by }: Verdict): WireEvent {
  return {
    type: 'system',
    subtype: 'approval_resolved',
    raw: {
      approvalId,
      behavior: decision.behavior,
      by,
      ...(decision.behavior === 'deny' && decision.comment && { comment: decision.comment }),
      ...(decision.behavior === 'respond' && { text: decision.text }),
    },
  }
}

function end({ outcome, error, usage, text }: TurnEnd, { nativeId }: Around): WireEvent {
  if (error) return { type: 'error', message: failureText(error), code: error.code }
  return outcome === 'completed' ? result(usage, text, nativeId()) : { type: 'interrupted' }
}

function result(usage: Usage, text: string | null, nativeId: string | null): WireEvent {
  const id = nativeId === null ? {} : { session_id: nativeId }
  return {
    type: 'result',
    ...id,
    raw: {
      type: 'result',
      subtype: 'success',
      is_error: false,
      duration_ms: usage.durationMs,
      num_turns: usage.modelCalls,
      total_cost_usd: usage.costUsd,
      usage: tokens(usage),
      ...id,
      result: text,
    },
  }
}

function tokens(usage: Usage): Record<string, number> {
  return {
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    cache_read_input_tokens: usage.cacheReadTokens,
    cache_creation_input_tokens: usage.cacheWriteTokens,
  }
}

const STDERR_TAIL = 2_000

/** The message, and the agent's last words where the message does not have them. */
function failureText({ message, detail }: Failure): string {
  const stderr = typeof detail?.['stderr'] === 'string' ? detail['stderr'].trim().slice(-STDERR_TAIL) : ''
  return stderr === '' || message.includes(stderr) ? message : `${message}\n${stderr}`
}
