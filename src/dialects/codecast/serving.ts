import type { Engine } from '../../core/api.ts'
import { DEFAULT_BODY_LIMIT, type HttpHandler } from '../../transports/http.ts'
import { createBookmarks } from './bookmarks.ts'
import type { CodecastOptions } from './open.ts'
import { METHODS } from './methods.ts'
import { createRpcHandler } from './rpc.ts'
import { createSender } from './stream.ts'

const CODECAST_VERSION = '0.2.21'
const PING_MS = 30_000

/** All of the protocol; loaded when there is a request. */
export interface Serving {
  handle: HttpHandler
  /** Ends streams. */
  stop(): void
}

export function createServing(engine: Engine, options: CodecastOptions & { startedAt: number }): Serving {
  const { log, home, startedAt, codecastVersion = CODECAST_VERSION, corralVersion } = options
  const { bodyLimit = DEFAULT_BODY_LIMIT, pingMs = PING_MS } = options
  const bookmarks = createBookmarks(engine, log)
  const sender = createSender({ engine, bookmarks, pingMs })
  const versions = { codecast: codecastVersion, corral: corralVersion }
  const services = { engine, bookmarks, sender, log, home, startedAt, versions }
  const handle = createRpcHandler({ methods: METHODS, services, bodyLimit })
  return { handle, stop: () => sender.stop() }
}
