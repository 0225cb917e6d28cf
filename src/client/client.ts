import { createClient, type NativeClient, type ReconnectOptions } from './calls.ts'
import { dial } from './dial.ts'
import { explainWith } from './link.ts'
import { REMEDIES } from './remedies.ts'

export type { MethodName, NativeClient } from './calls.ts'
export { DaemonUnreachable, NativeError } from './link.ts'
export type { EventStream } from './event-stream.ts'
export type { Api } from './api.ts'

export interface ClientOptions extends Partial<ReconnectOptions> {
  /** For a `ws:` or `wss:` address: what lets you in. */
  token?: string | undefined
  /** For a `wss:` address: certificates to trust, in PEM. */
  ca?: string | undefined
}

/**
 * Dials the daemon, at the path of its socket or at a URL (`ws://127.0.0.1:2677/native`); throws `DaemonUnreachable` when
 * there is none, also with `reconnect`.
 */
export async function connect(address: string, options: ClientOptions = {}): Promise<NativeClient> {
  const { reconnect = false, giveUpMs = 60_000, token, ca } = options
  const target = { address, token, ca }
  explainWith(REMEDIES)
  const first = await dial(target)
  return createClient((notified) => dial(target, notified), { reconnect, giveUpMs }, first)
}
