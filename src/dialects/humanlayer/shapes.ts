import { z } from 'zod'

/** What clients get. A field that may be absent is never null, and the other way round. */
const time = z.string().describe('ISO 8601, UTC')
const object = z.record(z.string(), z.unknown())

/** All that old clients know; they refuse a list with any other. */
export const STATUSES = ['starting', 'running', 'completed', 'failed', 'waiting_input'] as const

const turnResult = z.object({
  type: z.literal('result'),
  subtype: z.literal('session_completed'),
  total_cost_usd: z.number(),
  is_error: z.boolean(),
  duration_ms: z.number(),
  duration_api_ms: z.number(),
  num_turns: z.number(),
  result: z.string().describe('what the agent said last'),
  session_id: z.string(),
  error: z.string().exactOptional(),
})

/** A session with the fields of every age of this protocol, and nothing that is secret. */
export const session = z.object({
  id: z.string(),
  run_id: z.string(),
  claude_session_id: z.string(),
  parent_session_id: z.string().nullable(),
  status: z.enum(STATUSES),
  outcome: z.enum(['completed', 'failed', 'interrupted']).exactOptional(),
  start_time: time,
  created_at: time,
  last_activity_at: time,
  end_time: time.exactOptional(),
  completed_at: time.nullable(),
  error: z.string().exactOptional(),
  error_message: z.string(),
  query: z.string(),
  summary: z.string(),
  title: z.string(),
  model: z.string().exactOptional(),
  model_id: z.string().exactOptional(),
  agent: z.string(),
  mode: z.string(),
  working_dir: z.string(),
  archived: z.boolean(),
  auto_accept_edits: z.boolean(),
  dangerously_skip_permissions: z.boolean(),
  dangerously_skip_permissions_expires_at: time.exactOptional(),
  pending_approvals: z.number(),
  turn_count: z.number(),
  cost_usd: z.number(),
  duration_ms: z.number(),
  input_tokens: z.number(),
  output_tokens: z.number(),
  cache_creation_input_tokens: z.number(),
  cache_read_input_tokens: z.number(),
  total_tokens: z.number(),
  effective_context_tokens: z.number(),
  context_limit: z.number(),
  result: turnResult.exactOptional(),
})
export type SessionView = z.output<typeof session>

const ids = { run_id: z.string(), call_id: z.string() }
const responded = { responded_at: time.exactOptional(), comment: z.string().exactOptional() }
const asked = { requested_at: time, ...responded }

/** The shapes that the first clients knew. */
const functionCall = z.object({
  ...ids,
  spec: z.object({ fn: z.string(), kwargs: object }),
  status: z.object({ ...asked, approved: z.boolean().exactOptional() }),
})
const option = z.object({ name: z.string(), description: z.string().exactOptional() })
const contactSpec = z.object({
  msg: z.string(),
  subject: z.string().exactOptional(),
  response_options: z.array(option).exactOptional(),
})
export type ContactSpec = z.output<typeof contactSpec>
const humanContact = z.object({
  ...ids,
  spec: contactSpec,
  status: z.object({ ...asked, response: z.string().exactOptional() }),
})

/** An approval with the fields of every age of this protocol: a client takes those that it knows. */
export const approval = z.object({
  id: z.string(),
  ...ids,
  session_id: z.string(),
  type: z.enum(['function_call', 'human_contact']),
  status: z.enum(['pending', 'approved', 'denied', 'responded']),
  tool_name: z.string(),
  tool_input: z.unknown(),
  tool_use_id: z.string().exactOptional(),
  updated_input: z.unknown().exactOptional(),
  function_name: z.string(),
  function_args: object,
  requested_at: time,
  created_at: time,
  timeout_at: time.nullable(),
  ...responded,
  decided_by: z.string().exactOptional(),
  function_call: functionCall.exactOptional(),
  human_contact: humanContact.exactOptional(),
})
export type ApprovalView = z.output<typeof approval>

/** One thing in a conversation, as `getConversation` answers it. */
export const conversationEvent = z.object({
  id: z.number().describe('the `seq` of what it was made of: clients page by it'),
  session_id: z.string(),
  claude_session_id: z.string(),
  sequence: z.number().describe('from 1 in each session'),
  created_at: time,
  event_type: z.enum(['message', 'thinking', 'tool_call', 'tool_result', 'system']),
  role: z.enum(['user', 'assistant', 'system']).exactOptional(),
  content: z.string().exactOptional(),
  tool_id: z.string().exactOptional(),
  tool_name: z.string().exactOptional(),
  tool_input_json: z.string().exactOptional(),
  tool_result_for_id: z.string().exactOptional(),
  tool_result_content: z.string().exactOptional(),
  truncated_bytes: z.number().exactOptional().describe('how much of the result was not kept'),
  is_error: z.literal(true).exactOptional(),
  parent_tool_use_id: z.string().exactOptional(),
  is_completed: z.boolean(),
  approval_status: z.enum(['pending', 'approved', 'denied', 'resolved']).nullable(),
  approval_id: z.string().nullable(),
})
export type ConversationEvent = z.output<typeof conversationEvent>

/** A file as the agent saw it. */
export const snapshot = z.object({
  tool_id: z.string(),
  file_path: z.string(),
  content: z.string(),
  created_at: time,
})
export type Snapshot = z.output<typeof snapshot>

export const recentPath = z.object({ path: z.string(), last_used: time, usage_count: z.number() })

export const launched = z.object({ session_id: z.string(), run_id: z.string() })
export type Launched = z.output<typeof launched>

export const continued = launched.extend({ claude_session_id: z.string(), parent_session_id: z.string() })
export type Continued = z.output<typeof continued>

export const done = z.object({ success: z.literal(true) })

export const approvals = z.object({
  approvals: z.array(approval),
  more: z.literal(true).exactOptional().describe('there were more than 16 MiB of inputs'),
})
