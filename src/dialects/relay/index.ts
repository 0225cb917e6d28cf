import { z } from 'zod'
import type { Dialect } from '../dialect.ts'
import { open } from './open.ts'
import { port, whole } from '../setting.ts'

const DAY = 24 * 60 * 60 * 1000

const settings = {
  enabled: z
    .boolean()
    .default(true)
    .describe('listen for programs that speak to the Anthropic or OpenAI API'),
  port: port.nullable().default(null).describe('instead of SR_DAEMON_PORT, or 7421; 0 takes any free one'),
  maxActive: whole(1, 1000).default(8).describe('calls that agents answer at the same time; others wait'),
  maxWaiting: whole(0, 100_000).default(1000).describe('calls that wait; more are refused'),
  maxHeld: whole(0, 1000)
    .default(8)
    .describe('agents that wait for the result of a tool call; the oldest ones beyond it end'),
  heldMs: whole(1000, DAY)
    .default(5 * 60 * 1000)
    .describe('agents that wait for the result of a tool call end after this long'),
  idleMs: whole(1000, DAY)
    .default(30 * 60 * 1000)
    .describe('sessions and waiting agents that nobody uses end after this long'),
}

/** HTTP in the shapes of Anthropic's and OpenAI's APIs: docs/relay.md. */
export const relay: Dialect<'relay', typeof settings> = {
  name: 'relay',
  settings,
  open,
}
