import { z } from 'zod'
import { HumanLayerError } from './method.ts'
import { isObject } from './text.ts'

/** What clients send. They send null and "" for what they do not want to say; what they do not know is ignored. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined)
}

const text = optional(z.string())
const texts = optional(z.array(z.string()))
const flag = optional(z.boolean())
const count = optional(z.int().min(0))
const ms = optional(
  z
    .int()
    .min(0)
    .max(Number.MAX_SAFE_INTEGER / 2),
)

/** What an agent is started with; the same for a new session and for one that goes on. */
const agentParams = {
  query: text,
  model: text,
  mcp_config: optional(
    z.union([z.string(), z.record(z.string(), z.unknown())], 'expected an object or a JSON string'),
  ),
  permission_prompt_tool: text,
  system_prompt: text,
  append_system_prompt: text,
  custom_instructions: text,
  allowed_tools: texts,
  disallowed_tools: texts,
  additional_directories: texts,
  max_turns: count,
  verbose: flag,
  title: text,
  approval_timeout_ms: ms,
}

export const noParams = z.unknown()

export const launchParams = z.object({
  ...agentParams,
  agent: text,
  working_dir: text,
  auto_accept_edits: flag,
  dangerously_skip_permissions: flag,
  dangerously_skip_permissions_timeout: ms,
})
export type LaunchParams = z.output<typeof launchParams>

export const continueParams = z.object({ ...agentParams, session_id: text, proxy_enabled: flag })
export type ContinueParams = z.output<typeof continueParams>
export type AgentParams = Omit<ContinueParams, 'session_id' | 'proxy_enabled'>

export const sessionParams = z.object({ session_id: text })

export const listParams = z.object({ limit: count, cursor: text, archived: flag })
export const leavesParams = z.object({ filter: text })
export const pathsParams = z.object({ limit: count })

export const settingsParams = z.object({
  session_id: text,
  auto_accept_edits: flag,
  dangerously_skip_permissions: flag,
  dangerously_skip_permissions_timeout_ms: ms,
})

export const archiveParams = z.object({ session_id: text, archived: flag })
export const bulkArchiveParams = z.object({ session_ids: texts, archived: flag })
export const titleParams = z.object({ session_id: text, title: text })

export const conversationParams = z.object({
  session_id: text,
  claude_session_id: text,
  since: count,
  limit: count,
})

export const approvalsParams = z.object({ session_id: text, open: flag, limit: count })
export const approvalParams = z.object({ approval_id: text, wait_ms: ms })

export const createApprovalParams = z.object({
  run_id: text,
  tool_name: text,
  /** Null is an input like any other. */
  tool_input: z.unknown().optional(),
  tool_use_id: text,
  type: text,
  timeout_ms: ms,
})

export const decisionParams = z.object({
  approval_id: text,
  call_id: text,
  type: text,
  decision: text,
  comment: text,
  updated_input: optional(z.custom<Record<string, unknown>>(isObject, 'expected an object')),
  remember: optional(z.enum(['session', 'project'])),
})
export type DecisionParams = z.output<typeof decisionParams>

/** A value that is neither absent nor blank, or the refusal that clients know. */
export function required(value: string | undefined, field: string): string {
  if (value === undefined || value.trim() === '') throw wrong(`${field} is required`, field)
  return value
}

export function wrong(message: string, field: string): HumanLayerError {
  return new HumanLayerError(message, { code: 'invalid_params', field })
}
