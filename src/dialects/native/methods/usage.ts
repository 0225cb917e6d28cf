import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const { sessionId, turnId, time } = wire

const subAgent = z.object({
  callId: z.string().describe('the call that runs it'),
  parent: z
    .string()
    .nullable()
    .describe('the call of the sub-agent that runs this one; null: the agent itself'),
  title: z.string(),
  kind: z.string().describe('as the agent calls it'),
  state: z.enum(['running', 'done', 'failed', 'refused']),
  startedAt: time,
  endedAt: time.nullable(),
  calls: z.number().describe('that it has made itself'),
  usage: wire.usage.nullable().describe('null: the agent has not told; Claude tells when it is done'),
  openApprovals: z.number(),
})

const point = z.object({
  at: time.describe('when the turn ended, or when the hour or the day begins'),
  turns: z.number(),
  agent: z.string().nullable(),
  sessionId: z.string().nullable(),
  turnId: z.string().nullable(),
  usage: wire.usage,
})

export const usageMethods = [
  method({
    name: 'subagents.list',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found', 'turn_not_found'],
    summary:
      'The sub-agents of a session, or of one of its turns, as a tree: each after the one that runs it. The newest 500 at the most.',
    params: z.strictObject({ sessionId, turnId: turnId.exactOptional() }),
    result: z.object({ agents: z.array(subAgent) }),
    handler: async (params, { engine }) => ({
      agents: await engine.turns.subAgents(params.sessionId, params.turnId),
    }),
  }),
  method({
    name: 'usage.series',
    scope: 'read',
    repeat: 'read',
    errors: ['session_not_found'],
    summary:
      'What turns that are over have used, in the order of time: a point for each turn, or for each agent in each hour or day.',
    params: z.strictObject({
      sessionId: sessionId.exactOptional(),
      since: z.int().min(0).exactOptional().describe('turns that ended then or later (ms since 1970)'),
      until: z.int().min(0).exactOptional().describe('turns that ended before'),
      by: z.enum(['turn', 'hour', 'day']),
      offsetMinutes: z
        .int()
        .min(-14 * 60)
        .max(14 * 60)
        .exactOptional()
        .describe("hours and days begin by a clock so far ahead of UTC; this machine's if left out"),
    }),
    result: z.object({
      points: z.array(point),
      truncated: z.boolean().describe('there are more: the oldest are left out'),
    }),
    handler: (params, { engine }) =>
      engine.turns.usage({ offsetMinutes: -new Date().getTimezoneOffset(), ...params }),
  }),
]
