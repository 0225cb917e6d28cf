import type { Decision } from '../../core/approval.ts'
import { step, type Conversation } from '../../core/conversation/conversation.ts'
import type { Call, Change } from '../../core/conversation/item.ts'
import type { Event } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import { type Entry, entryOf } from './entries.ts'
import type { ConversationEvent } from './shapes.ts'
import { isoTime } from './text.ts'

type EntryApproval = NonNullable<ConversationEvent['approval_status']>

/** What becomes of an entry after it has been written. */
type Progress = Pick<ConversationEvent, 'is_completed' | 'approval_status' | 'approval_id'>

interface Row {
  seq: number
  at: number
  entry: Entry
  progress: Progress
}

export interface ConversationView {
  /** The next event of the session, in order. */
  add(event: Event): void
  rows(): ConversationEvent[]
}

/** The conversation of one session, as far as the log has it. `conversation`: what was under way before the first event. */
export function createConversationView(session: Session, conversation: Conversation): ConversationView {
  const rows: Row[] = []
  /** How it stands with each call, also with one that there is only a question about so far. */
  const calls = new Map<string, Progress>()
  const isVerbose = (): boolean => session.settings.verbose === true

  function progressOf(callId: string): Progress {
    const known = calls.get(callId) ?? progress(false)
    calls.set(callId, known)
    return known
  }

  function note(change: Change): void {
    if (change.type === 'call') {
      // In older logs another call may have the same id.
      const { call, was } = change
      if (was === null && call.begun && calls.get(call.id)?.is_completed) calls.delete(call.id)
      progressOf(call.id).is_completed ||= isOver(call)
    } else if (change.type === 'asked') {
      const { approval, callId } = change.question
      Object.assign(progressOf(callId), link(approval.id, 'pending'))
    } else if (change.type === 'decided' && change.question) {
      const { approvalId, decision } = change.verdict
      Object.assign(progressOf(change.question.callId), link(approvalId, resolution(decision)))
    }
  }

  function progressAt(event: Event, { event_type, tool_id = '' }: Entry): Progress {
    if (event_type === 'tool_call') return progressOf(tool_id)
    if (event.type !== 'approval.resolved') return progress(true)
    return { is_completed: true, ...link(event.approvalId, resolution(event.decision)) }
  }

  return {
    add(event) {
      const changes = step(conversation, event)
      changes.forEach(note)
      const entry = entryOf(event, changes, isVerbose)
      if (entry) rows.push({ seq: event.seq, at: event.at, entry, progress: progressAt(event, entry) })
    },
    rows: () => rows.map((row, index) => viewOf(session, row, index + 1)),
  }
}

function viewOf(session: Session, { seq, at, entry, progress }: Row, sequence: number): ConversationEvent {
  const { content_type: _, subtype: __, tool_input, ...shown } = entry
  return {
    id: seq,
    session_id: session.id,
    claude_session_id: session.nativeId ?? '',
    sequence,
    created_at: isoTime(at),
    ...shown,
    ...(entry.event_type === 'tool_call' && { tool_input_json: JSON.stringify(tool_input ?? null) }),
    ...progress,
  }
}

function progress(is_completed: boolean): Progress {
  return { is_completed, approval_status: null, approval_id: null }
}

function link(approval_id: string, approval_status: EntryApproval): Omit<Progress, 'is_completed'> {
  return { approval_status, approval_id }
}

function isOver({ state }: Call): boolean {
  return state !== 'asked' && state !== 'running'
}

function resolution({ behavior }: Decision): EntryApproval {
  if (behavior === 'allow') return 'approved'
  return behavior === 'deny' ? 'denied' : 'resolved'
}
