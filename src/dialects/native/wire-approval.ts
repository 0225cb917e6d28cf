import { z } from 'zod'
import { TOOL_CLASSES } from '../../core/about.ts'
import { approvalId, id, machine, origin, sessionId, time } from './wire-base.ts'
import { fileChange } from './wire-change.ts'

const ruleList = z.array(z.string().min(1).max(1000)).max(1000)

const ruleFields = {
  allow: ruleList.describe('what passes: `edit`, `mcp__files__*`, `shell(git log*)`; see rules.md'),
  deny: ruleList.describe('what is refused; wins over everything else'),
  acceptEdits: z.boolean().describe('edits of files pass'),
  skipUntil: z.int().min(0).nullable().describe('everything passes until this time (ms since 1970)'),
}

/** What is allowed or refused without asking again. */
export const rules = z.strictObject(ruleFields)

export const someRules = z.strictObject({
  allow: ruleFields.allow.exactOptional(),
  deny: ruleFields.deny.exactOptional(),
  acceptEdits: ruleFields.acceptEdits.exactOptional(),
  skipUntil: ruleFields.skipUntil.exactOptional(),
})

export const directory = z.object({
  path: z.string().describe('the rules hold for every session in this directory and below'),
  rules,
})

const by = origin.exactOptional()
const answers = z
  .record(z.string(), z.string())
  .exactOptional()
  .describe('for a question: answers by question text')

export const decideParams = z.discriminatedUnion('behavior', [
  z.strictObject({
    approvalId,
    behavior: z.literal('allow'),
    input: z.unknown().exactOptional().describe('run the tool with this input instead'),
    answers,
    forSession: z.boolean().exactOptional().describe('and do not ask again in this session'),
    forDirectory: z.boolean().exactOptional().describe('nor in any other session of this directory'),
    comment: z.string().max(100_000).exactOptional().describe('for the record'),
    by,
  }),
  z.strictObject({
    approvalId,
    behavior: z.literal('deny'),
    comment: z.string().max(100_000).exactOptional().describe('told to the agent, if it can hear it'),
    by,
  }),
  z.strictObject({
    approvalId,
    behavior: z.literal('respond'),
    text: z.string().min(1).max(100_000).describe("a human's own words, to a question or a plan"),
    by,
  }),
])

export const askParams = z.strictObject({
  sessionId,
  kind: z.enum(['tool', 'question', 'plan']).default('tool'),
  tool: z.string().min(1).max(200).describe('what is about to be used, or what asks'),
  input: z.unknown().default(null).describe('what is about to be done; for a question: `{ questions: […] }`'),
  edits: z.boolean().default(false).describe('it changes files and does nothing else'),
  callId: z.string().min(1).max(200).nullable().exactOptional().describe('the tool call that it is about'),
  summary: z.string().max(1000).nullable().exactOptional(),
  timeoutMs: z
    .int()
    .min(1)
    .max(365 * 24 * 60 * 60 * 1000)
    .nullable()
    .exactOptional()
    .describe(
      'refused when nobody answers for so long; null waits for ever; as the session says if left out',
    ),
  id: z.uuid().exactOptional().describe('the same id twice is one question'),
})

export const decision = z.discriminatedUnion('behavior', [
  z.object({
    behavior: z.literal('allow'),
    input: z.unknown().exactOptional(),
    forSession: z.boolean().exactOptional(),
    forDirectory: z.boolean().exactOptional(),
    comment: z.string().exactOptional(),
    answers: z.record(z.string(), z.string()).exactOptional(),
  }),
  z.object({ behavior: z.literal('deny'), comment: z.string() }),
  z.object({ behavior: z.literal('respond'), text: z.string() }),
  z.object({ behavior: z.literal('cancelled'), reason: z.string() }),
])

export const approvalView = z.object({
  id,
  machine: machine.exactOptional(),
  sessionId,
  turnId: z.string().nullable(),
  kind: z.enum(['tool', 'question', 'plan']),
  tool: z.string(),
  input: z.unknown(),
  about: z
    .object({
      class: z.enum(TOOL_CLASSES),
      subjects: z.array(z.string()).describe('the command, each path, the address'),
      partly: z.boolean().exactOptional().describe('there is more that is not said'),
    })
    .describe('what rules look at'),
  callId: z.string().nullable(),
  summary: z.string().nullable(),
  suggestions: z.unknown(),
  parent: z.string().nullable(),
  external: z.boolean().describe("asked from outside, not by the agent's own process"),
  timeoutAt: time.nullable().describe('refused then; null: it waits for ever'),
  requestedAt: time,
  decision: decision.nullable(),
  decidedBy: z.string().nullable(),
  decidedAt: time.nullable(),
  deferredUntil: time
    .nullable()
    .describe(
      'put off until then: it waits on, and nobody is to be bothered with it before; null: it is not',
    ),
})
export type ApprovalView = z.output<typeof approvalView>

/** A decision that was made. */
export const decisionRow = approvalView.extend({
  title: z.string().nullable().describe("the session's"),
  agent: z.string(),
  cwd: z.string(),
  asked: z.boolean().describe('a human was asked; false: a mode or a rule answered at once'),
  device: z
    .string()
    .nullable()
    .describe('name of the device that it came from; null: from this machine, as `decidedBy` says'),
  rule: z
    .object({
      scope: z.enum(['session', 'directory']),
      path: z.string().describe('directory that it holds in, for this session or for all'),
      text: z.array(z.string()).describe('what was added to the rules'),
    })
    .nullable()
    .describe('what it let pass from then on; null: it was for this once'),
})
export type DecisionView = z.output<typeof decisionRow>

export const approvalContext = z.object({
  lines: z.array(z.string()).max(12).describe('what the agent said before it asked'),
  subagent: z
    .object({ callId: z.string(), title: z.string() })
    .nullable()
    .describe('the sub-agent that asks; null: the agent itself'),
  effects: z
    .object({
      session: z.array(z.string()),
      directory: z.array(z.string()),
      path: z.string().describe('the directory, where `forDirectory` would hold'),
    })
    .describe('the rules that `forSession` and `forDirectory` would add; empty: no rule can be made of it'),
  files: z
    .array(fileChange)
    .nullable()
    .describe(
      'what the edit would change, as far as its input tells; of a piece of a file, lines are counted from the beginning of the piece. null: it is no edit, or it does not tell',
    ),
})
