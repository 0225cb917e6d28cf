import { z } from 'zod'
import { method } from '../method.ts'
import type { Sample } from '../../ports.ts'
import { bothWays } from '../spelling.ts'
import * as wire from '../wire.ts'

const DAY = 1440

function now(sample: Sample) {
  const { totalBytes, usedBytes, daemonBytes, agentsBytes, active, warm, cold } = sample
  const usedPercent = totalBytes === 0 ? 0 : Math.round((usedBytes / totalBytes) * 100)
  return {
    ram: bothWays({ totalBytes, usedBytes, daemonBytes, agentsBytes, usedPercent }),
    sessions: { active, warm, cold },
  }
}

function minute(sample: Sample) {
  return bothWays({
    timestamp: Math.floor(sample.at / 1000),
    totalRamBytes: sample.totalBytes,
    usedRamBytes: sample.usedBytes,
    daemonRamBytes: sample.daemonBytes,
    agentsRamBytes: sample.agentsBytes,
    activeSessions: sample.active,
    warmSessions: sample.warm,
    coldSessions: sample.cold,
    // Of the original's pool and compressions Corral has none.
    poolWorkers: 0,
    contextCompressions: 0,
  })
}

const sampled = z.object({
  timestamp: z.number().describe('seconds'),
  totalRamBytes: z.number(),
  usedRamBytes: z.number(),
  daemonRamBytes: z.number(),
  agentsRamBytes: z.number(),
  activeSessions: z.number(),
  warmSessions: z.number(),
  coldSessions: z.number(),
  poolWorkers: z.literal(0),
  contextCompressions: z.literal(0),
})

export const systemMethods = [
  method({
    name: 'system.resources',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary:
      'Memory that is used by the machine, the daemon and all processes of its agents; sessions by tier.',
    params: wire.nothing,
    result: z.object({
      ram: z.object({
        totalBytes: z.number(),
        usedBytes: z.number(),
        daemonBytes: z.number(),
        agentsBytes: z.number(),
        usedPercent: z.number(),
      }),
      sessions: z.object({ active: z.number(), warm: z.number(), cold: z.number() }),
    }),
    handler: async (_, { resources }) => now(await resources.now()),
  }),
  method({
    name: 'system.resourceHistory',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The same minute by minute, the newest first.',
    params: z.looseObject({ limit: z.int().default(60).describe('minutes, up to a day') }),
    result: z.object({ history: z.array(sampled), count: z.number() }),
    handler({ limit }, { resources }) {
      const history = resources.history(Math.min(Math.max(limit, 1), DAY)).map(minute)
      return { history, count: history.length }
    },
  }),
]
