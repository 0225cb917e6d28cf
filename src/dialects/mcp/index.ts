import type { Dialect } from '../dialect.ts'
import { open } from './open.ts'

const settings = {}

/** Two tools that end in front of a human, at the front door: docs/mcp.md. */
export const mcp: Dialect<'mcp', typeof settings> = {
  name: 'mcp',
  settings,
  open,
}
