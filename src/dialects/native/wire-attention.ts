import { z } from 'zod'
import { ATTENTIONS } from '../../core/attention.ts'
import { EFFORTS } from '../../core/effort.ts'
import { MAX_FLAG, MAX_FLAGS } from '../../core/marks.ts'
import { id, machine, seq, sessionId, time } from './wire-base.ts'
import { mode } from './wire-turn.ts'

/** What people see of many sessions at once, and what they note about them. */

/** The last moment that a computer can name. */
const LAST_TIME = 8_640_000_000_000_000
const MAX_DRAFT = 100_000

export const attention = z
  .enum(ATTENTIONS)
  .describe(
    'what it wants of you: `needs_you` a decision, or a look at a turn that failed; `working` a turn runs or waits; `done` something has ended, or a snooze, and you have not looked; `snoozed` not now; `quiet` nothing',
  )

const flag = z.string().min(1).max(MAX_FLAG)

export const marks = z.object({
  readSeq: seq.describe('you have read up to here'),
  pinned: z.boolean(),
  snoozedUntil: time.nullable().describe('out of sight until then; when it is over, back until you look'),
  settled: z.boolean().describe('you have said that it is done'),
  flags: z.array(z.string()),
})

export const markParams = z.strictObject({
  sessionId,
  readSeq: seq.exactOptional().describe('never goes back, nor beyond the head of the log'),
  pinned: z.boolean().exactOptional(),
  snoozedUntil: z
    .number()
    .min(0)
    .max(LAST_TIME)
    .nullable()
    .exactOptional()
    .describe('takes `settled` back; a time that has passed is as good as null'),
  settled: z.boolean().exactOptional().describe('true ends a snooze'),
  flags: z.array(flag).max(MAX_FLAGS).exactOptional().describe('all of them, in place of those it had'),
})

export const draftParams = z.strictObject({
  sessionId,
  text: z.string().max(MAX_DRAFT).describe('empty: there is none any more'),
  revision: z.int().min(0).exactOptional().describe('the one that you have changed'),
})

export const draft = z.object({
  text: z.string(),
  revision: z.number().describe('how often it has been written'),
  updatedAt: time.nullable(),
})

export const sessionRow = z.object({
  id,
  machine: machine.exactOptional(),
  agent: z.string(),
  cwd: z.string(),
  title: z
    .string()
    .nullable()
    .describe('where nobody has given it one, the beginning of its first message, at most 60 characters'),
  project: z.object({ id, name: z.string() }).nullable().describe('that its directory belongs to'),
  parentId: z.string().nullable(),
  origin: z.string().nullable(),
  status: z.enum(['idle', 'running', 'waiting', 'paused', 'destroyed']),
  tier: z.enum(['active', 'warm', 'cold']),
  attention,
  mode,
  model: z.string().nullable().describe('in use'),
  effort: z.enum(EFFORTS).nullable(),
  turn: z.object({ id, startedAt: time }).nullable(),
  queued: z.number(),
  openApprovals: z.number(),
  marks,
  lastLine: z.string().nullable().describe('that the agent or the user has said; at most 200 characters'),
  doing: z.string().nullable().describe('what the call is about that runs now; at most 120 characters'),
  createdAt: time,
  activeAt: time,
  endedAt: time.nullable().describe('when the last turn ended'),
  endedSeq: seq.nullable().describe('of the event with which it ended'),
  turnCount: z.number(),
  costUsd: z.number().nullable(),
  tokens: z
    .object({ used: z.number().nullable(), window: z.number().nullable() })
    .describe('how full the conversation is, as far as the agent tells'),
  lastOutcome: z.enum(['completed', 'failed', 'interrupted']).nullable(),
  lastError: z.object({ code: z.string(), message: z.string() }).nullable(),
  worktree: z.boolean().describe('it works in a git worktree of its own'),
  worktreeOf: z
    .string()
    .nullable()
    .describe(
      'the checkout that its worktree was made from; null: it has none, or that was not written down',
    ),
  archived: z.boolean(),
})
export type SessionRow = z.output<typeof sessionRow>

export const counts = z
  .object({
    needs_you: z.number(),
    working: z.number(),
    done: z.number(),
    snoozed: z.number(),
    quiet: z.number(),
    approvals: z.number().describe('open ones, of all these sessions'),
  })
  .describe('of all sessions, also of those that the limit has left out')
export type Counts = z.output<typeof counts>

export const watchParams = z.strictObject({
  archived: z.boolean().default(false).describe('watch those that are archived instead'),
  limit: z
    .int()
    .min(1)
    .max(2000)
    .default(500)
    .describe('rows in the answer: first what wants something or is pinned, then the last active'),
})

export const watched = z.object({
  watchId: z.string(),
  log: z.string(),
  seq: seq.describe('all events up to here are told'),
  sessions: z.array(sessionRow).describe('the last active first'),
  counts,
  more: z.boolean().describe('the limit has left out some; they come when they change'),
})
