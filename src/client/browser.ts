import { nativeUrl } from './address.ts'
import { createClient } from './calls.ts'
import { createConnection } from './connection.ts'
import { createCorral, GIVE_UP_MS, type ConnectOptions, type Corral } from './corral.ts'
import { explainWith } from './link.ts'
import { REMEDIES } from './remedies.ts'

export * from './public.ts'

/**
 * Connects to the daemon at `url`, or to the one that this page came from. Throws `DaemonUnreachable` when nobody answers there.
 * From then on lost connections are made again. Everything goes over one WebSocket.
 */
export async function connect(options: ConnectOptions = {}): Promise<Corral> {
  explainWith(REMEDIES)
  const { url: given = ownUrl(), token, name, giveUpMs = GIVE_UP_MS } = options
  const url = nativeUrl(given)
  const pass = token === undefined ? null : { token: token.trim() }
  const connection = createConnection({ url, pass: () => pass, tell: () => {} })
  try {
    const first = await connection.dial()
    first.close()
  } catch (error) {
    connection.close()
    throw error
  }
  const client = createClient(connection.dial, { reconnect: true, giveUpMs })
  const { dial, close: closed } = connection
  return createCorral({ client, dial, name, absolute: (directory) => directory, closed })
}

function ownUrl(): string {
  const { protocol, host } = (globalThis as unknown as { location: { protocol: string; host: string } })
    .location
  return `${protocol === 'https:' ? 'wss' : 'ws'}://${host}/native`
}
