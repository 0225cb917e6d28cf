import { z } from 'zod'
import type { LineConnection, LineHandler } from '../../transports/unix.ts'
import { errorOf, INTERNAL_ERROR, INVALID_REQUEST, wrongParams } from './errors.ts'
import { createLane, type Gate } from './lane.ts'
import { HumanLayerError } from './method.ts'
import { errorLine, readRequest, resultLine, type Dispatch, type Request } from './rpc.ts'
import { createSubscriptions, subscribeParams, type SubscriptionOptions } from './subscription.ts'

/** Requests of one connection that may be under way, with no more bytes than a line has; then nothing more is read. */
const MAX_PENDING = 256

export interface ConnectionOptions extends Omit<SubscriptionOptions, 'send' | 'failed'> {
  dispatch: Dispatch
  /** Methods whose answers can be large; all connections make them behind this gate. */
  heavy: ReadonlySet<string>
  gate: Gate
  /** Longest line in bytes, with its LF. */
  lineLimit: number
}

const unsubscribeParams = z.object({ subscription_id: z.string().nullish() })

/** Serves one client: requests are answered as they are done, events come in between. */
export function serveConnection(connection: LineConnection, options: ConnectionOptions): LineHandler {
  const { dispatch, heavy, gate, lineLimit } = options
  let hasRoom = true
  const lane = createLane(gate, () => hasRoom)
  const subscriptions = createSubscriptions({
    ...options,
    send,
    failed() {
      send(errorLine({ code: INTERNAL_ERROR, message: 'the event log could not be read' }))
      finish()
    },
  })
  let pending = 0
  let pendingBytes = 0
  let held = false
  let finishing = false

  function send(line: string | Buffer): boolean {
    hasRoom = connection.send(line)
    return hasRoom
  }

  function refuse(error: HumanLayerError, id?: string): void {
    send(
      errorLine(
        errorOf(error, () => undefined),
        id,
      ),
    )
  }

  /** Nothing more is read; what is under way is still answered. */
  function finish(): void {
    finishing = true
    subscriptions.closeAll()
    if (pending === 0) connection.close()
  }

  function begun(bytes: number): void {
    pending += 1
    pendingBytes += bytes
    if (held || (pending <= MAX_PENDING && pendingBytes <= lineLimit)) return
    held = true
    connection.pause()
  }

  function done(line: string, bytes: number): void {
    send(line)
    connection.flush()
    pending -= 1
    pendingBytes -= bytes
    if (finishing && pending === 0) connection.close()
    if (!held || pending > MAX_PENDING / 2 || pendingBytes > lineLimit) return
    held = false
    connection.resume()
  }

  function subscribe({ params }: Request): void {
    const parsed = subscribeParams.safeParse(params)
    if (!parsed.success) {
      send(errorLine(wrongParams(parsed.error)))
      return finish()
    }
    try {
      subscriptions.open(parsed.data)
    } catch (error) {
      if (!(error instanceof HumanLayerError)) throw error
      refuse(error)
    }
  }

  function unsubscribe({ id, params }: Request): void {
    const parsed = unsubscribeParams.safeParse(params)
    if (!parsed.success) {
      send(errorLine(wrongParams(parsed.error), id))
      return
    }
    const { subscription_id: given } = parsed.data
    if (given && subscriptions.close(given)) {
      send(resultLine('{"success":true}', id))
      return
    }
    const message = given ? `subscription not found: ${given.slice(0, 100)}` : 'subscription_id is required'
    const code = given ? 'subscription_not_found' : 'invalid_params'
    refuse(new HumanLayerError(message, { code, field: 'subscription_id' }), id)
  }

  return {
    line(line) {
      if (finishing) return
      const request = readRequest(line)
      if (typeof request === 'string') return void send(request)
      if (request.method === 'Subscribe') return subscribe(request)
      if (request.method === 'Unsubscribe' && request.versioned) return unsubscribe(request)
      const bytes = line.length
      begun(bytes)
      const reply = (text: string): void => done(text, bytes)
      if (!heavy.has(request.method ?? '')) return dispatch(request, reply)
      lane.add((next) =>
        dispatch(request, (text) => {
          reply(text)
          next()
        }),
      )
    },
    drain() {
      hasRoom = true
      // Answers before events: a long replay would leave no room for them.
      lane.drained()
      subscriptions.drained()
    },
    oversize() {
      const message = `Invalid request: a line may have ${lineLimit} bytes`
      send(errorLine({ code: INVALID_REQUEST, message, data: { code: 'line_too_long', limit: lineLimit } }))
    },
    ended: finish,
    closed() {
      lane.close()
      subscriptions.closeAll()
    },
  }
}
