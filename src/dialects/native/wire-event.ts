import { z } from 'zod'
import { TOOL_CLASSES } from '../../core/about.ts'
import { EFFORTS } from '../../core/effort.ts'
import { decision, rules } from './wire-approval.ts'
import { marks } from './wire-attention.ts'
import { approvalId, id, seq, sessionId, time, turnId } from './wire-base.ts'
import { hunk } from './wire-change.ts'
import { failure, mode, planEntry, usage } from './wire-turn.ts'
import { settings } from './wire.ts'

/*
 * Every kind of event, for the generated documents and for the types of the client. The daemon itself never checks an event
 * against these: it wrote them. test/client/types.ts compiles only while they say the same as `Event` of core.
 */

const text = z.string()
const maybe = text.nullable()
const count = z.number()
const parent = maybe.describe('the tool call of the sub-agent that this belongs to; null: the agent itself')
const model = maybe
const effort = z.enum(EFFORTS)
const outcome = z.enum(['completed', 'failed', 'interrupted'])
const status = z.enum(['idle', 'running', 'waiting', 'paused', 'destroyed'])

/** As `Content`, but data may have been left out: then it is empty. */
export const eventContent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('text'), text }),
  z.object({ type: z.literal('image'), mediaType: text, data: text }),
  z.object({ type: z.literal('document'), mediaType: z.literal('application/pdf'), data: text }),
])
const input = z.array(eventContent).describe('what the user says')
const messageKind = z.enum(['text', 'thinking'])
const tokens = count.nullable().describe('as far as the agent tells')
const callId = text.describe('as in `tool.started`')
const notThere = 'not there in older logs'

export const about = z.object({
  class: z.enum(TOOL_CLASSES),
  subjects: z.array(text).describe('the command, each path, the address'),
  partly: z.boolean().exactOptional().describe('there is more that is not said'),
})

/** An approval as it is asked; `Approval` of the methods has its state as well. */
export const question = z.object({
  id: approvalId,
  requestId: text.describe("the agent's own name for it"),
  kind: z.enum(['tool', 'question', 'plan']),
  tool: text,
  input: z.unknown(),
  about: about.exactOptional().describe('what rules look at'),
  edits: z.boolean().describe('it changes files and does nothing else'),
  fixed: z.boolean().exactOptional().describe('its input cannot be changed'),
  callId: maybe.describe('the tool call that it is about'),
  summary: maybe.describe('one line for people'),
  suggestions: z.unknown(),
  parent,
  covers: text.exactOptional(),
})

const run = z.object({ id, pid: count, startTime: text, bootId: text })
const branch = z.object({ turnId, seq })
const callResult = z.object({ content: z.array(eventContent), isError: z.boolean() })
const limitWindow = z.object({
  name: text,
  usedPercent: count,
  lengthMs: count.nullable(),
  resetsAt: count.nullable(),
})
const comment = z.object({
  id,
  sessionId,
  path: text,
  side: z.enum(['old', 'new']),
  line: count,
  endLine: count,
  text,
  hunk,
  createdAt: time,
  sentIn: maybe,
})

/** Everything of an event but its frame, by type. */
const agentBodies = {
  'agent.init': {
    nativeId: maybe,
    model,
    version: maybe,
    raw: z.unknown().describe("the agent's own line"),
  },
  'agent.model': { model: text.describe('that it uses from here on') },
  'agent.compacting': { tokens, window: tokens },
  'agent.compacted': {
    tokensBefore: tokens,
    tokensAfter: tokens,
    window: tokens,
    error: maybe.describe('why it could not'),
  },
  'agent.context': { used: tokens, window: tokens },
  'agent.plan': { entries: z.array(planEntry).describe('the whole plan, as it is now') },
  'agent.commands': { commands: z.array(z.object({ name: text, about: maybe })) },
  'agent.notice': {
    level: z.enum(['info', 'warning']),
    code: text,
    message: text,
    data: z.unknown(),
  },
  'agent.other': { kind: text, raw: z.unknown() },
  'agent.limits': { agent: text, plan: text.exactOptional(), windows: z.array(limitWindow) },
  'agent.started': { run, resumed: z.boolean() },
  'agent.exited': {
    runId: text,
    code: count.nullable(),
    signal: maybe,
    stderr: text,
    expected: z.boolean().describe('Corral ended it itself'),
  },
}

const messageBodies = {
  'message.delta': { messageId: text, kind: messageKind, text: text.describe('a piece'), parent },
  'message.completed': {
    messageId: text,
    kind: messageKind,
    text: text.describe('the whole message'),
    parent,
    aborted: z.boolean().describe('cut off by an interrupt or a crash'),
  },
  'tool.started': { callId: text, tool: text, input: z.unknown(), parent },
  'tool.completed': {
    callId,
    output: text,
    isError: z.boolean(),
    parent,
    cut: count.describe('bytes that were cut from `output`'),
    images: z
      .array(z.object({ type: z.literal('image'), mediaType: text, data: text }))
      .readonly()
      .exactOptional(),
    usage: usage.exactOptional().describe('of the sub-agent that it ran'),
  },
}

const sessionBodies = {
  'session.created': {
    agent: text,
    cwd: text,
    mode,
    model,
    effort: effort.nullable().exactOptional(),
    title: maybe,
    settings,
    nativeId: maybe,
    parentId: maybe,
    forkFrom: maybe,
    forkAt: text.exactOptional(),
    branch: branch.exactOptional().describe('the turn after which it branched off'),
    recap: z.literal(true).exactOptional(),
    origin: maybe,
    rules,
    worktreeOf: text.exactOptional(),
  },
  'session.changed': {
    reason: z.enum(['expired', 'agent']).exactOptional().describe('nobody asked for it'),
    mode: mode.exactOptional(),
    model: model.exactOptional(),
    effort: effort.nullable().exactOptional(),
    title: maybe.exactOptional(),
    toldTitle: text.exactOptional().describe('what the agent calls it'),
    nativeId: maybe.exactOptional(),
    paused: z.boolean().exactOptional(),
    modeBeforePlan: mode.nullable().exactOptional(),
    rules: rules.exactOptional(),
    archived: z.boolean().exactOptional(),
    notes: z.record(text, z.unknown()).readonly().exactOptional(),
    forkFrom: z.null().exactOptional(),
    forkAt: z.null().exactOptional(),
    recap: z.boolean().exactOptional(),
  },
  'session.status': { status, previous: status, outcome: outcome.nullable().describe('of the last turn') },
  'session.marked': {
    readSeq: marks.shape.readSeq.exactOptional(),
    pinned: marks.shape.pinned.exactOptional(),
    snoozedUntil: marks.shape.snoozedUntil.exactOptional(),
    settled: marks.shape.settled.exactOptional(),
    flags: z.array(text).readonly().exactOptional(),
  },
  'session.drafted': { text, revision: count },
  'session.destroyed': {},
}

const turnBodies = {
  'turn.queued': {
    turnId,
    input,
    key: maybe,
    origin: maybe,
    position: count.describe('0: starts at once; n: the n-th in the queue'),
    late: z.literal(true).exactOptional().describe('a steer that its turn ended without'),
  },
  'turn.accepted': { turnId },
  'turn.started': {
    turnId,
    agent: text.exactOptional().describe(notThere),
    mode: mode.exactOptional().describe(notThere),
    model: model.exactOptional().describe(notThere),
  },
  'turn.retried': { turnId, reason: text },
  'turn.interrupting': { turnId, reason: z.literal('stopping').exactOptional() },
  'turn.steered': { turnId, steerId: text, input, key: maybe, origin: maybe },
  'turn.steer_accepted': { turnId, steerId: text, input, origin: maybe },
  'turn.completed': {
    turnId,
    usage,
    text: maybe.describe("the agent's last words"),
    branch: z.object({ nativeId: text, message: text }).exactOptional(),
  },
  'turn.failed': { turnId, usage, error: failure },
  'turn.interrupted': { turnId, usage },
  'turn.moved': { turnId, position: count },
  'turn.edited': { turnId, input },
  'turn.cancelled': { turnId, reason: text, steered: text.exactOptional() },
}

const approvalBodies = {
  'approval.requested': {
    turnId: maybe,
    approval: question,
    open: z.boolean().describe('false: mode or rules answer it at once'),
    external: z.boolean().describe("asked from outside, not by the agent's own process"),
    timeoutAt: time.nullable().describe('refused then; null: it waits for ever'),
  },
  'approval.resolved': {
    approvalId,
    decision,
    by: text,
    asked: z.boolean().exactOptional().describe('a human had been asked'),
    device: text.exactOptional().describe('name of the device that it came from'),
  },
  'approval.deferred': { approvalId, until: time.nullable() },
  'approval.delivered': { approvalId },
  'call.held': { callId, requestId: text, ref: z.unknown().exactOptional(), tool: text, input: z.unknown() },
  'call.answered': { callId, result: callResult },
  'call.delivered': { callId },
  'call.dropped': { callId },
}

const fileBodies = {
  'checkpoint.taken': {
    checkpointId: text,
    kind: z.enum(['before', 'after', 'undo', 'restored']),
    tree: text,
    ref: text,
    repository: text,
    files: count.nullable(),
    left: z.array(text),
  },
  'checkpoint.restored': { checkpointId: text, undo: text, tree: text, files: count },
  'review.added': { comment },
  'review.updated': { commentId: text, text },
  'review.removed': { commentId: text },
  'review.sent': { commentIds: z.array(text), turnId },
}

const project = { name: text, rootPath: maybe, description: maybe, orgSlug: maybe }
const projectId = text

const daemonBodies = {
  'daemon.renamed': { name: text },
  'directory.changed': { path: text, rules },
  'project.created': { projectId, repos: z.array(text), ...project },
  'project.updated': {
    projectId,
    name: project.name.exactOptional(),
    rootPath: project.rootPath.exactOptional(),
    description: project.description.exactOptional(),
    orgSlug: project.orgSlug.exactOptional(),
  },
  'project.deleted': { projectId },
  'project.repo_added': { projectId, path: text },
  'project.repo_removed': { projectId, path: text },
  'device.paired': {
    deviceId: text,
    name: text,
    platform: z.enum(['ios', 'android', 'macos', 'windows', 'linux', 'web', 'other']),
    scopes: z.array(z.enum(['use', 'manage'])),
  },
  'device.renamed': { deviceId: text, name: text },
  'device.revoked': { deviceId: text },
}

const BODIES = {
  ...sessionBodies,
  ...turnBodies,
  ...messageBodies,
  ...agentBodies,
  ...approvalBodies,
  ...fileBodies,
  ...daemonBodies,
}

const frame = {
  seq: seq.describe('its number in the log'),
  at: time,
  sessionId: text.describe('empty: it belongs to no session'),
}
const during = {
  turnId: maybe.exactOptional().describe('the turn that it happened in'),
  machine: text.exactOptional().describe('the machine that it happened on; not there: this one'),
  ownerSeq: seq.exactOptional().describe('its number in the log of that machine'),
}

type Bodies = typeof BODIES
type Frame = typeof frame & typeof during
type EventSchemas = {
  [T in keyof Bodies]: z.ZodObject<{ type: z.ZodLiteral<T> } & Omit<Frame, keyof Bodies[T]> & Bodies[T]>
}

/** One schema for each type of event. */
export const EVENTS = Object.fromEntries(
  Object.entries(BODIES).map(([type, body]) => [
    type,
    z.object({ type: z.literal(type), ...frame, ...during, ...body }),
  ]),
) as unknown as EventSchemas
