import type { Approval, Decision } from '../../core/approval.ts'
import type { Event } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import { type Entry, entryOf } from './entries.ts'
import { isoTime } from './text.ts'

type EntryApproval = 'pending' | 'approved' | 'denied' | 'resolved'

/** An entry as `getConversation` answers it. */
export interface ConversationEvent extends Omit<Entry, 'content_type' | 'tool_input' | 'subtype'> {
  /** The `seq` of what it was made of: clients page by it. */
  id: number
  session_id: string
  claude_session_id: string
  /** From 1 in each session. */
  sequence: number
  created_at: string
  tool_input_json?: string
  is_completed: boolean
  approval_status: EntryApproval | null
  approval_id: string | null
}

interface KnownApproval {
  id: string
  tool: string
  callId: string | null
  turnId: string | null
  status: EntryApproval
  /** The tool call that it is about, once that has been seen. */
  call: ConversationEvent | null
}

export interface Conversation {
  readonly rows: ConversationEvent[]
  /** The next event of the session, in order. */
  add(event: Event): void
}

/** The conversation of one session as its events tell it; approvals are found again at the tool calls they are about. */
export function createConversation({ id, nativeId, settings }: Session): Conversation {
  const rows: ConversationEvent[] = []
  const calls = new Map<string, ConversationEvent>()
  const approvals = new Map<string, KnownApproval>()
  /** Those whose call has not been seen yet. */
  const loose = new Set<KnownApproval>()
  const around = {
    verbose: () => settings.verbose === true,
    toolOf: (approvalId: string) => approvals.get(approvalId)?.tool ?? null,
  }

  function push(event: Event, entry: Entry): ConversationEvent {
    const { content_type: _, subtype: __, tool_input, ...shown } = entry
    const isCall = entry.event_type === 'tool_call'
    const row: ConversationEvent = {
      id: event.seq,
      session_id: id,
      claude_session_id: nativeId ?? '',
      sequence: rows.length + 1,
      created_at: isoTime(event.at),
      ...shown,
      ...(isCall && { tool_input_json: JSON.stringify(tool_input ?? null) }),
      is_completed: !isCall,
      approval_status: null,
      approval_id: null,
    }
    rows.push(row)
    return row
  }

  function link(approval: KnownApproval, call: ConversationEvent): void {
    loose.delete(approval)
    approval.call = call
    mark(call, approval)
  }

  /** By the id of the call; where nobody said it, the newest call of that tool that is under way. */
  function callOf({ tool, callId }: KnownApproval): ConversationEvent | undefined {
    if (callId !== null) return calls.get(callId)
    return [...calls.values()].findLast(
      (call) => call.tool_name === tool && !call.is_completed && call.approval_id === null,
    )
  }

  function requested({ id, tool, callId }: Approval, turnId: string | null): void {
    const approval: KnownApproval = { id, tool, callId, turnId, status: 'pending', call: null }
    approvals.set(id, approval)
    const call = callOf(approval)
    if (call) link(approval, call)
    else loose.add(approval)
  }

  /** A question may come before the call that it is about. */
  function started(call: ConversationEvent, event: Event & { type: 'tool.started' }): void {
    calls.set(event.callId, call)
    for (const approval of loose) {
      const { callId, tool, turnId } = approval
      const same = callId === null ? tool === event.tool && turnId === event.turnId : callId === event.callId
      if (same) return link(approval, call)
    }
  }

  function resolved(event: Event & { type: 'approval.resolved' }, row: ConversationEvent | null): void {
    const approval = approvals.get(event.approvalId)
    if (!approval) return
    approval.status = resolution(event.decision)
    if (approval.call) mark(approval.call, approval)
    if (row) mark(row, approval)
  }

  return {
    rows,
    add(event) {
      if (event.type === 'approval.requested') return requested(event.approval, event.turnId)
      const entry = entryOf(event, around)
      const row = entry && push(event, entry)
      if (event.type === 'tool.started' && row) started(row, event)
      if (event.type === 'approval.resolved') resolved(event, row)
      const call = event.type === 'tool.completed' ? calls.get(event.callId) : undefined
      if (call) call.is_completed = true
    },
  }
}

function mark(row: ConversationEvent, { id, status }: KnownApproval): void {
  row.approval_id = id
  row.approval_status = status
}

function resolution({ behavior }: Decision): EntryApproval {
  if (behavior === 'allow') return 'approved'
  return behavior === 'deny' ? 'denied' : 'resolved'
}
