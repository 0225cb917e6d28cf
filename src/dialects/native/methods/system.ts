import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

const DAY = 1440

export const systemMethods = [
  method({
    name: 'system.resources',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary:
      'Memory that the machine, the daemon and its agents use now, with every session that has a process.',
    params: z.strictObject({}),
    result: wire.resources,
    handler: (_, { daemon }) => daemon.resources.now(),
  }),
  method({
    name: 'system.history',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'The same minute by minute for the last day, without the sessions; the newest first.',
    params: z.strictObject({ limit: z.int().min(1).max(DAY).default(60).describe('minutes') }),
    result: z.object({ samples: z.array(wire.sample) }),
    handler: ({ limit }, { daemon }) => ({ samples: daemon.resources.history(limit) }),
  }),
]
