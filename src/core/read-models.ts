import { wasAsked } from './approval.ts'
import type { Checkpoint } from './checkpoint.ts'
import { isPast, type Event, type EventOf } from './event.ts'
import type { ApprovalRow, Write } from './ports.ts'
import type { Turn } from './turn.ts'

/** What an event changes in the read models beside the session's own row. */
export function readModels(event: Event): Write[] {
  switch (event.type) {
    case 'turn.queued':
      return [{ op: 'turn', turn: queuedTurn(event) }]
    case 'turn.edited':
      return [updated(event.turnId, { input: event.input })]
    case 'turn.started':
      return [updated(event.turnId, { state: 'running', startedAt: event.at, ...ranWith(event) })]
    // In the middle of a turn these are about what it runs with.
    case 'session.changed':
    case 'agent.init':
    case 'agent.model':
      return ofTurn(event.turnId, ranWith(event))
    case 'turn.completed':
      return [
        updated(event.turnId, {
          state: 'completed',
          endedAt: event.at,
          ...used(event),
          text: event.text,
        }),
      ]
    case 'turn.interrupted':
      return [updated(event.turnId, { state: 'interrupted', endedAt: event.at, ...used(event) })]
    case 'turn.failed':
      return [
        updated(event.turnId, { state: 'failed', endedAt: event.at, usage: event.usage, error: event.error }),
      ]
    case 'turn.cancelled':
      return [updated(event.turnId, { state: 'cancelled', endedAt: event.at })]
    case 'approval.requested':
      return [{ op: 'approval', approval: openApproval(event) }]
    case 'approval.resolved':
      return [decided(event)]
    case 'approval.deferred':
      return [{ op: 'approval.defer', id: event.approvalId, until: event.until }]
    case 'session.destroyed':
      return [
        { op: 'bookmarks.drop', sessionId: event.sessionId },
        { op: 'search.drop', sessionId: event.sessionId },
      ]
    case 'agent.limits': {
      const { agent, plan, windows, at } = event
      return [{ op: 'limits', agent, limits: { ...(plan !== undefined && { plan }), windows, at } }]
    }
    case 'directory.changed':
      return [{ op: 'directory', directory: { path: event.path, rules: event.rules } }]
    case 'agent.exited':
      return [{ op: 'run.delete', id: event.runId }]
    default:
      return workspaceModels(event)
  }
}

/** What was used before Corral had the conversation is not known. */
function used(
  event: Event & EventOf<'turn.completed' | 'turn.interrupted'>,
): Pick<TurnUpdate['patch'], 'usage'> {
  return isPast(event) ? {} : { usage: event.usage }
}

/** Of checkpoints and comments. */
function workspaceModels(event: Event): Write[] {
  switch (event.type) {
    case 'checkpoint.taken':
      return [{ op: 'checkpoint', checkpoint: checkpointOf(event) }]
    case 'review.added':
      return [{ op: 'comment', comment: event.comment }]
    case 'review.updated':
      return [{ op: 'comment.update', id: event.commentId, text: event.text }]
    case 'review.removed':
      return [{ op: 'comment.delete', id: event.commentId }]
    case 'review.sent':
      return event.commentIds.map((id) => ({ op: 'comment.update', id, sentIn: event.turnId }))
    default:
      return []
  }
}

function queuedTurn(event: Event & { type: 'turn.queued' }): Turn {
  return {
    id: event.turnId,
    sessionId: event.sessionId,
    state: 'queued',
    input: event.input,
    key: event.key,
    origin: event.origin,
    queuedAt: event.at,
    startedAt: null,
    endedAt: null,
    seq: event.seq,
    usage: null,
    error: null,
    text: null,
    agent: null,
    mode: null,
    model: null,
  }
}

function checkpointOf(event: Event & { type: 'checkpoint.taken' }): Checkpoint {
  const { checkpointId: id, sessionId, kind, seq, at, tree, ref, repository, files, left } = event
  return { sessionId, id, kind, seq, at, tree, ref, repository, files, left }
}

function openApproval(event: Event & { type: 'approval.requested' }): ApprovalRow {
  const { approval, external, timeoutAt, sessionId, turnId, at: requestedAt } = event
  const undecided = { decision: null, decidedBy: null, decidedAt: null, deferredUntil: null }
  return { ...approval, external, timeoutAt, sessionId, turnId, requestedAt, ...undecided }
}

function decided(event: Event & { type: 'approval.resolved' }): Write {
  const { approvalId: id, decision, by, at, device = null } = event
  return { op: 'approval.update', id, decision, by, at, asked: wasAsked(event), device }
}

type TurnUpdate = Extract<Write, { op: 'turn.update' }>

type RanWith = Pick<TurnUpdate['patch'], 'agent' | 'mode' | 'model'>

/** A choice of a model holds from the next turn on; what the agent says it uses, and a mode, hold at once. */
function ranWith(event: EventOf<'turn.started' | 'session.changed' | 'agent.init' | 'agent.model'>): RanWith {
  switch (event.type) {
    case 'turn.started': {
      const { agent = null, mode = null, model = null } = event
      return { agent, mode, model }
    }
    case 'session.changed':
      return event.mode === undefined ? {} : { mode: event.mode }
    default:
      return event.model === null ? {} : { model: event.model }
  }
}

function ofTurn(turnId: string | null | undefined, patch: RanWith): TurnUpdate[] {
  return turnId && Object.keys(patch).length > 0 ? [updated(turnId, patch)] : []
}

function updated(id: string, patch: TurnUpdate['patch']): TurnUpdate {
  return { op: 'turn.update', id, patch }
}
