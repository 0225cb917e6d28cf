import { z } from 'zod'
import { method } from '../method.ts'
import { viewSession } from '../views.ts'
import * as wire from '../wire.ts'

/* What a terminal has to do with an agent is its user's own business: not every device sees it, or goes on with it. */

const agent = z.string().min(1).max(64)

const conversation = z.object({
  agent,
  id: z.string().describe("the agent's own id of it"),
  cwd: z.string(),
  title: z.string().nullable().describe('what it is called there'),
  opening: z.string().nullable().describe('the beginning of its first message'),
  updatedAt: wire.time,
  holder: z
    .object({
      pid: z.number(),
      certain: z
        .boolean()
        .describe('false: it runs in the same directory, and does not say which conversation it has open'),
      endedBy: z
        .string()
        .nullable()
        .describe('the command that ends it, for one that goes on when its user has left'),
    })
    .nullable()
    .describe('a process of the agent, not of this Corral, that has it open'),
  sessionId: z.string().nullable().describe('the session that has it'),
  known: z.boolean().describe('Corral has had it: it was begun here, or adopted'),
})

export const adoptionMethods = [
  method({
    name: 'agents.conversations',
    scope: 'manage',
    repeat: 'read',
    errors: ['agent_unknown'],
    summary:
      'Conversations that began without Corral, as agents keep them in their own stores, the last used first. The stores are read and never written. `session.adopt` goes on with one.',
    params: z.strictObject({
      agent: agent.exactOptional(),
      cwd: z.string().startsWith('/').exactOptional().describe('only those of this directory'),
      limit: z.int().min(1).max(1000).default(50),
      all: z.boolean().default(false).describe('also those that Corral has, or has had'),
    }),
    result: z.object({
      conversations: z.array(conversation),
      known: z.number().describe('how many are left out since Corral has them'),
      truncated: z.boolean().describe('there are more'),
      places: z
        .array(
          z.object({
            agent,
            path: z.string(),
            problem: z.string().nullable().describe('why it cannot be read'),
          }),
        )
        .describe('where it was looked'),
    }),
    handler: (params, { engine }) => engine.agents.conversations(params),
  }),
  method({
    name: 'session.adopt',
    scope: 'manage',
    repeat: 'never',
    errors: [
      'agent_unknown',
      'agent_missing',
      'unsupported',
      'conversation_not_found',
      'conversation_adopted',
      'conversation_busy',
      'path_not_found',
    ],
    summary:
      'A session that goes on with a conversation of `agents.conversations`, in its directory: the next message continues it. What was said in it, by the user and by the agent, is in the history of the session. Refused with `conversation_busy` while a process of the agent has it open.',
    params: z.strictObject({
      agent,
      id: z.string().min(1).max(200),
      mode: wire.mode.exactOptional().describe('`ask` if not given'),
      model: z.string().min(1).max(200).nullable().exactOptional(),
      effort: wire.wantedEffort.exactOptional(),
      title: z.string().max(500).nullable().exactOptional(),
      force: z.boolean().default(false).describe('also where `holder` is not certain; never where it is'),
      origin: wire.origin.exactOptional(),
    }),
    result: z.object({
      session: wire.sessionView,
      turns: z.number().describe('how many turns of it were taken over'),
      isCut: z.boolean().describe('there were more before them, which only the agent knows'),
    }),
    async handler(params, { engine }) {
      const { session, ...taken } = await engine.sessions.adopt({ origin: 'native', ...params })
      return { session: viewSession(session), ...taken }
    },
  }),
]
