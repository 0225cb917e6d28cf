import { z } from 'zod'
import { HumanLayerError } from './method.ts'
import { isObject } from './text.ts'

/** What clients send. They send null and "" for what they do not want to say; what they do not know is ignored. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((value) => value ?? undefined)
}

/** What is wrong with a parameter that is absent, null or blank; clients know the refusal in these words. */
export const REQUIRED = 'is required'
const absent = {
  error: ({ input }: { input?: unknown }) => ((input ?? null) === null ? REQUIRED : undefined),
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
const neededText = z.string(absent).refine((value) => value.trim() !== '', REQUIRED)
const neededFlag = z.boolean(absent)

const session_id = neededText.describe('either id of the session')
const ofSession = text.describe('either id of a session: only what belongs to it')

/** What an agent is started with; the same for a new session and for one that goes on. */
const agentParams = {
  query: neededText.describe('the first message'),
  model: text,
  mcp_config: optional(
    z.union([z.string(), z.record(z.string(), z.unknown())], 'expected an object or a JSON string'),
  ).describe('MCP servers, with or without the outer `mcpServers`'),
  permission_prompt_tool: text.describe('see [Approvals](#approvals)'),
  system_prompt: text,
  append_system_prompt: text,
  custom_instructions: text,
  allowed_tools: texts,
  disallowed_tools: texts,
  additional_directories: texts,
  max_turns: count,
  verbose: flag.describe('also show what the agent says about itself, as `system` entries'),
  title: text,
  approval_timeout_ms: ms.describe('refuse what nobody answers within this time'),
}

export const noParams = z.unknown()

export const launchParams = z.object({
  ...agentParams,
  agent: text.describe('`humanlayer.agent` if not given'),
  working_dir: text.describe('the directory that the daemon was started in, if not given'),
  auto_accept_edits: flag,
  dangerously_skip_permissions: flag,
  dangerously_skip_permissions_timeout: ms.describe('milliseconds; for good if not given'),
})
export type LaunchParams = z.output<typeof launchParams>

export const continueParams = z.object({
  session_id,
  ...agentParams,
  proxy_enabled: flag.describe('refused if true'),
})
export type ContinueParams = z.output<typeof continueParams>
export type AgentParams = Omit<ContinueParams, 'session_id' | 'proxy_enabled'>

export const sessionParams = z.object({ session_id })

export const listParams = z.object({
  limit: count.describe('1,000 at most'),
  cursor: text.describe('`next_cursor` of the page before'),
  archived: flag.describe('only those that are archived, or are not'),
})
export const leavesParams = z.object({
  filter: text.describe('`normal` or `archived`; `draft` is always empty, anything else is all'),
})
export const pathsParams = z.object({ limit: count.describe('20 if not given, 1,000 at most') })

export const settingsParams = z.object({
  session_id,
  auto_accept_edits: flag,
  dangerously_skip_permissions: flag,
  dangerously_skip_permissions_timeout_ms: ms.describe('for good if not given'),
})

export const archiveParams = z.object({ session_id, archived: neededFlag })
export const bulkArchiveParams = z.object({
  session_ids: z.array(z.string(), absent).min(1, REQUIRED),
  archived: neededFlag,
})
export const titleParams = z.object({ session_id, title: z.string(absent).describe('"" takes it away') })

export const conversationParams = z.object({
  session_id: text.describe('either id of the session; its ancestors come first'),
  claude_session_id: text.describe('instead of it; an empty list if nobody has it'),
  since: count.describe('only what has a greater `id`'),
  limit: count,
})

export const openApprovalsParams = z.object({ session_id: ofSession })
export const approvalsParams = z.object({
  session_id: ofSession,
  open: flag.describe('false: those that are decided, too'),
  limit: count.describe('1,000 at most'),
})
export const approvalParams = z.object({
  approval_id: neededText,
  wait_ms: ms.describe('answer when it is decided, or after this time; 25,000 at most'),
})

export const createApprovalParams = z.object({
  run_id: neededText.describe('either id of the session'),
  tool_name: neededText,
  tool_input: z
    .unknown()
    .refine((value) => value !== undefined, REQUIRED)
    .describe('null is an input like any other'),
  tool_use_id: text,
  type: text.describe('`function_call`, which it is if not given, or `human_contact`'),
  timeout_ms: ms,
})

export const decisionParams = z.object({
  approval_id: text,
  call_id: text.describe('the same id under its older name; one of the two is needed'),
  type: text.describe('`function_call` or `human_contact`; if given, it must be right'),
  decision: text.describe('needed: `approve`, `deny` or `respond`'),
  comment: text.describe('needed to deny and to respond'),
  updated_input: optional(z.custom<Record<string, unknown>>(isObject, 'expected an object')).describe(
    'run the tool with this input',
  ),
  remember: optional(z.enum(['session', 'directory'])).describe('let the same thing pass from now on'),
})
export type DecisionParams = z.output<typeof decisionParams>

export const subscribeParams = z.object({
  event_types: texts.describe('only these; all if empty'),
  session_id: ofSession,
  run_id: text.describe('the same'),
  since: count.describe('first everything after this `seq`'),
})
export type SubscribeParams = z.output<typeof subscribeParams>

export const unsubscribeParams = z.object({ subscription_id: neededText })

export function wrong(message: string, field: string): HumanLayerError {
  return new HumanLayerError(message, { code: 'invalid_params', field })
}
