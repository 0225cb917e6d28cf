import type { ErrorCode } from './api.ts'

/** Whatever the client throws: `code` is stable, the message is for people, `remedy` says what to do. */
export abstract class ClientError extends Error {
  abstract readonly code: string
  abstract readonly remedy: string
}

/** The daemon refused. `unauthorized`: the token is wrong, or was replaced. `protocol`: it does not know the method. */
export class NativeError extends ClientError {
  readonly code: ErrorCode | 'unauthorized' | 'protocol'
  readonly remedy: string
  readonly rpcCode: number
  readonly data: Readonly<Record<string, unknown>>

  constructor(error: { code: number; message: string; data?: Record<string, unknown> }) {
    super(error.message)
    this.name = 'NativeError'
    this.rpcCode = error.code
    this.data = error.data ?? {}
    const name = this.data['code']
    this.code = typeof name === 'string' ? (name as ErrorCode) : 'protocol'
    this.remedy = remedies[this.code] ?? ''
  }
}

/*
 * What to do about refusals. `connect` of a program fills it in. The dashboard has its own words for what goes wrong, and does
 * not load the list.
 */
let remedies: Readonly<Record<string, string>> = {}

export function explainWith(list: Readonly<Record<string, string>>): void {
  remedies = list
}

export function unauthorized(message: string): NativeError {
  return new NativeError({ code: -32000, message, data: { code: 'unauthorized' } })
}

/** Nobody listens at the address, or whoever does is no daemon that can be talked to: then the message says what happened. */
export class DaemonUnreachable extends ClientError {
  readonly code = 'unreachable'
  readonly remedy: string
  readonly path: string

  constructor(path: string, cause: unknown) {
    const other = otherReason(cause)
    super(other === null ? `no daemon is listening on ${path}` : `no daemon answers at ${path}: ${other}`, {
      cause,
    })
    this.name = 'DaemonUnreachable'
    this.path = path
    this.remedy =
      other === null
        ? 'Start the daemon: corral start --detach'
        : 'Look whether the address is that of a daemon; for wss: give its certificate as `ca`.'
  }
}

/** Null: nobody is there, or it is not known why. */
function otherReason(cause: unknown): string | null {
  if (!(cause instanceof Error) || cause instanceof ClientError || cause.message === '') return null
  const { code } = cause as { code?: unknown }
  return code === 'ENOENT' || code === 'ECONNREFUSED' ? null : cause.message
}

/** The connection went away before the answer came: it is not known whether the request was carried out. */
export class ConnectionLost extends ClientError {
  readonly code: 'connection_lost' | 'closed'
  readonly remedy: string

  constructor(
    message = 'the connection to the daemon was lost',
    code: ConnectionLost['code'] = 'connection_lost',
  ) {
    super(message)
    this.name = 'ConnectionLost'
    this.code = code
    this.remedy =
      code === 'closed' ? 'Connect again.' : 'Look whether it was carried out, and try again if not.'
  }
}

/** One connection, without any memory of earlier ones. */
export interface Link {
  readonly open: boolean
  /** `answered` is called at once with the result, before anything that comes behind it is read. */
  request(method: string, params: unknown, answered?: (result: unknown) => void): Promise<unknown>
  /** Reads nothing more. False: that cannot be done here. */
  pause(): boolean
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

function tooLong(limit: number): NativeError {
  const message = `a request may have ${limit} bytes`
  return new NativeError({ code: -32602, message, data: { code: 'invalid', limit } })
}

/** Counted only where it could be too much; a browser has no `Buffer`. */
function isLonger(json: string, limit: number): boolean {
  return json.length * 3 > limit && new TextEncoder().encode(json).length > limit
}

/** `limit`: the bytes that the daemon reads of one request, on this kind of connection. */
export function createPendingRequests(
  write: (json: string) => void,
  notified: Notified,
  limit: number,
): PendingRequests {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
  let last = 0
  return {
    request(method, params, answered) {
      const id = ++last
      const json = JSON.stringify({ jsonrpc: '2.0', id, method, params })
      // The daemon would hang up, and whoever takes that for a lost connection would send it again and again.
      if (isLonger(json, limit)) return Promise.reject(tooLong(limit))
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
