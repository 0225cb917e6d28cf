import { hostname } from 'node:os'
import { dirname } from 'node:path'
import { asCorralError } from '../../core/error.ts'
import { onDemand } from '../../transports/on-demand.ts'
import { listenUnix } from '../../transports/unix.ts'
import type { DialectContext, OpenDialect } from '../dialect.ts'
import { mapError, UNAUTHORIZED } from './errors.ts'
import { invitations } from './invitations.ts'
import type { AcceptNative } from './serving.ts'

const PATH = '/native'

export async function open(context: DialectContext): Promise<OpenDialect> {
  const { engine, daemon, devices, workspace, machines, signin, relay, door, socket, home, onFault } = context
  const invite = invitations(daemon, PATH, () => engine.daemon.name ?? hostname())
  const accept: AcceptNative = onDemand(async () => {
    const { createServing } = await import('./serving.ts')
    const agents = daemon.reports
    return createServing({
      engine,
      daemon,
      agents,
      devices,
      workspace,
      machines,
      signin,
      relay,
      door,
      invite,
      onFault,
    })
  }, onFault)
  door.serve(PATH, {
    code: UNAUTHORIZED,
    accept: (connection, { device }) => accept(connection, device),
    beforehand: {
      method: 'device.pair',
      answer: async (params) => (await import('./methods/device.ts')).pairing(params, devices),
      error: (thrown) => mapError(asCorralError(thrown)),
    },
  })
  const listener = await listenUnix({ path: socket, accept, privateDirectory: dirname(socket) === home })
  return { address: socket, close: () => listener.close() }
}
