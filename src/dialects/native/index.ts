import type { Dialect } from '../dialect.ts'
import { open } from './open.ts'

const settings = {}

/** The engine's whole API, as JSON-RPC on a Unix socket and at the front door: docs/native.md. */
export const native: Dialect<'native', typeof settings> = {
  name: 'native',
  settings,
  open,
}
