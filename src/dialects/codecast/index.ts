import { z } from 'zod'
import type { Dialect } from '../dialect.ts'
import { open } from './open.ts'
import { port } from '../setting.ts'

const settings = {
  enabled: z.boolean().default(true).describe('listen for Codecast clients'),
  port: port
    .nullable()
    .default(null)
    .describe("instead of the port in Codecast's own configuration; 0 takes any free one"),
  bind: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("instead of the address in Codecast's own configuration"),
}

/** JSON-RPC over HTTP, with streams of server-sent events: docs/codecast.md. */
export const codecast: Dialect<'codecast', typeof settings> = {
  name: 'codecast',
  settings,
  open,
}
