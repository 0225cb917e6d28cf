import type { EventBody, EventType } from './event.ts'

/** A call, under the name that its agent has given it. */
interface NamedCall {
  id: string
  /** The agent has begun it, and has not only asked about it. */
  begun: boolean
  /** It has a result, or its turn is over: the next one of that name is another call. */
  over: boolean
}

/**
 * The ids that one session's messages and calls have in the log. An agent's own ids may repeat themselves, in the next turn or
 * whenever its model pleases, so the number of the event that something began with is put behind them.
 */
export interface OwnIds {
  /** The same fact in the log's own ids; `seq` is the number that it gets. */
  name(body: EventBody, seq: number): EventBody
}

/** So many calls are remembered: what a sub-agent does is told with a call that was made long before. */
const MAX_CALLS = 10_000

/** What must be read again after a restart, from the running turn. */
export const NAMING_TYPES: EventType[] = [
  'message.delta',
  'message.completed',
  'tool.started',
  'tool.completed',
  'approval.requested',
  'call.held',
]

/** `past`: what the running turn has in the log already. */
export function createOwnIds(past: Iterable<EventBody> = []): OwnIds {
  const messages = new Map<string, string>()
  const calls = new Map<string, NamedCall>()

  function add(raw: string, id: string, begun: boolean): NamedCall {
    const named = { id, begun, over: false }
    calls.delete(raw)
    calls.set(raw, named)
    if (calls.size > MAX_CALLS) calls.delete(calls.keys().next().value!)
    return named
  }

  function begun(raw: string, seq: number): string {
    const known = calls.get(raw)
    if (!known || known.begun || known.over) return add(raw, `${raw}-${seq}`, true).id
    known.begun = true
    return known.id
  }

  /** A call that is spoken of: it runs, or is about to begin. Whoever asks from outside finds its own name for it again. */
  function meant(raw: string, seq: number, isOutside = false): string {
    const known = calls.get(raw)
    if (known && !known.over) return known.id
    const isOurs = calls.get(agentsIdOf(raw))?.id === raw
    return isOurs ? raw : add(raw, isOutside ? raw : `${raw}-${seq}`, false).id
  }

  function finished(raw: string, seq: number): string {
    const known = calls.get(raw) ?? add(raw, `${raw}-${seq}`, true)
    known.over = true
    return known.id
  }

  function streamed(raw: string, seq: number): string {
    const id = messages.get(raw) ?? `${raw}-${seq}`
    messages.set(raw, id)
    return id
  }

  function completed(raw: string, seq: number): string {
    const id = messages.get(raw) ?? `${raw}-${seq}`
    messages.delete(raw)
    return id
  }

  const parentOf = (raw: string | null): string | null => (raw === null ? null : (calls.get(raw)?.id ?? raw))

  function recall(body: EventBody): void {
    if (body.type === 'message.delta') messages.set(agentsIdOf(body.messageId), body.messageId)
    else if (body.type === 'message.completed') messages.delete(agentsIdOf(body.messageId))
    else if (body.type === 'tool.started') add(agentsIdOf(body.callId), body.callId, true)
    else if (body.type === 'tool.completed') finished(agentsIdOf(body.callId), 0)
    else if (body.type === 'call.held') meantBefore(body.callId)
    else if (body.type === 'approval.requested') meantBefore(body.approval.callId)
  }

  function meantBefore(id: string | null): void {
    if (id !== null && calls.get(agentsIdOf(id))?.id !== id) add(agentsIdOf(id), id, false)
  }

  for (const body of past) recall(body)

  return {
    name(body, seq) {
      switch (body.type) {
        case 'message.delta':
          return { ...body, messageId: streamed(body.messageId, seq), parent: parentOf(body.parent) }
        case 'message.completed':
          return { ...body, messageId: completed(body.messageId, seq), parent: parentOf(body.parent) }
        case 'tool.started':
          return { ...body, callId: begun(body.callId, seq), parent: parentOf(body.parent) }
        case 'tool.completed':
          return { ...body, callId: finished(body.callId, seq), parent: parentOf(body.parent) }
        case 'call.held':
          return { ...body, callId: meant(body.callId, seq) }
        case 'approval.requested': {
          const { approval, external } = body
          const callId = approval.callId === null ? null : meant(approval.callId, seq, external)
          return { ...body, approval: { ...approval, callId, parent: parentOf(approval.parent) } }
        }
        case 'turn.completed':
        case 'turn.failed':
        case 'turn.interrupted':
          for (const call of calls.values()) call.over = true
          return body
        default:
          return body
      }
    },
  }
}

/** What the agent called it. */
export function agentsIdOf(id: string): string {
  return id.replace(/-\d+$/, '')
}
