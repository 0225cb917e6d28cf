import { z } from 'zod'
import type { Dialect } from '../dialect.ts'
import { open } from './open.ts'
import { whole } from '../setting.ts'

const settings = {
  enabled: z.boolean().default(true).describe('listen for HumanLayer clients'),
  socket: z
    .string()
    .min(1)
    .nullable()
    .default(null)
    .describe("instead of the path in HumanLayer's own configuration"),
  agent: z.string().min(1).default('claude').describe('what HumanLayer clients launch'),
  askAlways: z
    .boolean()
    .default(true)
    .describe('false: launched without permission_prompt_tool, what needs a human is refused at once'),
  lineLimit: whole(1024, 1024 ** 3)
    .default(10 * 1024 ** 2)
    .describe('longest request line, in bytes'),
}

/** JSON-RPC in lines on a Unix socket: docs/humanlayer.md. */
export const humanlayer: Dialect<'humanlayer', typeof settings> = {
  name: 'humanlayer',
  settings,
  open,
}
