import type { Decision } from '../../core/approval.ts'
import type { Call, Change, Message } from '../../core/conversation/item.ts'
import type { Event, EventType } from '../../core/event.ts'
import { WHOLE_TYPES } from './following.ts'
import type { ConversationEvent } from './shapes.ts'
import { textOfInput } from './text.ts'

/** One thing in a conversation: what an event of the log is to this protocol's clients. */
export interface Entry {
  event_type: ConversationEvent['event_type']
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

/** The events that entries are made of. */
export const ENTRY_TYPES: readonly EventType[] = [...WHOLE_TYPES, 'agent.init']

/**
 * What an event adds to the conversation that a client is shown, and it is one entry at the most; null: nothing. `isVerbose`: the
 * session shows what its agent says about itself.
 */
export function entryOf(event: Event, changes: readonly Change[], isVerbose: () => boolean): Entry | null {
  if (event.type === 'agent.init') return isVerbose() ? system('init', initText(event)) : null
  for (const change of changes) {
    const entry = spell(change, event, isVerbose)
    if (entry) return entry
  }
  return null
}

function spell(change: Change, event: Event, isVerbose: () => boolean): Entry | null {
  switch (change.type) {
    case 'said':
      return said('user', textOfInput(change.message.content))
    case 'closed':
      return message(change.message)
    case 'call':
      return toolEntry(change.call, event)
    case 'decided':
      return answered(change.verdict.decision, change.question?.approval.tool ?? 'the request')
    case 'notice':
      return change.level === 'warning' || isVerbose() ? system(change.code, change.message) : null
    case 'ended':
      return change.end.error && system(change.end.error.code, change.end.error.message)
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

function message({ kind, text, parent }: Message): Entry {
  const type =
    kind === 'thinking'
      ? ({ event_type: 'thinking', content_type: 'thinking' } as const)
      : ({ event_type: 'message', content_type: 'text' } as const)
  return { ...type, role: 'assistant', content: text, ...within(parent) }
}

/** A call has a place where the agent begins it, and another one with its result. */
function toolEntry(call: Call, event: Event): Entry | null {
  if (event.type === 'tool.started') {
    return {
      event_type: 'tool_call',
      content_type: 'tool_use',
      tool_id: call.id,
      tool_name: call.tool,
      tool_input: call.input,
      ...within(call.parent),
    }
  }
  if (event.type !== 'tool.completed') return null
  return {
    event_type: 'tool_result',
    content_type: 'tool_result',
    role: 'user',
    tool_result_for_id: call.id,
    ...resultOf(event),
    ...(event.isError && { is_error: true as const }),
    ...within(event.parent),
  }
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
function answered(decision: Decision, tool: string): Entry | null {
  if (decision.behavior === 'respond') return said('user', decision.text)
  if (decision.behavior !== 'deny' || decision.comment === '') return null
  return said('user', `Denied ${tool}: ${decision.comment}`)
}
