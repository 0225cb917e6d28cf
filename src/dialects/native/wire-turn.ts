import { z } from 'zod'
import { MODES } from '../../core/mode.ts'
import { decision } from './wire-approval.ts'
import { id, seq, sessionId, time } from './wire-base.ts'

/** Turns, and what was said and done in them. */

export const mode = z.enum(MODES).describe('what the agent may do without asking')

export const content = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), mediaType: z.string().min(1), data: z.base64().min(1) }),
  z.strictObject({
    type: z.literal('document'),
    mediaType: z.literal('application/pdf'),
    data: z.base64().min(1),
  }),
])

export const message = z
  .union([z.string().min(1), z.array(content).min(1).max(100)])
  .describe('a text, or pieces of text, images and documents (base64)')

export const usage = z.object({
  inputTokens: z.number(),
  outputTokens: z.number(),
  cacheReadTokens: z.number(),
  cacheWriteTokens: z.number(),
  costUsd: z.number().nullable(),
  modelCalls: z.number(),
  durationMs: z.number(),
})

export const failure = z.object({
  code: z.string(),
  message: z.string(),
  detail: z.record(z.string(), z.unknown()).exactOptional(),
})

/** Of a turn that an older Corral began it is not known. */
export const ranWith = {
  mode: mode.nullable().describe('that it runs in, or ran in last; null: it has not begun'),
  model: z.string().nullable().describe('that it runs with, as far as the agent has told'),
}

export const turnView = z.object({
  id,
  sessionId,
  state: z.enum(['queued', 'running', 'completed', 'failed', 'interrupted', 'cancelled']),
  input: z.array(content),
  key: z.string().nullable(),
  origin: z.string().nullable(),
  queuedAt: time,
  startedAt: time.nullable(),
  endedAt: time.nullable(),
  seq,
  usage: usage.nullable(),
  error: failure.nullable(),
  text: z.string().nullable().describe("the agent's last words in it"),
  agent: z.string().nullable(),
  ...ranWith,
})
export type TurnView = z.output<typeof turnView>

export const planEntry = z.object({ text: z.string(), state: z.enum(['pending', 'active', 'done']) })

const place = { seq, at: time, turnId: z.string().nullable() }
const parent = z.string().nullable().describe('the tool call of the sub-agent that this belongs to')

const asked = z.boolean().describe('a human was asked; false: a mode or a rule answered at once')

export const historyItem = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('user'),
    ...place,
    content: z.array(content),
    origin: z.string().nullable(),
    mode: ranWith.mode.exactOptional().describe('of its turn, at the beginning of one'),
    model: ranWith.model.exactOptional(),
  }),
  z.object({
    kind: z.enum(['assistant', 'thinking']),
    ...place,
    messageId: z.string(),
    text: z.string(),
    aborted: z.boolean(),
    parent,
  }),
  z.object({
    kind: z.literal('tool'),
    ...place,
    callId: z.string(),
    tool: z.string(),
    input: z.unknown(),
    parent,
  }),
  z.object({
    kind: z.literal('result'),
    ...place,
    callId: z.string(),
    output: z.string(),
    isError: z.boolean(),
    cut: z.number(),
    parent,
  }),
  z.object({
    kind: z.literal('approval'),
    ...place,
    approvalId: z.string(),
    ask: z.enum(['tool', 'question', 'plan']),
    tool: z.string(),
    input: z.unknown(),
    summary: z.string().nullable(),
    asked,
  }),
  z.object({
    kind: z.literal('decision'),
    ...place,
    approvalId: z.string(),
    decision,
    by: z.string(),
    asked,
  }),
  z.object({
    kind: z.literal('plan'),
    ...place,
    entries: z.array(planEntry),
  }),
  z.object({
    kind: z.literal('notice'),
    ...place,
    level: z.enum(['info', 'warning']),
    code: z.string(),
    message: z.string(),
  }),
  z.object({
    kind: z.literal('compacted'),
    ...place,
    tokensBefore: z.number().nullable(),
    tokensAfter: z.number().nullable(),
    error: z.string().nullable().describe('why the agent could not sum up its conversation'),
  }),
  z.object({
    kind: z.literal('end'),
    ...place,
    outcome: z.enum(['completed', 'failed', 'interrupted']),
    usage,
    error: failure.nullable(),
  }),
])
export type HistoryItem = z.output<typeof historyItem>
