import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const nothing = z.strictObject({})

export const daemonMethods = [
  method({
    name: 'daemon.auth',
    scope: 'read',
    repeat: 'idempotent',
    errors: [],
    summary:
      'The first message on a WebSocket whose request had no `Authorization: Bearer`. Anywhere else it changes nothing.',
    params: z.strictObject({
      token: z.string().exactOptional(),
      key: z.string().exactOptional().describe('the dashboard has this and a cookie instead of a token'),
    }),
    result: z.object({ authenticated: z.boolean() }),
    // What is not authenticated does not get here.
    handler: () => ({ authenticated: true }),
  }),
  method({
    name: 'daemon.status',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'How the daemon is doing.',
    params: nothing,
    result: z.object({
      pid: z.number(),
      name: z.string().nullable().describe('what people call it'),
      version: z.string(),
      startedAt: z.number(),
      uptimeMs: z.number(),
      stopping: z.boolean().describe('it has begun to stop, and takes no messages any more'),
      listeners: z.array(z.object({ name: z.string(), address: z.string() })),
      troubles: z
        .array(z.object({ name: z.string(), message: z.string() }))
        .describe('why a listener is elsewhere than it should be, or not there'),
      log: z.object({ id: z.string(), head: wire.cursor, oldest: wire.cursor }),
      sessions: z.object({ idle: z.number(), running: z.number(), waiting: z.number(), paused: z.number() }),
      agents: z.object({ running: z.number(), idle: z.number(), maxWarm: z.number() }),
      memory: z.object({ rss: z.number(), heapUsed: z.number() }),
    }),
    handler(_, { engine, daemon }) {
      const { rss, heapUsed } = process.memoryUsage()
      return {
        pid: process.pid,
        name: engine.daemon.name,
        version: daemon.version,
        startedAt: daemon.startedAt,
        uptimeMs: Date.now() - daemon.startedAt,
        stopping: daemon.isStopping(),
        listeners: daemon.listeners(),
        troubles: daemon.troubles(),
        log: { id: engine.events.logId, head: engine.events.head, oldest: engine.events.oldest },
        sessions: engine.sessions.count(),
        agents: daemon.agents(),
        memory: { rss, heapUsed },
      }
    },
  }),
  method({
    name: 'daemon.doctor',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary:
      'Looks at the machine, the data directory, the configuration, the listeners and the agents; changes nothing.',
    params: nothing,
    result: wire.examination,
    handler: (_, { daemon }) => daemon.examine(),
  }),
  method({
    name: 'daemon.stop',
    scope: 'manage',
    repeat: 'never',
    errors: [],
    summary: 'Stops the daemon. With `keep`, agents go on running and the next daemon takes them up.',
    params: z.strictObject({
      agents: z.enum(['end', 'keep']).default('end'),
      now: z.boolean().default(false).describe('do not wait for running turns'),
    }),
    result: z.object({ pid: z.number() }),
    handler(params, { daemon }) {
      daemon.stop(params)
      return { pid: process.pid }
    },
  }),
  method({
    name: 'daemon.setName',
    scope: 'manage',
    repeat: 'idempotent',
    errors: [],
    summary: 'Gives the daemon a name for people, which it keeps. `daemon.renamed` tells everybody.',
    params: z.strictObject({ name: z.string().min(1).max(200) }),
    result: z.object({ name: z.string() }),
    async handler({ name }, { engine }) {
      await engine.daemon.setName(name)
      return { name: engine.daemon.name ?? name }
    },
  }),
  method({
    name: 'agents.list',
    scope: 'read',
    repeat: 'read',
    errors: ['agent_unknown'],
    summary:
      'The agents that Corral can drive, whether they are installed here and signed in to, what each can do, and what it has told last about its account (`agent.limits` tells when that changes).',
    params: nothing,
    result: z.object({
      agents: z.array(
        wire.agentReport.extend({
          limits: wire.limits.nullable().describe('what is left of the account; null: nothing was told yet'),
        }),
      ),
    }),
    async handler(_, { agents, engine }) {
      return { agents: (await agents()).map((one) => ({ ...one, limits: engine.agents.limits(one.name) })) }
    },
  }),
  method({
    name: 'agents.models',
    scope: 'read',
    repeat: 'read',
    errors: ['agent_unknown'],
    summary:
      'The models that an agent offers, as it has told them last: it does so when a session of its begins. One that never has is asked now, and waited for a few seconds. Empty: it does not say, is not installed or has no account.',
    params: z.strictObject({ agent: z.string().min(1).max(64) }),
    result: z.object({ models: z.array(wire.agentModel) }),
    handler: async ({ agent }, { engine }) => ({ models: await engine.agents.models(agent) }),
  }),
]
