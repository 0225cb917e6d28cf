import type { Engine } from '../../core/api.ts'
import type { Event, EventType, LoggedEvent } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import { approvalOrNull, approvalStatus, approvalType, commentOf } from './approvals.ts'
import { ENTRY_TYPES, entryOf } from './entries.ts'
import { runIdOf, sessionOrNull } from './ids.ts'
import { statusChange } from './status.ts'
import { isoTime } from './text.ts'
import { permissions } from './views.ts'

/** What subscribers are told. */
export interface WireEvent {
  type: string
  sessionId: string
  runId: string
  /** The whole event, serialised. */
  json: string
}

/** The events of the log that tell them something; all others are nothing to this protocol. */
export const EVENT_TYPES: readonly EventType[] = [...ENTRY_TYPES, 'session.status', 'session.changed']

const TOLD: ReadonlySet<EventType> = new Set(EVENT_TYPES)
const NOTHING: WireEvent[] = []

/** Many subscribers get the same event: it is looked at once. */
const cache = new WeakMap<LoggedEvent, WireEvent[]>()

export function toWire(engine: Engine, logged: LoggedEvent): WireEvent[] {
  if (!TOLD.has(logged.type)) return NOTHING
  let events = cache.get(logged)
  if (!events) cache.set(logged, (events = mapped(engine, logged.event)))
  return events
}

interface Told {
  type: string
  data: Record<string, unknown>
}

function mapped(engine: Engine, event: Event): WireEvent[] {
  const { sessionId, seq } = event
  const runId = runIdOf(sessionId)
  const told = [...changes(engine, event), ...entries(engine, event)]
  return told.map(({ type, data }) => {
    const timestamp = isoTime(event.at)
    const whole = { type, timestamp, data: { session_id: sessionId, run_id: runId, ...data }, seq }
    return { type, sessionId, runId, json: JSON.stringify(whole) }
  })
}

function changes(engine: Engine, event: Event): Told[] {
  switch (event.type) {
    case 'session.status':
      return statusChanged(engine, event)
    case 'session.changed':
      return settingsChanged(event)
    case 'approval.requested':
      return event.open ? [newApproval(engine, event)] : []
    case 'approval.resolved':
      return settledAtOnce(engine, event) ? [] : [approvalResolved(engine, event)]
    default:
      return []
  }
}

function statusChanged(engine: Engine, event: Event & { type: 'session.status' }): Told[] {
  const { sessionId, seq, outcome } = event
  const { before, after } = statusChange(event, () => {
    const [found] = engine.events.read({ sessionId, before: seq, types: ['session.status'], limit: 1 })
    return found?.event.type === 'session.status' ? found.event : null
  })
  if (before === after) return []
  const parent = sessionOrNull(engine, sessionId)?.parentId
  const data = {
    old_status: before,
    new_status: after,
    ...(parent && { parent_session_id: parent }),
    ...(outcome !== null && { outcome }),
  }
  return [{ type: 'session_status_changed', data }]
}

function settingsChanged(event: Event & { type: 'session.changed' }): Told[] {
  const { title, archived, model, mode, rules, reason } = event
  const expired = reason === 'expired' && { reason, expired_at: isoTime(event.at) }
  const settings = {
    ...(title !== undefined && { title: title ?? '' }),
    ...(archived !== undefined && { archived }),
    ...(model !== undefined && { model: model ?? '' }),
    ...(mode !== undefined && { mode }),
    ...(rules && permissions(rules, event.at)),
  }
  if (Object.keys(settings).length === 0) return []
  const data = { event_type: 'settings_updated', ...settings, ...expired }
  return [{ type: 'session_settings_changed', data }]
}

function newApproval(engine: Engine, { approval }: Event & { type: 'approval.requested' }): Told {
  const { id, tool, callId } = approval
  const data = {
    approval_id: id,
    call_id: id,
    tool_name: tool,
    type: approvalType(approval),
    ...(callId !== null && { tool_use_id: callId }),
    count: 1,
    total: engine.approvals.count(),
  }
  return { type: 'new_approval', data }
}

function approvalResolved(engine: Engine, event: Event & { type: 'approval.resolved' }): Told {
  const { approvalId, decision, by } = event
  const row = approvalOrNull(engine, approvalId)
  const status = approvalStatus(decision)
  const comment = commentOf(decision)
  const data = {
    approval_id: approvalId,
    call_id: approvalId,
    ...(row && { type: approvalType(row), tool_name: row.tool }),
    ...(row?.callId && { tool_use_id: row.callId }),
    approved: decision.behavior === 'allow',
    decision: decision.behavior === 'cancelled' ? 'cancelled' : status,
    status,
    response_text: comment,
    ...(comment !== '' && (decision.behavior === 'respond' ? { response: comment } : { comment })),
    decided_by: by,
  }
  return { type: 'approval_resolved', data }
}

/** Mode or rules answered before anybody was asked: there was no `new_approval`, so there is no end of one. */
function settledAtOnce(
  engine: Engine,
  { approvalId, sessionId, seq }: Event & { type: 'approval.resolved' },
): boolean {
  const types: EventType[] = ['approval.requested']
  const [found] = engine.events.read({ sessionId, after: seq - 2, before: seq, types, limit: 1 })
  const event = found?.event
  return event?.type === 'approval.requested' && event.approval.id === approvalId && !event.open
}

function entries(engine: Engine, event: Event): Told[] {
  const session = (): Session | null => sessionOrNull(engine, event.sessionId)
  const entry = entryOf(event, {
    verbose: () => session()?.settings.verbose === true,
    toolOf: (id) => approvalOrNull(engine, id)?.tool ?? null,
  })
  if (!entry) return []
  const data = { claude_session_id: session()?.nativeId ?? '', ...entry }
  return [{ type: 'conversation_updated', data }]
}
