import { z } from 'zod'
import { method } from '../method.ts'
import { eightChecks } from '../doctor.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

export const daemonMethods = [
  method({
    name: 'daemon.auth',
    scope: 'read',
    repeat: 'idempotent',
    errors: [],
    summary: 'The first message: shows the token. On a connection that is open already it changes nothing.',
    params: z.looseObject({
      token: z.string().exactOptional(),
      timestamps: z
        .enum(['iso', 'unix'])
        .exactOptional()
        .describe('`iso`: `createdAt` and the like are texts instead of seconds'),
    }),
    result: z.object({ authenticated: z.boolean() }),
    handler({ timestamps }, { stream }) {
      if (timestamps) stream.unix = timestamps === 'unix'
      return { authenticated: true }
    },
  }),
  method({
    name: 'daemon.ping',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Whether the daemon is alive.',
    params: wire.nothing,
    result: z.object({ pong: z.boolean(), version: z.string() }),
    handler: (_, { version }) => ({ pong: true, version }),
  }),
  method({
    name: 'daemon.status',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'How the daemon is doing.',
    params: wire.nothing,
    result: wire.daemonStatus,
    handler(_, context) {
      const { engine, version, startedAt, workspace, daemonId, updates } = context
      const uptime = Math.floor((Date.now() - startedAt) / 1000)
      const { idle, running, waiting, paused } = engine.sessions.count()
      const activeSessions = running + waiting + paused
      return bothWays({
        version,
        uptime,
        uptimeSecs: uptime,
        activeSessions,
        totalSessions: idle + activeSessions,
        watchedRepos: workspace.watched().length,
        port: context.port(),
        daemonId,
        pendingUpdate: updates.pending,
        recoveryMode: false,
        log: { id: engine.events.logId, head: engine.events.head, oldest: engine.events.oldest },
      })
    },
  }),
  method({
    name: 'daemon.checkProvider',
    scope: 'read',
    repeat: 'read',
    errors: ['providerNotAvailable'],
    summary: 'Whether an agent is installed and somebody has signed in.',
    params: z.object({ provider: z.string().min(1) }),
    aliases: { provider: ['name', 'agent'] },
    result: wire.provider,
    async handler({ provider }, { providers }) {
      const report = (await providers()).find(({ name }) => name === provider)
      if (!report) return wire.unknownProvider(provider, `there is no provider ${provider}`)
      return wire.providerView(report)
    },
  }),
  method({
    name: 'daemon.providers',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The same for every agent that Corral can drive.',
    params: wire.nothing,
    result: z.object({ providers: z.array(wire.provider) }),
    handler: async (_, { providers }) => ({ providers: (await providers()).map(wire.providerView) }),
  }),
  method({
    name: 'daemon.doctor',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Looks at eight things that must be in order; changes nothing.',
    params: wire.nothing,
    result: z.object({ checks: z.array(wire.check), overallStatus: z.enum(['ok', 'warn', 'error']) }),
    async handler(_, context) {
      const [findings, update] = await Promise.all([context.examine(), context.updates.check()])
      const checks = await eightChecks(findings, {
        tokenFile: context.settings.tokenFile,
        isAdvertised: context.isAdvertised(),
        update,
      })
      const has = (status: string): boolean => checks.some((check) => check.status === status)
      const overallStatus = has('error') ? 'error' : has('warn') ? 'warn' : 'ok'
      return bothWays({ checks, overallStatus })
    },
  }),
]
