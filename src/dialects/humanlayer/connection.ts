import type { LineConnection, LineHandler } from '../../transports/connection.ts'
import { INTERNAL_ERROR, INVALID_REQUEST } from './errors.ts'
import { createLane, type Slots } from './lane.ts'
import type { Context } from './method.ts'
import { errorLine, readRequest, type Dispatch } from './rpc.ts'
import { createSubscriptions, type SubscriptionOptions } from './subscription.ts'

/** Requests of one connection that may be under way, with no more bytes than a line has; then nothing more is read. */
const MAX_PENDING = 256

export interface ConnectionOptions extends Omit<SubscriptionOptions, 'send' | 'failed'> {
  options: Context['options']
  dispatch: Dispatch
  /** Methods whose answers can be large; all connections share the slots for making them. */
  heavy: ReadonlySet<string>
  slots: Slots
  /** Longest line in bytes, with its LF. */
  lineLimit: number
}

/** Serves one client: requests are answered as they are done, events come in between. */
export function serveConnection(connection: LineConnection, shared: ConnectionOptions): LineHandler {
  const { engine, options, dispatch, heavy, slots, lineLimit } = shared
  let hasRoom = true
  const lane = createLane(slots, () => hasRoom)
  const pending = createPending(connection, lineLimit)
  const subscriptions = createSubscriptions({
    ...shared,
    send,
    failed() {
      send(errorLine({ code: INTERNAL_ERROR, message: 'the event log could not be read' }))
      finish()
    },
  })
  const context: Context = { engine, options, subscriptions, finish }

  function send(line: string | Buffer): boolean {
    hasRoom = connection.send(line)
    return hasRoom
  }

  function finish(): void {
    subscriptions.closeAll()
    pending.finish()
  }

  return {
    line(line) {
      if (pending.finishing) return
      const request = readRequest(line)
      if (typeof request === 'string') return void send(request)
      const done = pending.begin(line.length)
      const reply = (text: string): void => {
        send(text)
        done()
      }
      if (!heavy.has(request.method ?? '')) return dispatch(request, context, reply)
      lane.add((next) =>
        dispatch(request, context, (text) => {
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

/** The requests of one connection that are under way. */
interface Pending {
  /** One more, of so many bytes. Returns what is to be called when its answer has been sent. */
  begin(bytes: number): () => void
  /** Closes the connection when nothing is under way any more. */
  finish(): void
  readonly finishing: boolean
}

function createPending(connection: LineConnection, maxBytes: number): Pending {
  let requests = 0
  let bytes = 0
  let held = false
  let finishing = false

  function done(size: number): void {
    connection.flush()
    requests -= 1
    bytes -= size
    if (finishing && requests === 0) connection.close()
    if (!held || requests > MAX_PENDING / 2 || bytes > maxBytes) return
    held = false
    connection.resume()
  }

  return {
    begin(size) {
      requests += 1
      bytes += size
      if (!held && (requests > MAX_PENDING || bytes > maxBytes)) {
        held = true
        connection.pause()
      }
      return () => done(size)
    },
    finish() {
      finishing = true
      if (requests === 0) connection.close()
    },
    get finishing() {
      return finishing
    },
  }
}
