import { textOf } from '../../core/content.ts'
import type { Event, LoggedEvent } from '../../core/event.ts'
import type { Failure } from '../../core/turn.ts'
import type { Usage } from '../../core/usage.ts'
import { waitingEvent } from './waiting.ts'
import type { WireEvent } from './wire.ts'

export interface TurnMapperOptions {
  turnId: string
  /** The agent's own conversation id, where the turn's events have not told it. */
  nativeId(): string | null
  /** The tool of a call that started before the first event that is mapped. */
  toolOf(callId: string, before: number): string | null
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
  const tools = new Map<string, string>()
  /** Approvals that were settled the moment they came up: nobody is asked, nobody is told. */
  const quiet = new Set<string>()
  let nativeId: string | null = null
  let ended = false

  function toolResult(event: Event & { type: 'tool.completed' }): WireEvent {
    const tool = tools.get(event.callId) ?? options.toolOf(event.callId, event.seq)
    tools.delete(event.callId)
    return {
      type: 'tool_use',
      ...(tool === null ? {} : { tool }),
      message: event.output,
      ...(event.isError ? { is_error: true as const } : {}),
    }
  }

  /** For programs; and in words, as long as there is something to do about it. */
  function requested(event: Event & { type: 'approval.requested' }): WireEvent[] {
    const { approval } = event
    return [approvalRequested(event), ...(options.isOpen(approval.id) ? [waitingEvent(approval)] : [])]
  }

  function one(event: Event): WireEvent[] {
    switch (event.type) {
      case 'agent.init':
        nativeId = event.nativeId ?? nativeId
        return [init(event)]
      case 'agent.other':
        return event.kind.startsWith('system/')
          ? [{ type: 'system', subtype: event.kind.slice('system/'.length), raw: event.raw }]
          : []
      case 'agent.notice': {
        const { level, code, message, data } = event
        return [{ type: 'system', subtype: code, raw: { level, message, data } }]
      }
      // The wire has no message of a user's; what it does not know of `system` its clients pass over.
      case 'turn.steer_accepted':
        return [{ type: 'system', subtype: 'steered', raw: { message: textOf(event.input) } }]
      case 'message.delta':
        return isAnswer(event) ? [{ type: 'partial', content: event.text }] : []
      case 'message.completed':
        return isAnswer(event) ? [{ type: 'text', content: event.text }] : []
      case 'tool.started':
        tools.set(event.callId, event.tool)
        return [{ type: 'tool_use', tool: event.tool, input: event.input }]
      case 'tool.completed':
        return [toolResult(event)]
      case 'approval.requested':
        return quiet.has(event.approval.id) ? [] : requested(event)
      case 'approval.resolved':
        return quiet.delete(event.approvalId) ? [] : [approvalResolved(event)]
      default:
        return end(event)
    }
  }

  function end(event: Event): WireEvent[] {
    switch (event.type) {
      case 'turn.completed':
        ended = true
        return [result(event, nativeId ?? options.nativeId())]
      case 'turn.failed':
        ended = true
        return [{ type: 'error', message: failureText(event.error), code: event.error.code }]
      case 'turn.cancelled':
        ended = true
        return [{ type: 'interrupted', message: event.reason }]
      case 'turn.interrupted':
      case 'session.destroyed':
        ended = true
        return [{ type: 'interrupted' }]
      default:
        return []
    }
  }

  return {
    map(batch) {
      for (const id of settledAtOnce(batch)) quiet.add(id)
      const mapped: Mapped[] = []
      for (const { event } of batch) {
        if (ended) break
        if (event.turnId !== options.turnId && event.type !== 'session.destroyed') continue
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

/** Text of the agent itself: neither its thinking nor what its sub-agents say to it. */
function isAnswer(event: { kind: 'text' | 'thinking'; parent: string | null }): boolean {
  return event.kind === 'text' && event.parent === null
}

function settledAtOnce(batch: readonly LoggedEvent[]): string[] {
  const requested = new Set<string>()
  const settled: string[] = []
  for (const logged of batch) {
    if (logged.type !== 'approval.requested' && logged.type !== 'approval.resolved') continue
    const { event } = logged
    if (event.type === 'approval.requested') requested.add(event.approval.id)
    else if (event.type === 'approval.resolved' && requested.has(event.approvalId))
      settled.push(event.approvalId)
  }
  return settled
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

function approvalRequested({ approval }: Event & { type: 'approval.requested' }): WireEvent {
  const { id, kind, tool, input, summary } = approval
  return {
    type: 'system',
    subtype: 'approval_requested',
    raw: { approvalId: id, kind, tool, input, summary },
  }
}

function approvalResolved(event: Event & { type: 'approval.resolved' }): WireEvent {
  const { approvalId, decision, by } = event
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

function result(event: Event & { type: 'turn.completed' }, nativeId: string | null): WireEvent {
  const id = nativeId === null ? {} : { session_id: nativeId }
  return {
    type: 'result',
    ...id,
    raw: {
      type: 'result',
      subtype: 'success',
      is_error: false,
      duration_ms: event.usage.durationMs,
      num_turns: event.usage.modelCalls,
      total_cost_usd: event.usage.costUsd,
      usage: tokens(event.usage),
      ...id,
      result: event.text,
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
