import { clawde } from './clawde/index.ts'
import { codecast } from './codecast/index.ts'
import { humanlayer } from './humanlayer/index.ts'
import { mcp } from './mcp/index.ts'
import { native } from './native/index.ts'
import { relay } from './relay/index.ts'

/** Every protocol that the daemon listens for. The configuration takes their settings from here. */
export const DIALECTS = [native, mcp, codecast, humanlayer, clawde, relay] as const
