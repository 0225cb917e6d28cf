import type { Engine } from '../../core/api.ts'
import {
  listenUnix,
  UnixSocketError,
  type LineConnection,
  type LineHandler,
  type UnixListener,
} from '../../transports/unix.ts'
import { onDemand } from '../../transports/on-demand.ts'
import type { OpenDialect } from '../dialect.ts'
import type { humanlayer } from './index.ts'
import type { HumanLayerOptions } from './method.ts'
import { readHumanLayerSettings } from './settings.ts'

type Context = Parameters<(typeof humanlayer)['open']>[0]

export async function open({ settings, daemon, ...context }: Context): Promise<OpenDialect> {
  const { engine, env, homedir: home, cwd, log, onFault } = context
  const { agent, askAlways, lineLimit } = settings
  const own = readHumanLayerSettings({ env, home, cwd, socket: settings.socket })
  for (const warning of own.warnings) log.warn({}, `HumanLayer: ${warning}`)
  const { socket, privateDirectory, version } = own
  const options = { agent, askAlways, socket, home, cwd, version: version ?? daemon.version }
  const dialect = humanlayerDialect({ engine, options, lineLimit, onFault })
  const listener = await dialect.listen(privateDirectory)
  return { address: socket, close: () => listener.close() }
}

const HEARTBEAT_MS = 30_000
const MAX_LAG = 10_000
const LINE_LIMIT = 10 * 1024 ** 2
/** What may be unsent to one client: a thousand that do not read must not cost a thousand times a megabyte. */
const SEND_LIMIT = 256 * 1024

export interface HumanLayerParts {
  engine: Engine
  options: HumanLayerOptions
  /** A subscriber hears something at least this often. */
  heartbeatMs?: number
  /** A subscriber that falls behind by more events than this goes on at the head of the log. */
  maxLag?: number
  /** Longest request in bytes, with its LF. */
  lineLimit?: number
  /** A fault of ours, for the log. */
  onFault?(error: unknown): void
}

export interface HumanLayerDialect {
  /** Serves one connection, over any transport that carries lines both ways. */
  accept(connection: LineConnection): LineHandler
  /** Listens at the socket of its options. An existing directory is made private if told so. */
  listen(privateDirectory: boolean): Promise<UnixListener>
}

/** HumanLayer's daemon protocol: JSON-RPC in lines, answers and events on the same connection. */
export function humanlayerDialect(parts: HumanLayerParts): HumanLayerDialect {
  const { engine, options, heartbeatMs = HEARTBEAT_MS, maxLag = MAX_LAG, lineLimit = LINE_LIMIT } = parts
  const onFault = (error: unknown): void => parts.onFault?.(error)
  const accept = onDemand(async () => {
    const { createServing } = await import('./serving.ts')
    return createServing({ engine, options, heartbeatMs, maxLag, lineLimit, onFault })
  }, onFault)

  return {
    accept,
    async listen(privateDirectory) {
      try {
        return await listenUnix({
          path: options.socket,
          accept,
          privateDirectory,
          lineLimit: lineLimit - 1, // the transport does not count the LF
          sendLimit: SEND_LIMIT,
        })
      } catch (error) {
        if (!(error instanceof UnixSocketError) || error.code !== 'in_use') throw error
        throw new Error(`daemon already running at ${options.socket}`, { cause: error })
      }
    },
  }
}
