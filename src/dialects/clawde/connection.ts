import type { Device } from '../../core/devices.ts'
import { asCorralError } from '../../core/error.ts'
import type { LineHandler } from '../../transports/connection.ts'
import { createDispatcher, errorLine, type Dispatcher } from '../../transports/jsonrpc.ts'
import type { WebSocketConnection } from '../../transports/websocket.ts'
import { isAllowed, type Method, verifying } from '../method.ts'
import { ALWAYS, ClawdeError, codeNameOf, CODES, rpcError } from './errors.ts'
import { createLane } from './lane.ts'
import { createBucket, SEND_LIMIT } from './limits.ts'
import type { ClawdeMethod, Context, Services } from './method.ts'
import { anySpelling, unixTimes } from './spelling.ts'
import { createStream } from './stream.ts'

/** Requests of one connection that may be under way; beyond that nothing more is read from it. */
const MAX_PENDING = 256

/** One request. */
interface Call extends Context {
  /** Its pushes wait for its answer. */
  held: boolean
  heavy<T>(work: () => T | Promise<T>): Promise<T>
}

export type Dispatch = Dispatcher<Call>

export function dispatcherOf(
  methods: readonly ClawdeMethod[],
  { home, onFault }: { home: string; onFault: (error: unknown) => void },
): Dispatch {
  return createDispatcher<Call, Method<Call>>({
    methods: methods.flatMap((method) =>
      [method.name, ...(method.also ?? [])].map((name) => callable(method, name)),
    ),
    admit(method, { device }) {
      if (isAllowed(method, device)) return
      const data = { reason: 'scope', scope: method.scope }
      throw new ClawdeError('unauthorized', `${method.name} is not for this device`, data)
    },
    mapError(thrown) {
      if (!(thrown instanceof ClawdeError) && asCorralError(thrown).code === 'internal') onFault(thrown)
      return rpcError(thrown, home)
    },
    ...verifying(codeNameOf, ALWAYS, { spellings: true }),
  })
}

/** A method under one of its names, with parameters in any spelling. */
function callable(method: ClawdeMethod, name: string): Method<Call> {
  const { handler, changes, heavy } = method
  return {
    ...method,
    name,
    params: anySpelling(method.params, method.aliases),
    handler(params, call) {
      if (changes) {
        call.held = true
        call.stream.hold()
      }
      const work = (): unknown => handler(params, call)
      const value = heavy ? call.heavy(work) : work()
      if (!call.stream.unix) return value
      return value instanceof Promise ? value.then(unixTimes) : unixTimes(value)
    },
  }
}

export interface Client {
  /** Null: the owner. */
  device: Device | null
  /** Moments as numbers. */
  unix: boolean
}

export interface Served extends LineHandler {
  readonly stream: Context['stream']
}

/** Serves one client: requests are answered as they are done, pushes come in between. */
export function serveConnection(
  connection: WebSocketConnection,
  services: Services,
  { device, unix }: Client,
  dispatch: Dispatch,
): Served {
  const { metrics, settings } = services
  const bucket = createBucket(settings.requestsPerSecond)
  let room = true
  let pending = 0
  let paused = false

  function send(line: string | Buffer): boolean {
    room = connection.send(line)
    return room
  }

  const lane = createLane(() => room)
  const stream = createStream({
    ...services,
    send,
    heldLimit: SEND_LIMIT,
    failed: () => connection.close(1011, 'the log could not be read'),
  })
  stream.unix = unix

  function done(call: Call, json: string | null): void {
    if (json !== null) send(json)
    if (call.held) stream.release()
    pending -= 1
    if (!paused || pending > MAX_PENDING / 2) return
    paused = false
    connection.resume()
  }

  return {
    stream,
    line(line) {
      metrics.count('rpc_requests')
      const retryAfterMs = bucket.take()
      if (retryAfterMs > 0) {
        metrics.count('ipc_rate_limit_hits')
        const refusal = tooFast(line, retryAfterMs)
        if (refusal !== null) send(refusal)
        return
      }
      pending += 1
      if (pending > MAX_PENDING && !paused) {
        paused = true
        connection.pause()
      }
      const call: Call = { ...services, stream, device, held: false, heavy: lane.run }
      dispatch.dispatch(line, call, (json) => done(call, json))
    },
    drain() {
      room = true
      lane.drained()
      stream.drained()
    },
    closed() {
      lane.close()
      stream.close()
    },
  }
}

/** With the id of the request that is refused; nobody waits for an answer to a notification. */
function tooFast(line: Buffer, retryAfterMs: number): string | null {
  const error = {
    code: CODES.tooManyRequests,
    message: 'too many requests',
    data: { reason: 'rate', retryAfterMs },
  }
  let id: unknown = null
  try {
    const request = JSON.parse(line.toString()) as { id?: unknown } | null
    if (typeof request !== 'object' || request === null || Array.isArray(request)) return errorLine(error)
    if (request.id === undefined) return null
    id = request.id
  } catch {
    return errorLine(error)
  }
  return errorLine(error, typeof id === 'string' || typeof id === 'number' ? id : null)
}
