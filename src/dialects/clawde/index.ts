import { z } from 'zod'
import type { Dialect } from '../dialect.ts'
import { open } from './open.ts'
import { port, whole } from '../setting.ts'

const settings = {
  enabled: z.boolean().default(true).describe('listen for ClawDE clients'),
  host: z
    .string()
    .min(1)
    .default('127.0.0.1')
    .describe('address to listen on; one that others reach is served with TLS only'),
  port: port.default(4300).describe('0 takes any free one'),
  connectionsPerMinute: whole(0, 1_000_000)
    .default(10)
    .describe('new connections from one address; 0 is any number'),
  limitLoopback: z.boolean().default(false).describe('count connections from this machine, too'),
  requestsPerSecond: whole(0, 1_000_000).default(100).describe('of one ClawDE connection; 0 is any number'),
  mdns: z
    .boolean()
    .nullable()
    .default(null)
    .describe('advertise in the local network; null does it if others can connect'),
  maxSessions: whole(1, 1_000_000)
    .nullable()
    .default(null)
    .describe('sessions beyond which ClawDE clients create no more; null is any number'),
}

/** JSON-RPC over WebSocket, with pushes: docs/clawde.md. */
export const clawde: Dialect<'clawde', typeof settings> = {
  name: 'clawde',
  settings,
  open,
}
