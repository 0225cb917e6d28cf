import { z } from 'zod'
import type { ConversationParts } from '../../core/conversation/parts.ts'
import type { Event, EventType } from '../../core/event.ts'
import { EFFORTS } from '../../core/effort.ts'
import { rules, someRules } from './wire-approval.ts'
import { attention, marks } from './wire-attention.ts'
import { id, key, machine, origin, seq, sessionId, time } from './wire-base.ts'
import { failure, mode, ranWith, usage } from './wire-turn.ts'

export * from './wire-approval.ts'
export * from './wire-attention.ts'
export * from './wire-base.ts'
export * from './wire-change.ts'
export * from './wire-device.ts'
export * from './wire-project.ts'
export * from './wire-relay.ts'
export * from './wire-signin.ts'
export * from './wire-system.ts'
export * from './wire-turn.ts'

/** What goes over the wire, in both directions. Times are milliseconds since 1970. */

const model = z.string().min(1).max(200)
const effort = z.enum(EFFORTS)
export const wantedEffort = effort
  .nullable()
  .describe(
    'how long the agent thinks; if its model has no such level, the nearest. null: as it does by itself',
  )
const title = z.string().max(500)

export const settings = z.strictObject({
  systemPrompt: z.string().exactOptional(),
  appendSystemPrompt: z.string().exactOptional(),
  allowedTools: z.array(z.string()).exactOptional(),
  disallowedTools: z.array(z.string()).exactOptional(),
  maxTurns: z.int().min(1).exactOptional(),
  mcpConfig: z.unknown().exactOptional(),
  additionalDirectories: z.array(z.string().startsWith('/')).exactOptional().describe('absolute paths'),
  customInstructions: z.string().exactOptional().describe('told to the agent beside its prompt'),
  permissionPromptTool: z
    .string()
    .exactOptional()
    .describe('an MCP tool of yours that is asked for permission, instead of Corral'),
  approvalTimeoutMs: z
    .int()
    .min(1)
    .max(365 * 24 * 60 * 60 * 1000)
    .exactOptional()
    .describe('a question that nobody answers is refused after this long'),
  verbose: z.boolean().exactOptional(),
  clientTools: z
    .array(
      z.strictObject({
        name: z.string().regex(/^[\w-]{1,64}$/),
        description: z.string(),
        inputSchema: z.record(z.string(), z.unknown()).describe('JSON Schema'),
      }),
    )
    .max(200)
    .exactOptional()
    .describe('tools that you carry out: each call is an event `call.held`, answered with `call.answer`'),
  ownTools: z.boolean().exactOptional().describe('false: the agent has no tools but yours'),
  questions: z
    .boolean()
    .exactOptional()
    .describe(
      'false: nobody can answer questions; the agent is not offered a tool for them, and one that comes is refused',
    ),
})

export const createParams = z.strictObject({
  machine: machine.exactOptional(),
  agent: z.string().min(1).max(64),
  cwd: z.string().min(1).describe('directory that the agent works in'),
  worktree: z
    .boolean()
    .default(false)
    .describe('in a git worktree of its own instead, made from the repository that `cwd` is in'),
  carry: z.boolean().default(false).describe('uncommitted work comes along into the worktree'),
  branch: z
    .string()
    .min(1)
    .max(200)
    .exactOptional()
    .describe(
      'the name of the branch of that worktree, which must be free; otherwise one is made of the title',
    ),
  about: z
    .string()
    .max(10_000)
    .exactOptional()
    .describe('what the first message will be about: without a title, the branch is named after it'),
  mode: mode.exactOptional(),
  model: model.nullable().exactOptional(),
  effort: wantedEffort.exactOptional(),
  title: title.nullable().exactOptional(),
  settings: settings.exactOptional(),
  rules: rules.exactOptional(),
  nativeId: id.nullable().exactOptional().describe("a conversation of the agent's own, to go on with"),
  id: z
    .uuid()
    .exactOptional()
    .describe('its id, where you had to know it before; one that is taken is refused'),
  key: key.exactOptional(),
  origin: origin.exactOptional(),
})

export const configureParams = z.strictObject({
  rules: someRules.exactOptional().describe('what is given replaces what was'),
  sessionId,
  mode: mode.exactOptional(),
  plan: z.boolean().exactOptional().describe('in place of a mode: into plan mode, or back out of it'),
  model: model.nullable().exactOptional(),
  effort: wantedEffort.exactOptional(),
  title: title.nullable().exactOptional(),
  archived: z.boolean().exactOptional().describe('out of sight, not gone'),
  nativeId: id
    .nullable()
    .exactOptional()
    .describe("go on with this conversation of the agent's own; null: a fresh one"),
})

export const sessionView = z.object({
  id,
  machine: machine.exactOptional(),
  agent: z.string(),
  cwd: z.string(),
  title: z.string().nullable().describe('as somebody has named it'),
  name: z
    .string()
    .nullable()
    .describe('what to call it: its title, or what its agent calls it, or how its first message begins'),
  mode,
  model: z.string().nullable().describe('the one that was chosen; null: the agent chooses'),
  modelInUse: z
    .string()
    .nullable()
    .describe('the one that the agent says it uses; until it has said so, the chosen one'),
  effort: wantedEffort,
  status: z.enum(['idle', 'running', 'waiting', 'paused', 'destroyed']),
  tier: z.enum(['active', 'warm', 'cold']),
  nativeId: z.string().nullable(),
  parentId: z.string().nullable().describe('the session that it branched off'),
  branch: z
    .object({ turnId: id, seq: seq.describe('of the end of that turn') })
    .nullable()
    .describe('the turn after which it branched off; null: it went on from where that session was'),
  origin: z.string().nullable(),
  createdAt: time,
  activeAt: time,
  turn: z
    .object({
      id,
      startedAt: time,
      startedSeq: seq,
      accepted: z.boolean(),
      attempts: z.number(),
      interrupting: z.boolean(),
      ...ranWith,
    })
    .nullable(),
  queued: z.number().describe('messages that wait'),
  steering: z.number().describe('messages to the running turn that the agent has not taken yet'),
  openApprovals: z.number(),
  archived: z.boolean(),
  turnCount: z.number(),
  usage,
  lastOutcome: z
    .enum(['completed', 'failed', 'interrupted'])
    .nullable()
    .describe('of the last turn that is over'),
  lastError: failure.nullable(),
  attention,
  marks,
  pid: z.number().nullable().describe("the agent's process"),
  rules,
  settings: settings.omit({ mcpConfig: true }).describe('without mcpConfig, which may hold secrets'),
})
export type SessionView = z.output<typeof sessionView>

export const searchHit = z.object({
  sessionId,
  machine: machine.exactOptional(),
  turnId: z.string().nullable(),
  seq: seq.describe('of the event in which it was said'),
  at: time,
  role: z.enum(['user', 'assistant']),
  text: z.string().describe('the part around what was found'),
  marks: z
    .array(z.tuple([z.number(), z.number()]))
    .describe('what was found, as ranges of characters in `text`'),
})

/** Checked for its frame only: the kinds of events are listed in core. */
export const event = z.custom<Event>(
  (value) =>
    typeof value === 'object' && value !== null && 'seq' in value && 'type' in value && 'sessionId' in value,
)

/** Checked for its frame only: core has the shape of a conversation. */
export const conversationParts = z.custom<ConversationParts>(
  (value) => typeof value === 'object' && value !== null && 'turn' in value && 'calls' in value,
)

export const EVENT_TYPES: Record<EventType, true> = {
  'agent.init': true,
  'agent.model': true,
  'turn.accepted': true,
  'message.delta': true,
  'message.completed': true,
  'tool.started': true,
  'tool.completed': true,
  'agent.context': true,
  'agent.compacting': true,
  'agent.compacted': true,
  'agent.limits': true,
  'checkpoint.taken': true,
  'checkpoint.restored': true,
  'review.added': true,
  'review.updated': true,
  'review.removed': true,
  'review.sent': true,
  'agent.plan': true,
  'agent.commands': true,
  'agent.notice': true,
  'agent.other': true,
  'session.created': true,
  'session.changed': true,
  'session.status': true,
  'session.marked': true,
  'session.drafted': true,
  'session.destroyed': true,
  'turn.queued': true,
  'turn.started': true,
  'turn.retried': true,
  'turn.interrupting': true,
  'turn.steered': true,
  'turn.steer_accepted': true,
  'turn.completed': true,
  'turn.failed': true,
  'turn.interrupted': true,
  'turn.moved': true,
  'turn.edited': true,
  'turn.cancelled': true,
  'approval.requested': true,
  'approval.resolved': true,
  'approval.deferred': true,
  'approval.delivered': true,
  'call.held': true,
  'call.answered': true,
  'call.delivered': true,
  'call.dropped': true,
  'agent.started': true,
  'agent.exited': true,
  'daemon.renamed': true,
  'directory.changed': true,
  'project.created': true,
  'project.updated': true,
  'project.deleted': true,
  'project.repo_added': true,
  'project.repo_removed': true,
  'device.paired': true,
  'device.renamed': true,
  'device.revoked': true,
}
export const eventTypes = z
  .array(z.enum(Object.keys(EVENT_TYPES) as [EventType, ...EventType[]]))
  .min(1)
  .describe('only events of these types')

export const agentReport = z.object({
  name: z.string(),
  title: z.string(),
  installed: z.boolean(),
  path: z.string().nullable(),
  version: z.string().nullable(),
  problem: z.string().nullable().describe('why it is not installed, and what to do about it'),
  signedIn: z.boolean().nullable().describe('null: it cannot be told'),
  signIn: z.string().nullable().describe('how a human signs in; null when that is done'),
  capabilities: z.object({
    streaming: z.boolean(),
    thinking: z.boolean(),
    approvals: z.boolean(),
    images: z.boolean(),
    documents: z.boolean(),
    resume: z.boolean(),
    relocate: z.boolean(),
    fork: z.boolean(),
    cost: z.boolean(),
    setModel: z.boolean(),
    effort: z.boolean(),
    setMode: z.boolean(),
    steer: z.boolean(),
    editInput: z.boolean(),
    denyComment: z.boolean(),
    pause: z.boolean(),
    survivesRestart: z.boolean(),
    clientTools: z.boolean(),
    bare: z.boolean(),
    compact: z.boolean(),
  }),
  unasked: z
    .record(
      z.string(),
      z.object({
        what: z.string().describe('for people'),
        all: z.boolean().exactOptional().describe('about none of this class'),
        such: z.array(z.string()).readonly().exactOptional(),
      }),
    )
    .describe('what it does without a question, by class of tools: no rule can keep it from that'),
})

export const agentModel = z.object({
  id: z.string().describe('as `model` of a session'),
  name: z.string().describe('for people'),
  description: z.string().exactOptional(),
  efforts: z.array(effort).exactOptional().describe('in rising order'),
  defaultEffort: effort.exactOptional(),
  contextWindow: z.number().exactOptional().describe('in tokens'),
})
