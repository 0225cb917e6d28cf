import type { Device } from '../../core/devices.ts'
import { asCorralError } from '../../core/error.ts'
import type { LineHandler } from '../../transports/connection.ts'
import { createDispatcher, errorLine, type Dispatcher } from '../../transports/jsonrpc.ts'
import type { WebSocketConnection } from '../../transports/websocket.ts'
import { isAllowed, type Method, verifying } from '../method.ts'
import { ALWAYS, ClawdeError, codeNameOf, CODES, rpcError } from './errors.ts'
import { createBucket, SEND_LIMIT } from './limits.ts'
import type { ClawdeMethod, Context, Services } from './method.ts'
import { Outbox } from './outbox.ts'
import { anySpelling, oneWay, unixTimes } from './spelling.ts'
import { Stream } from './stream.ts'
import { createWorkQueue } from './work-queue.ts'

/** Requests of one connection that may be under way; beyond that nothing more is read from it. */
const MAX_PENDING = 256

/** What a method has at hand, and what becomes of its request. */
interface RequestContext extends Context {
  /** Its pushes wait for its answer. */
  held: boolean
  heavy<T>(work: () => T | Promise<T>): Promise<T>
}

export type Dispatch = Dispatcher<RequestContext>

export function dispatcherOf(
  methods: readonly ClawdeMethod[],
  { home, onFault }: { home: string; onFault: (error: unknown) => void },
): Dispatch {
  return createDispatcher<RequestContext, Method<RequestContext>>({
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
    ...verifying(codeNameOf, ALWAYS, oneWay),
  })
}

/** A method under one of its names, with parameters in any spelling. */
function callable(method: ClawdeMethod, name: string): Method<RequestContext> {
  const { handler, changes, heavy } = method
  return {
    ...method,
    name,
    params: anySpelling(method.params, method.aliases),
    handler(params, context) {
      if (changes) {
        context.held = true
        context.stream.hold()
      }
      const work = (): unknown => handler(params, context)
      const value = heavy ? context.heavy(work) : work()
      if (!context.stream.unix) return value
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
  const pending = new PendingRequests(connection)
  let hasSpace = true

  function send(line: string | Buffer): boolean {
    hasSpace = connection.send(line)
    return hasSpace
  }

  const large = createWorkQueue(() => hasSpace)
  const outbox = new Outbox(send, SEND_LIMIT)
  const failed = (): void => connection.close(1011, 'the log could not be read')
  const stream = new Stream({ ...services, outbox, failed })
  stream.unix = unix

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
      pending.begin()
      const context: RequestContext = { ...services, stream, device, held: false, heavy: large.run }
      dispatch.dispatch(line, context, (json) => {
        if (json !== null) send(json)
        if (context.held) stream.release()
        pending.end()
      })
    },
    drain() {
      hasSpace = true
      large.drained()
      stream.drained()
    },
    closed() {
      large.close()
      stream.close()
    },
  }
}

/** Requests that are under way. Where there are too many, nothing more is read until half of them are done. */
class PendingRequests {
  readonly #connection: WebSocketConnection
  #count = 0
  #paused = false

  constructor(connection: WebSocketConnection) {
    this.#connection = connection
  }

  begin(): void {
    this.#count += 1
    if (this.#count <= MAX_PENDING || this.#paused) return
    this.#paused = true
    this.#connection.pause()
  }

  end(): void {
    this.#count -= 1
    if (!this.#paused || this.#count > MAX_PENDING / 2) return
    this.#paused = false
    this.#connection.resume()
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
