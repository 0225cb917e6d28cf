import { z } from 'zod'
import type { LineConnection, LineHandler } from '../../transports/unix.ts'
import { HumanLayerError } from './method.ts'
import {
  errorLine,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  INVALID_REQUEST,
  parseErrorLine,
  readRequest,
  resultLine,
  wrongParams,
  type Dispatch,
  type Request,
} from './rpc.ts'
import { createSubscriptions, subscribeParams, type SubscriptionOptions } from './subscription.ts'

/** Requests of one connection that may be under way; beyond that nothing more is read from it. */
const MAX_PENDING = 256

export interface ConnectionOptions extends Omit<SubscriptionOptions, 'send' | 'failed'> {
  dispatch: Dispatch
  /** Longest line in bytes, with its LF. */
  lineLimit: number
}

const unsubscribeParams = z.object({ subscription_id: z.string().nullish() })

/** Serves one client: requests are answered as they are done, events come in between. */
export function serveConnection(connection: LineConnection, options: ConnectionOptions): LineHandler {
  const { dispatch, lineLimit } = options
  const subscriptions = createSubscriptions({
    ...options,
    send: connection.send,
    failed() {
      connection.send(errorLine({ code: INTERNAL_ERROR, message: 'the event log could not be read' }))
      finish()
    },
  })
  let pending = 0
  let held = false
  let finishing = false

  /** Nothing more is read; what is under way is still answered. */
  function finish(): void {
    finishing = true
    subscriptions.closeAll()
    if (pending === 0) connection.close()
  }

  function done(line: string): void {
    connection.send(line)
    connection.flush()
    pending -= 1
    if (finishing && pending === 0) connection.close()
    if (!held || pending > MAX_PENDING / 2) return
    held = false
    connection.resume()
  }

  function subscribe({ params }: Request): void {
    const parsed = subscribeParams.safeParse(params)
    if (!parsed.success) {
      connection.send(errorLine(wrongParams(INVALID_PARAMS, parsed.error)))
      return finish()
    }
    try {
      subscriptions.open(parsed.data)
    } catch (error) {
      if (!(error instanceof HumanLayerError)) throw error
      connection.send(errorLine({ code: INTERNAL_ERROR, message: error.message, data: error.data }))
    }
  }

  function unsubscribe({ id, params }: Request): void {
    const parsed = unsubscribeParams.safeParse(params)
    if (!parsed.success) {
      connection.send(errorLine(wrongParams(INTERNAL_ERROR, parsed.error), id))
      return
    }
    const { subscription_id: given } = parsed.data
    if (given && subscriptions.close(given)) {
      connection.send(resultLine('{"success":true}', id))
      return
    }
    const message = given ? `subscription not found: ${given.slice(0, 100)}` : 'subscription_id is required'
    const data = { code: given ? 'subscription_not_found' : 'invalid_params', field: 'subscription_id' }
    connection.send(errorLine({ code: INTERNAL_ERROR, message, data }, id))
  }

  return {
    line(line) {
      if (finishing) return
      const request = readRequest(line)
      if (!request) return void connection.send(parseErrorLine)
      if (request.method === 'Subscribe') return subscribe(request)
      if (request.method === 'Unsubscribe' && request.versioned) return unsubscribe(request)
      pending += 1
      if (pending > MAX_PENDING && !held) {
        held = true
        connection.pause()
      }
      dispatch(request, done)
    },
    drain: subscriptions.drained,
    oversize() {
      const message = `Invalid request: a line may have ${lineLimit} bytes`
      connection.send(
        errorLine({ code: INVALID_REQUEST, message, data: { code: 'line_too_long', limit: lineLimit } }),
      )
    },
    ended: finish,
    closed: subscriptions.closeAll,
  }
}
