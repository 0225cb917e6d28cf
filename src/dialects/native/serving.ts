import { actingFor } from '../../access/caller.ts'
import type { Engine } from '../../core/api.ts'
import type { DeviceAccess } from '../../access/devices.ts'
import type { Device } from '../../core/devices.ts'
import { asCorralError, CorralError } from '../../core/error.ts'
import type { LineConnection, LineHandler } from '../../transports/connection.ts'
import { createDispatcher, errorLine, INVALID_REQUEST } from '../../transports/jsonrpc.ts'
import { isAllowed, type Method, verifying } from '../method.ts'
import { ALWAYS, mapError, mapInvalidParams } from './errors.ts'
import { createFeed } from './feed.ts'
import type { AgentReport, Daemon } from '../ports.ts'
import { elsewhere } from './elsewhere.ts'
import type { Context } from './method.ts'
import { METHODS } from './methods.ts'
import { createSessionList } from './session-list.ts'
import { createWatches } from './watches.ts'

/** Requests of one connection that may be under way; beyond that nothing more is read from it. */
const MAX_PENDING = 256

export interface NativeOptions {
  engine: Engine
  workspace: Context['workspace']
  devices: DeviceAccess
  signin: Context['signin']
  relay: Context['relay']
  door: Context['door']
  invite: Context['invite']
  daemon: Daemon
  machines: Context['machines']
  /** The agents of this machine; asked again each time. */
  agents(): Promise<AgentReport[]>
  /** A fault of ours, for the log; the client gets its message only. */
  onFault(error: unknown): void
}

/** Serves one connection, over any transport that carries lines both ways; of a device, or of the owner. */
export type AcceptNative = (connection: LineConnection, device?: Device | null) => LineHandler

/** All of the protocol; loaded when there is a client. */
export function createServing({ onFault, ...parts }: NativeOptions): AcceptNative {
  const methods = (METHODS as unknown as Method<Context>[]).map(elsewhere)
  const dispatcher = createDispatcher<Context, Method<Context>>({
    methods,
    admit(method, { device }) {
      if (!isAllowed(method, device)) throw forbidden(method)
    },
    ...verifying((thrown) => asCorralError(thrown).code, ALWAYS),
    mapError(thrown) {
      const error = asCorralError(thrown)
      if (error.code === 'internal') onFault(thrown)
      return mapError(error)
    },
    invalidParams: mapInvalidParams,
  })

  const sessions = createSessionList({ engine: parts.engine, now: Date.now, onFault })

  return (connection, device = null) => {
    const feed = createFeed(parts.engine, connection.send, connection.share)
    const watches = createWatches(sessions, connection.send, connection.share)
    const endings: (() => void)[] = []
    const whenClosed = (work: () => void): void => void endings.push(work)
    const context: Context = {
      ...parts,
      device,
      feed,
      watches,
      whenClosed,
      call: (name, params, caller) => callOf(methods, name, params, { ...context, device: caller }),
    }
    const handler = answering(connection, (line, reply) =>
      actingFor(device, () => dispatcher.dispatch(line, context, reply)),
    )
    return {
      ...handler,
      drain() {
        feed.drained()
        watches.drained()
      },
      closed() {
        feed.closeAll()
        watches.closeAll()
        for (const work of endings) orFault(work, onFault)
      },
    }
  }
}

/** A method for somebody on another machine: with the rights that they have there, and whatever it throws is theirs. */
async function callOf(
  methods: readonly Method<Context>[],
  name: string,
  given: unknown,
  context: Context,
): Promise<unknown> {
  const method = methods.find((one) => one.name === name)
  if (!method || 'streaming' in method || name === 'member.call')
    throw new CorralError('unsupported', `${name} cannot be called from another machine`)
  if (!isAllowed(method, context.device)) throw forbidden(method)
  const params = method.params.safeParse(given)
  if (!params.success) throw new CorralError('invalid', `${name}: ${params.error.issues[0]!.message}`)
  return actingFor(context.device, () => method.handler(params.data, context))
}

function orFault(work: () => void, onFault: (error: unknown) => void): void {
  try {
    work()
  } catch (error) {
    onFault(error)
  }
}

type Dispatch = (line: Buffer, reply: (json: string | null) => void) => void

/** Requests of a connection, and their answers. One that has too much under way waits. */
function answering(connection: LineConnection, dispatch: Dispatch): LineHandler {
  let pending = 0
  let held = false
  let ended = false

  function done(): void {
    pending -= 1
    if (ended && pending === 0) connection.close()
    if (!held || pending > MAX_PENDING / 2) return
    held = false
    connection.resume()
  }

  return {
    line(line) {
      pending += 1
      if (pending > MAX_PENDING && !held) {
        held = true
        connection.pause()
      }
      dispatch(line, (json) => {
        if (json !== null) connection.send(json)
        done()
      })
    },
    oversize(limit) {
      const message = `a line may have ${limit} bytes`
      connection.send(errorLine({ code: INVALID_REQUEST, message, data: { limit } }))
    },
    ended() {
      ended = true
      if (pending === 0) connection.close()
    },
  }
}

function forbidden({ name, scope }: Pick<Method<Context>, 'name' | 'scope'>): CorralError {
  const message = `This device may not call ${name}: that needs the scope \`${scope}\``
  return new CorralError('forbidden', message, { scope })
}
