import { z } from 'zod'
import { whole } from '../dialects/setting.ts'

const text = z.string().min(1).nullable().default(null)

/** Other machines by way of NATS. */
export const fleetSchema = z.strictObject({
  url: text.describe('the NATS server of the fleet; null: this machine is in none'),
  credentials: text.describe('the file that lets this machine in there: credentials, or the seed of an nkey'),
  key: text.describe(
    'a file with the key that its machines share: whoever runs NATS then cannot read what they say',
  ),
  name: z
    .string()
    .regex(/^[a-zA-Z0-9][\w-]{0,62}$/)
    .nullable()
    .default(null)
    .describe('what this machine is called in the fleet; null takes the first part of its host name'),
  share: z
    .boolean()
    .default(true)
    .describe('let the fleet see the sessions of this machine and act on them; false: it only looks'),
  heartbeatMs: whole(100, 60_000)
    .default(10_000)
    .describe(
      'how often this machine says that it is there; after three times that it is gone for the others',
    ),
})
