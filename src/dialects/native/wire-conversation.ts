import { z } from 'zod'
import { eventContent, question } from './wire-event.ts'
import { time } from './wire-base.ts'
import { mode, usage } from './wire-turn.ts'

/* What is under way in a conversation, for the generated documents: see `wire-event.ts`. */

const text = z.string()
const maybe = text.nullable()

const userMessage = z.object({
  id: text.describe("the turn's id, or the steer's"),
  content: z.array(eventContent).readonly(),
  key: maybe,
  origin: maybe,
  steer: z.boolean(),
  sentAt: time,
})

const message = z.object({
  id: text,
  kind: z.enum(['text', 'thinking']),
  text: text.describe('all there is of it so far'),
  parent: maybe,
  openedAt: time,
  open: z.boolean(),
  aborted: z.boolean(),
})

const call = z.object({
  id: text,
  tool: text,
  input: z.unknown(),
  state: z.enum(['asked', 'running', 'refused', 'done', 'failed']),
  output: maybe,
  cut: z.number(),
  parent: maybe,
  startedAt: time,
  seq: z.number(),
  begun: z.boolean(),
  external: z.boolean(),
  usage: usage.exactOptional(),
})

const asked = z.object({
  approval: question,
  turnId: maybe,
  external: z.boolean(),
  timeoutAt: time.nullable(),
  asked: z.boolean(),
  callId: text,
})

export const conversationParts = z.object({
  turn: z
    .object({ id: text, mode: mode.nullable(), model: maybe, interrupting: z.boolean() })
    .nullable()
    .describe('the turn that runs'),
  waiting: z.array(userMessage).readonly(),
  open: z.array(message).readonly(),
  calls: z.array(call).readonly(),
  questions: z.array(asked).readonly(),
  denied: z.array(text).readonly(),
})
