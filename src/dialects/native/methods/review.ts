import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'
import { sent } from './session.ts'

const { sessionId, time } = wire
const commentId = wire.id.describe('id of a comment')
const text = z.string().trim().min(1).max(10_000)
const line = z.int().min(1).max(10_000_000)
const path = z.string().min(1).max(4096)
const side = z.enum(['old', 'new']).describe('which version the lines are counted in')
const MAX_LINES = 2000

const comment = z.object({
  id: commentId,
  sessionId,
  path,
  side,
  line,
  endLine: line,
  text: z.string(),
  hunk: wire.hunk.describe('the lines that it speaks about, and three around them'),
  createdAt: time,
  stale: z
    .boolean()
    .describe(
      'the lines that it speaks about are not there any more; if they had been removed: are there again',
    ),
  sentIn: z.string().nullable().describe('the turn in which the agent was told; null: it was not'),
})

const given = wire.hunk
  .refine(({ lines }) => lines.length <= MAX_LINES, `a hunk may have ${MAX_LINES} lines`)
  .describe('what the line was shown in, as in `changes.read`')

export const reviewMethods = [
  method({
    name: 'review.add',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found', 'queue_full'],
    summary: 'A comment on lines of a change. It waits with the others until `review.send`; 500 may wait.',
    params: z
      .strictObject({
        sessionId,
        path,
        side,
        line,
        endLine: line.exactOptional().describe('`line` if not given'),
        text,
        hunk: given,
      })
      .refine(({ line: first, endLine = first }) => endLine >= first && endLine - first < 200, {
        path: ['endLine'],
        message: 'must be at or behind `line`, and no more than 200 lines',
      }),
    result: comment,
    handler: (params, { engine }) => engine.reviews.add(params),
  }),
  method({
    name: 'review.update',
    scope: 'use',
    repeat: 'idempotent',
    errors: ['session_not_found'],
    summary: 'Another text for a comment that was not sent.',
    params: z.strictObject({ commentId, text }),
    result: comment,
    handler: (params, { engine }) => engine.reviews.update(params.commentId, params.text),
  }),
  method({
    name: 'review.remove',
    scope: 'use',
    repeat: 'never',
    errors: ['session_not_found'],
    summary: 'Removes a comment.',
    params: z.strictObject({ commentId }),
    result: z.object({ commentId }),
    async handler(params, { engine }) {
      await engine.reviews.remove(params.commentId)
      return { commentId: params.commentId }
    },
  }),
  method({
    name: 'review.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'The comments of a session, the oldest first: all that were not sent, and the 500 newest that were. Whether one is stale is found out now.',
    params: z.strictObject({ sessionId }),
    result: z.object({ comments: z.array(comment) }),
    handler: async (params, { engine }) => ({ comments: await engine.reviews.list(params.sessionId) }),
  }),
  method({
    name: 'review.send',
    scope: 'use',
    repeat: 'never',
    errors: [
      'session_not_found',
      'queue_full',
      'unsupported',
      'agent_missing',
      'agent_unknown',
      'conversation_busy',
    ],
    summary:
      'Sends comments as one message: of each its path, its lines, the code and the text. They are marked as sent in the same commit.',
    params: z.strictObject({
      sessionId,
      commentIds: z
        .array(commentId)
        .max(500)
        .exactOptional()
        .describe('all that were not sent, if not given'),
      note: z.string().trim().min(1).max(100_000).exactOptional().describe('what the message begins with'),
      busy: z.enum(['queue', 'steer']).default('queue').describe('as in `session.send`'),
      origin: wire.origin.exactOptional(),
    }),
    result: sent.extend({ comments: z.array(commentId).describe('those that were sent') }),
    async handler(params, { engine }) {
      const message = await engine.reviews.send({ origin: 'native', ...params })
      return { ...message, log: engine.events.logId }
    },
  }),
]
