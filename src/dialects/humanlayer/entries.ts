import type { Decision } from '../../core/approval.ts'
import type { Event, EventType } from '../../core/event.ts'
import { textOfInput } from './text.ts'

/** One thing in a conversation: what an event of the log is to this protocol's clients. */
export interface Entry {
  event_type: 'message' | 'thinking' | 'tool_call' | 'tool_result' | 'system'
  /** What `conversation_updated` calls it. */
  content_type: 'text' | 'thinking' | 'tool_use' | 'tool_result' | 'system'
  role?: 'user' | 'assistant' | 'system'
  content?: string
  subtype?: string
  tool_id?: string
  tool_name?: string
  tool_input?: unknown
  tool_result_for_id?: string
  tool_result_content?: string
  /** How much of the result was not kept. */
  truncated_bytes?: number
  is_error?: true
  parent_tool_use_id?: string
}

/** The events that entries are made of, and what the entries' approvals are made of. */
export const ENTRY_TYPES: readonly EventType[] = [
  'turn.queued',
  'turn.steer_accepted',
  'turn.failed',
  'message.completed',
  'tool.started',
  'tool.completed',
  'agent.init',
  'agent.notice',
  'approval.requested',
  'approval.resolved',
]

interface Surroundings {
  /** The session shows what its agent says about itself. */
  verbose(): boolean
  /** The tool that an approval is about. */
  toolOf(approvalId: string): string | null
}

/** Null: nothing that a conversation shows. */
export function entryOf(event: Event, around: Surroundings): Entry | null {
  switch (event.type) {
    case 'turn.queued':
    case 'turn.steer_accepted':
      return said('user', textOfInput(event.input))
    case 'turn.failed':
      return system(event.error.code, event.error.message)
    case 'message.completed':
      return message(event)
    case 'tool.started':
      return {
        event_type: 'tool_call',
        content_type: 'tool_use',
        tool_id: event.callId,
        tool_name: event.tool,
        tool_input: event.input,
        ...within(event.parent),
      }
    case 'tool.completed':
      return {
        event_type: 'tool_result',
        content_type: 'tool_result',
        role: 'user',
        tool_result_for_id: event.callId,
        ...resultOf(event),
        ...(event.isError && { is_error: true as const }),
        ...within(event.parent),
      }
    case 'agent.init':
      return around.verbose() ? system('init', initText(event)) : null
    case 'agent.notice':
      return event.level === 'warning' || around.verbose() ? system(event.code, event.message) : null
    case 'approval.resolved':
      return answered(event.decision, () => around.toolOf(event.approvalId) ?? 'the request')
    default:
      return null
  }
}

function said(role: 'user' | 'assistant', content: string): Entry | null {
  return content === '' ? null : { event_type: 'message', content_type: 'text', role, content }
}

function system(subtype: string, content: string): Entry {
  return { event_type: 'system', content_type: 'system', role: 'system', subtype, content }
}

function message({ kind, text, parent }: Event & { type: 'message.completed' }): Entry | null {
  if (text === '') return null
  const thinking = {
    event_type: 'thinking',
    content_type: 'thinking',
    role: 'assistant',
    content: text,
  } as const
  const entry = kind === 'thinking' ? thinking : said('assistant', text)!
  return { ...entry, ...within(parent) }
}

function resultOf({ output, cut }: Event & { type: 'tool.completed' }): Partial<Entry> {
  if (cut === 0) return { tool_result_content: output }
  return { tool_result_content: `${output}\n[… ${cut} more bytes]`, truncated_bytes: cut }
}

function within(parent: string | null): { parent_tool_use_id?: string } {
  return parent === null ? {} : { parent_tool_use_id: parent }
}

function initText({ model, version }: Event & { type: 'agent.init' }): string {
  const known = [model && `model ${model}`, version && `version ${version}`].filter(Boolean)
  return ['Agent started', ...known].join(', ')
}

/** What a human wrote belongs to the conversation: why something was denied, or the answer to a question. */
function answered(decision: Decision, tool: () => string): Entry | null {
  if (decision.behavior === 'respond') return said('user', decision.text)
  if (decision.behavior !== 'deny' || decision.comment === '') return null
  return said('user', `Denied ${tool()}: ${decision.comment}`)
}
