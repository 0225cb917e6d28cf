import type { Engine } from '../../core/api.ts'
import type { Approval } from '../../core/approval.ts'
import type { Change } from '../../core/conversation/item.ts'
import type { Event, EventType, LoggedEvent } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import { approvalStatus, approvalType, commentOf } from './approvals.ts'
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

const SPOKEN: ReadonlySet<EventType> = new Set(EVENT_TYPES)
const NOTHING: WireEvent[] = []

/** Many subscribers get the same event: it is put into words once. */
const cache = new WeakMap<LoggedEvent, WireEvent[]>()

/** What an event is to subscribers. `changes`: what it changes in its session's conversation. */
export function toWire(engine: Engine, logged: LoggedEvent, changes: readonly Change[]): WireEvent[] {
  if (!SPOKEN.has(logged.type)) return NOTHING
  let events = cache.get(logged)
  if (!events) cache.set(logged, (events = mapped(engine, logged.event, changes)))
  return events
}

/** What subscribers are told, before it has an envelope. */
interface Notice {
  type: string
  data: Record<string, unknown>
}

function mapped(engine: Engine, event: Event, changes: readonly Change[]): WireEvent[] {
  const { sessionId, seq } = event
  const runId = runIdOf(sessionId)
  const notices = [
    ...beside(engine, event),
    ...changes.flatMap((change) => approvals(engine, change)),
    ...entries(engine, event, changes),
  ]
  return notices.map(({ type, data }) => {
    const timestamp = isoTime(event.at)
    const whole = { type, timestamp, data: { session_id: sessionId, run_id: runId, ...data }, seq }
    return { type, sessionId, runId, json: JSON.stringify(whole) }
  })
}

/** What is no part of a conversation. */
function beside(engine: Engine, event: Event): Notice[] {
  if (event.type === 'session.status') return statusChanged(engine, event)
  return event.type === 'session.changed' ? settingsChanged(event) : []
}

/** Nobody hears of a question that mode or rules have answered before anybody was asked. */
function approvals(engine: Engine, change: Change): Notice[] {
  if (change.type === 'asked' && change.question.asked) return [newApproval(engine, change.question.approval)]
  return change.type === 'decided' && change.verdict.asked ? [approvalResolved(change)] : []
}

function statusChanged(engine: Engine, event: Event & { type: 'session.status' }): Notice[] {
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

function settingsChanged(event: Event & { type: 'session.changed' }): Notice[] {
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

function newApproval(engine: Engine, approval: Approval): Notice {
  const { id } = approval
  const data = {
    approval_id: id,
    call_id: id,
    ...about(approval),
    count: 1,
    total: engine.approvals.count(),
  }
  return { type: 'new_approval', data }
}

function about({ kind, tool, callId }: Approval): Record<string, unknown> {
  return {
    type: approvalType({ kind }),
    tool_name: tool,
    ...(callId !== null && { tool_use_id: callId }),
  }
}

function approvalResolved({ verdict, question }: Change & { type: 'decided' }): Notice {
  const { approvalId, decision, by } = verdict
  const status = approvalStatus(decision)
  const comment = commentOf(decision)
  const data = {
    approval_id: approvalId,
    call_id: approvalId,
    ...(question && about(question.approval)),
    approved: decision.behavior === 'allow',
    decision: decision.behavior === 'cancelled' ? 'cancelled' : status,
    status,
    response_text: comment,
    ...(comment !== '' && (decision.behavior === 'respond' ? { response: comment } : { comment })),
    decided_by: by,
  }
  return { type: 'approval_resolved', data }
}

function entries(engine: Engine, event: Event, changes: readonly Change[]): Notice[] {
  const session = (): Session | null => sessionOrNull(engine, event.sessionId)
  const entry = entryOf(event, changes, () => session()?.settings.verbose === true)
  if (!entry) return []
  const data = { claude_session_id: session()?.nativeId ?? '', ...entry }
  return [{ type: 'conversation_updated', data }]
}
