import { createConnection } from 'node:net'
import { createLineSplitter } from '../../transports/ndjson.ts'

/** The daemon refused: `code` is a name from core's list of errors, or `protocol`. */
export class NativeError extends Error {
  readonly code: string
  readonly rpcCode: number
  readonly data: Readonly<Record<string, unknown>>

  constructor(error: { code: number; message: string; data?: Record<string, unknown> }) {
    super(error.message)
    this.name = 'NativeError'
    this.rpcCode = error.code
    this.data = error.data ?? {}
    const name = this.data['code']
    this.code = typeof name === 'string' ? name : 'protocol'
  }
}

/** Nobody listens on the socket. */
export class DaemonUnreachable extends Error {
  readonly path: string

  constructor(path: string, cause: unknown) {
    super(`no daemon is listening on ${path}`, { cause })
    this.name = 'DaemonUnreachable'
    this.path = path
  }
}

/** The connection went away before the answer came: it is not known whether the request was carried out. */
export class ConnectionLost extends Error {
  constructor(message = 'the connection to the daemon was lost') {
    super(message)
    this.name = 'ConnectionLost'
  }
}

/** One connection, without any memory of earlier ones. */
export interface Link {
  readonly open: boolean
  request(method: string, params: unknown): Promise<unknown>
  pause(): void
  resume(): void
  close(): void
  /** Resolves when the connection is over, for whatever reason. */
  readonly closed: Promise<void>
}

type Message = {
  id?: number
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

export function dial(
  path: string,
  notified: (method: string, params: unknown) => void = () => {},
): Promise<Link> {
  return new Promise((resolve, reject) => {
    const socket = createConnection(path)
    const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
    const { promise: closed, resolve: ended } = Promise.withResolvers<void>()
    let last = 0

    function receive(line: Buffer): void {
      const message = JSON.parse(line.toString()) as Message
      if (message.method !== undefined) return notified(message.method, message.params)
      const waiter = waiting.get(message.id ?? -1)
      waiting.delete(message.id ?? -1)
      if (message.error) waiter?.reject(new NativeError(message.error))
      else waiter?.resolve(message.result)
    }

    const splitter = createLineSplitter({ onLine: receive, onOverflow: () => socket.destroy() })
    socket.on('data', (chunk: Buffer) => splitter.push(chunk))
    socket.on('error', (error) => reject(new DaemonUnreachable(path, error)))
    socket.on('close', () => {
      for (const waiter of waiting.values()) waiter.reject(new ConnectionLost())
      waiting.clear()
      ended()
    })
    socket.on('connect', () => {
      resolve({
        get open() {
          return !socket.destroyed && socket.writable
        },
        request(method, params) {
          if (socket.destroyed || !socket.writable) return Promise.reject(new ConnectionLost())
          const id = ++last
          return new Promise((done, fail) => {
            waiting.set(id, { resolve: done, reject: fail })
            socket.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`)
          })
        },
        pause: () => void socket.pause(),
        resume: () => void socket.resume(),
        close: () => void socket.destroy(),
        closed,
      })
    })
  })
}
