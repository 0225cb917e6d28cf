import { z } from 'zod'
import { CorralError } from '../../../core/error.ts'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

export const doorMethods = [
  method({
    name: 'door.code',
    scope: 'manage',
    repeat: 'never',
    errors: ['unsupported'],
    summary:
      'A code that signs one browser in to the dashboard, once, within a minute, as whoever asks for it. Fails with `unsupported` when Corral’s own port is closed.',
    params: z.strictObject({}),
    result: z.object({
      code: z.string(),
      url: z.string().describe('where a browser goes with it; the code stands behind the `#`'),
      expiresAt: wire.time,
    }),
    handler(_, { device, door }) {
      const made = door.code(device)
      if (made) return made
      throw new CorralError(
        'unsupported',
        'There is no dashboard: the setting http.enabled is false, or its port is taken',
      )
    },
  }),
]
