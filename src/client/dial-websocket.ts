import { WebSocket } from 'ws'
import { DEFAULT_MAX_MESSAGE } from '../transports/ndjson.ts'
import type { Target } from './dial.ts'

import {
  ConnectionLost,
  createPendingRequests,
  DaemonUnreachable,
  unauthorized,
  type Link,
  type Notified,
} from './link.ts'

const HANDSHAKE_MS = 10_000

/** A reader that pauses for longer than the daemon waits for a sign of life loses the connection. */
export function dialWebSocket({ address, token, ca }: Target, notified: Notified): Promise<Link> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(address, {
      perMessageDeflate: false,
      handshakeTimeout: HANDSHAKE_MS,
      maxPayload: 0, // the daemon is trusted with the size of its answers
      ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
      ...(ca === undefined ? {} : { ca }),
    })
    const { promise: closed, resolve: ended } = Promise.withResolvers<void>()
    const pending = createPendingRequests((json) => ws.send(json), notified, DEFAULT_MAX_MESSAGE)
    const isOpen = (): boolean => ws.readyState === WebSocket.OPEN
    ws.on('message', (data: Buffer) => pending.receive(data.toString()))
    ws.on('unexpected-response', (request, { statusCode = 0 }) => {
      request.destroy()
      reject(refusal(address, statusCode))
    })
    ws.on('error', (error) => reject(new DaemonUnreachable(address, error)))
    ws.on('close', () => {
      pending.lost()
      ended()
    })
    ws.on('open', () => {
      resolve({
        get open() {
          return isOpen()
        },
        request: (...call) => (isOpen() ? pending.request(...call) : Promise.reject(new ConnectionLost())),
        pause() {
          ws.pause()
          return true
        },
        resume: () => ws.resume(),
        close: () => ws.terminate(),
        closed,
      })
    })
  })
}

/** Who is refused need not try again; who finds the daemon too busy, or stopping, may. */
function refusal(address: string, status: number): Error {
  if (status !== 401 && status !== 403)
    return new DaemonUnreachable(address, new Error(`the answer is ${status}`))
  return unauthorized(`the daemon at ${address} answered ${status}`)
}
