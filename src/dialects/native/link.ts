import { DEFAULT_MAX_LINE } from '../../transports/ndjson.ts'

/** The daemon refused: `code` is a name from core's list of errors, `unauthorized`, or `protocol`. */
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

/** Nobody listens at the address. */
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
  /** `answered` is called at once with the result, before anything that comes behind it is read. */
  request(method: string, params: unknown, answered?: (result: unknown) => void): Promise<unknown>
  pause(): void
  resume(): void
  close(): void
  /** Resolves when the connection is over, for whatever reason. */
  readonly closed: Promise<void>
}

export type Notified = (method: string, params: unknown) => void

/** Makes a connection; throws `DaemonUnreachable` when nobody answers. */
export type Dial = (notified?: Notified) => Promise<Link>

type Message = {
  id?: number
  method?: string
  params?: unknown
  result?: unknown
  error?: { code: number; message: string; data?: Record<string, unknown> }
}

/** The requests of one connection that have no answer yet. */
export interface PendingRequests {
  request: Link['request']
  receive(text: string): void
  /** There will be no more answers. */
  lost(): void
}

function tooLong(): NativeError {
  const message = `a request may have ${DEFAULT_MAX_LINE} bytes`
  return new NativeError({ code: -32602, message, data: { code: 'invalid', limit: DEFAULT_MAX_LINE } })
}

/** Counted only where it could be too much; a browser has no `Buffer`. */
function bytesOf(json: string): number {
  return json.length * 3 > DEFAULT_MAX_LINE ? new TextEncoder().encode(json).length : json.length
}

export function createPendingRequests(write: (json: string) => void, notified: Notified): PendingRequests {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let last = 0
  return {
    request(method, params, answered) {
      const id = ++last
      const json = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      // The daemon would hang up, and whoever takes that for a lost connection would send it again and again.
      if (bytesOf(json) > DEFAULT_MAX_LINE) return Promise.reject(tooLong())
      return new Promise((resolve, reject) => {
        const done = (result: unknown): void => {
          answered?.(result)
          resolve(result)
        }
        waiting.set(id, { resolve: done, reject })
        write(json)
      })
    },
    receive(text) {
      const message = JSON.parse(text) as Message
      if (message.method !== undefined) return notified(message.method, message.params)
      const waiter = waiting.get(message.id ?? -1)
      waiting.delete(message.id ?? -1)
      if (message.error) waiter?.reject(new NativeError(message.error))
      else waiter?.resolve(message.result)
    },
    lost() {
      for (const waiter of waiting.values()) waiter.reject(new ConnectionLost())
      waiting.clear()
    },
  }
}
