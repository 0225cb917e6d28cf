import type { EventBody, EventType } from './event.ts'

/** A call, under the name that its agent has given it. */
interface NamedCall {
  readonly id: string
  /** The agent has begun it, and has not only asked about it. */
  readonly begun: boolean
  /** It has a result, or its turn is over: the next one of that name is another call. */
  readonly over: boolean
}

/**
 * The ids that one session's messages and calls have in the log. An agent's own ids may repeat themselves, in the next turn or
 * whenever its model pleases, so the number of the event that something began with is put behind them.
 */
export interface OwnIds {
  /** Messages that are being streamed, by the agent's ids. */
  readonly messages: Map<string, string>
  readonly calls: Map<string, NamedCall>
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
export function ownIds(past: Iterable<EventBody> = []): OwnIds {
  const ids: OwnIds = { messages: new Map(), calls: new Map() }
  for (const body of past) recall(ids, body)
  return ids
}

/** The same fact in the log's own ids; `seq` is the number that it gets. */
export function inOwnIds(ids: OwnIds, body: EventBody, seq: number): EventBody {
  switch (body.type) {
    case 'message.delta':
      return { ...body, messageId: streamed(ids, body.messageId, seq), parent: parentOf(ids, body.parent) }
    case 'message.completed':
      return { ...body, messageId: completed(ids, body.messageId, seq), parent: parentOf(ids, body.parent) }
    case 'tool.started': {
      // An agent that names a call as its own parent means another one, or nothing.
      const parent = parentOf(ids, body.parent)
      const callId = begun(ids, body.callId, seq)
      return { ...body, callId, parent: parent === callId || parent === body.callId ? null : parent }
    }
    case 'tool.completed':
      return { ...body, callId: finished(ids, body.callId, seq), parent: parentOf(ids, body.parent) }
    case 'call.held':
      return { ...body, callId: meant(ids, body.callId, seq) }
    case 'approval.requested': {
      const { approval, external } = body
      const callId = approval.callId === null ? null : meant(ids, approval.callId, seq, external)
      return { ...body, approval: { ...approval, callId, parent: parentOf(ids, approval.parent) } }
    }
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.interrupted':
      for (const [raw, call] of ids.calls) ids.calls.set(raw, { ...call, over: true })
      return body
    default:
      return body
  }
}

/** What the agent called it. */
export function agentsIdOf(id: string): string {
  return id.replace(/-\d+$/, '')
}

function streamed({ messages }: OwnIds, raw: string, seq: number): string {
  const id = messages.get(raw) ?? `${raw}-${seq}`
  messages.set(raw, id)
  return id
}

function completed({ messages }: OwnIds, raw: string, seq: number): string {
  const id = messages.get(raw) ?? `${raw}-${seq}`
  messages.delete(raw)
  return id
}

function begun(ids: OwnIds, raw: string, seq: number): string {
  const known = ids.calls.get(raw)
  const isSame = known !== undefined && !known.begun && !known.over
  return keep(ids, raw, { id: isSame ? known.id : `${raw}-${seq}`, begun: true, over: false })
}

/** A call that is spoken of: it runs, or is about to begin. Whoever asks from outside finds its own name for it again. */
function meant(ids: OwnIds, raw: string, seq: number, isOutside = false): string {
  const known = ids.calls.get(raw)
  if (known && !known.over) return known.id
  if (ids.calls.get(agentsIdOf(raw))?.id === raw) return raw
  return keep(ids, raw, { id: isOutside ? raw : `${raw}-${seq}`, begun: false, over: false })
}

function finished(ids: OwnIds, raw: string, seq: number): string {
  const id = ids.calls.get(raw)?.id ?? `${raw}-${seq}`
  return keep(ids, raw, { id, begun: true, over: true })
}

function keep({ calls }: OwnIds, raw: string, call: NamedCall): string {
  calls.delete(raw)
  calls.set(raw, call)
  if (calls.size > MAX_CALLS) calls.delete(calls.keys().next().value!)
  return call.id
}

function parentOf({ calls }: OwnIds, raw: string | null): string | null {
  return raw === null ? null : (calls.get(raw)?.id ?? raw)
}

/** What the log has is in its own ids already. */
function recall(ids: OwnIds, body: EventBody): void {
  switch (body.type) {
    case 'message.delta':
      return void ids.messages.set(agentsIdOf(body.messageId), body.messageId)
    case 'message.completed':
      return void ids.messages.delete(agentsIdOf(body.messageId))
    case 'tool.started':
      return recallCall(ids, body.callId, { begun: true, over: false })
    case 'tool.completed':
      return recallCall(ids, body.callId, { begun: true, over: true })
    case 'call.held':
      return recallCall(ids, body.callId, { begun: false, over: false })
    case 'approval.requested':
      if (body.approval.callId === null) return
      return recallCall(ids, body.approval.callId, { begun: false, over: false })
    default:
  }
}

/** A question about a call that has begun says nothing new. */
function recallCall(ids: OwnIds, id: string, { begun: isBegun, over }: Omit<NamedCall, 'id'>): void {
  const raw = agentsIdOf(id)
  if (!isBegun && ids.calls.get(raw)?.id === id) return
  keep(ids, raw, { id, begun: isBegun, over })
}
