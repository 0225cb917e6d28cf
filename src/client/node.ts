import { resolve } from 'node:path'
import { socketOf } from '../config/paths.ts'
import { nativeUrl } from './address.ts'
import { createClient } from './calls.ts'
import { createCorral, GIVE_UP_MS, type ConnectOptions, type Corral } from './corral.ts'
import { dial } from './dial.ts'
import { explainWith, type Dial } from './link.ts'
import { REMEDIES } from './remedies.ts'

export * from './public.ts'

/**
 * Connects to the daemon of this user, or to the one at `url`. Throws `DaemonUnreachable` when none is running. From then on
 * lost connections are made again.
 */
export async function connect(options: ConnectOptions = {}): Promise<Corral> {
  explainWith(REMEDIES)
  const { home, socket, url, token, ca, name, giveUpMs = GIVE_UP_MS } = options
  const address = url !== undefined ? nativeUrl(url) : socketOf({ env: process.env, flags: { home, socket } })
  const target = { address, token: token?.trim(), ca }
  const again: Dial = (notified) => dial(target, notified)
  const first = await again()
  const client = createClient(again, { reconnect: true, giveUpMs }, first)
  return createCorral({ client, dial: again, name, absolute: (directory) => resolve(directory) })
}
