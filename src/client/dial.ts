import { createConnection } from 'node:net'
import { createLineSplitter, DEFAULT_MAX_LINE } from '../transports/ndjson.ts'
import { ConnectionLost, createPendingRequests, DaemonUnreachable, type Link, type Notified } from './link.ts'

/** Where a daemon listens: the path of its socket, or a `ws:` or `wss:` URL and what it takes to be let in there. */
export interface Target {
  address: string
  token?: string | undefined
  /** Certificates to trust, in PEM: a daemon that listens for others has usually made its own. */
  ca?: string | undefined
}

export async function dial(target: Target, notified: Notified = () => {}): Promise<Link> {
  if (!/^wss?:/.test(target.address)) return dialSocket(target.address, notified)
  const { dialWebSocket } = await import('./dial-websocket.ts')
  return dialWebSocket(target, notified)
}

function dialSocket(path: string, notified: Notified): Promise<Link> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    const { promise: closed, resolve: ended } = Promise.withResolvers<void>()
    const pending = createPendingRequests(
      (json) => void socket.write(`${json}\n`),
      notified,
      DEFAULT_MAX_LINE,
    )
    const isOpen = (): boolean => !socket.destroyed && socket.writable
    const splitter = createLineSplitter({
      onLine: (line) => pending.receive(line.toString()),
      onOverflow: () => socket.destroy(),
    })
    socket.on('data', (chunk: Buffer) => splitter.push(chunk))
    socket.on('error', (error) => reject(new DaemonUnreachable(path, error)))
    socket.on('close', () => {
      pending.lost()
      ended()
    })
    socket.on('connect', () => {
      resolve({
        get open() {
          return isOpen()
        },
        request: (...call) => (isOpen() ? pending.request(...call) : Promise.reject(new ConnectionLost())),
        pause() {
          socket.pause()
          return true
        },
        resume: () => void socket.resume(),
        close: () => void socket.destroy(),
        closed,
      })
    })
  })
}
