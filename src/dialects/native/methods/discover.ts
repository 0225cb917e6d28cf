import { z } from 'zod'
import { method } from '../method.ts'

export const discoverMethods = [
  method({
    name: 'rpc.discover',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'This API as an OpenRPC document: every method with its parameters, its result and its errors.',
    params: z.strictObject({}),
    result: z.looseObject({
      openrpc: z.string(),
      info: z.looseObject({ title: z.string(), version: z.string() }),
      methods: z.array(z.looseObject({ name: z.string() })),
      components: z.looseObject({}),
    }),
    async handler(_, { daemon }) {
      const { openRpc } = await import('../openrpc.ts')
      return openRpc(daemon.version)
    },
  }),
]
