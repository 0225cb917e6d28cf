import type { IncomingMessage } from 'node:http'
import type { Device } from '../core/devices.ts'
import type { LineHandler } from '../transports/connection.ts'
import { HttpError } from '../transports/http-message.ts'
import { errorLine, PARSE_ERROR, resultLine, type RpcError } from '../transports/jsonrpc.ts'
import type { WebSocketConnection, WebSocketOptions } from '../transports/websocket.ts'
import type { Passes } from './passes.ts'
import type { Secret } from './secret.ts'
import { bearer } from './tokens.ts'

const POLICY = 1008
const METHOD = 'daemon.auth'
/** What a stranger may ask for before it has to go. */
const MAX_ASKED = 5

/** Who has come in, and what else they said about it. */
export interface Visitor {
  /** Null: the owner. */
  device: Device | null
  params: Readonly<Record<string, unknown>>
  /** What its program calls itself; empty: it does not say. */
  program: string
  /** Whether the token that they have shown is still worth something. */
  holds(): boolean
}

export interface TokenAccess {
  secret: Secret
  /** The device that a token belongs to; null when it belongs to none. */
  authenticate?(token: string): Device | null
  /** Of web pages of ours. */
  passes?: Pick<Passes, 'find'>
  /** JSON-RPC code of a refusal. */
  code: number
  accept(connection: WebSocketConnection, visitor: Visitor): LineHandler
  /** What strangers may ask for all the same. */
  beforehand?: Beforehand
}

export interface Beforehand {
  method: string
  answer(params: unknown): Promise<unknown>
  /** Of whatever `answer` threw. */
  error(thrown: unknown): RpcError
}

/**
 * Who has the token may come in: it is in the `Authorization` header, or, since web pages cannot set one, in the first
 * message, `daemon.auth {token}`. A page of ours has a pass instead, and says `daemon.auth {key}`. Whoever has a wrong one, or
 * says anything else first, is told so and has to go.
 */
export function tokenAccess(access: TokenAccess): Pick<WebSocketOptions, 'authorize' | 'accept'> {
  const { secret } = access
  /** Undefined: nobody. */
  function visitor(token: string | null, program = '', params = {}): Visitor | undefined {
    if (token === null) return undefined
    const about = { params, program }
    if (secret.matches(token)) return { device: null, ...about, holds: () => secret.matches(token) }
    const device = access.authenticate?.(token)
    return device ? { device, ...about, holds: () => true } : undefined
  }

  function withPass(req: IncomingMessage, key: string, params: Visitor['params']): Visitor | undefined {
    const pass = access.passes?.find(req, key)
    if (!pass) return undefined
    return { device: pass.device, params, program: req.headers['user-agent'] ?? '', holds: pass.holds }
  }

  return {
    authorize({ headers }) {
      if (headers.authorization === undefined) return 'stranger'
      if (visitor(bearer(headers.authorization))) return 'known'
      return new HttpError(401, 'Invalid token', { 'www-authenticate': 'Bearer' })
    },
    accept(connection, req, admission) {
      const { headers } = req
      const program = headers['user-agent']
      if (admission === 'stranger') {
        return afterToken(connection, access, (params) => {
          const { token, key } = params
          if (typeof key === 'string') return withPass(req, key, params)
          return visitor(typeof token === 'string' ? token : '', program, params)
        })
      }
      const known = visitor(bearer(headers.authorization), program)
      if (known) return access.accept(connection, known)
      // It was put out between the two looks.
      connection.close(POLICY, 'not authenticated')
      return { line: () => {} }
    },
  }
}

function afterToken(
  connection: WebSocketConnection,
  { code, accept, beforehand }: TokenAccess,
  visitor: (params: Record<string, unknown>) => Visitor | undefined,
): LineHandler {
  let handler: LineHandler | null = null
  let asked = 0

  function refuse(line: string): void {
    connection.send(line)
    connection.close(POLICY, 'not authenticated')
  }

  function judge(line: Buffer): void {
    const request = parse(line)
    if (!request) return refuse(errorLine({ code: PARSE_ERROR, message: 'not JSON' }))
    const { id, method, params } = request
    const refused = (message: string): void =>
      refuse(errorLine({ code, message, data: { code: 'unauthorized' } }, id))
    if (beforehand && method === beforehand.method && ++asked <= MAX_ASKED) return ask(beforehand, request)
    if (method !== METHOD) return refused(`the first message must be ${METHOD}`)
    const known = visitor(params)
    if (!known) return refused('the token is not valid')
    connection.admit()
    if (id !== undefined) connection.send(resultLine(id, '{"authenticated":true}'))
    handler = accept(connection, known)
  }

  /** One at a time: nothing more is read until it is answered. */
  function ask({ answer, error }: Beforehand, { id, params }: First): void {
    connection.pause()
    answer(params)
      .then(
        (result) => resultLine(id ?? null, JSON.stringify(result)),
        (thrown: unknown) => errorLine(error(thrown), id),
      )
      .then((line) => {
        if (id !== undefined) connection.send(line)
        connection.resume()
      }, connection.terminate)
  }

  return {
    line: (line) => (handler ? handler.line(line) : judge(line)),
    drain: () => handler?.drain?.(),
    closed: () => handler?.closed?.(),
  }
}

interface First {
  id: string | number | null | undefined
  method: unknown
  params: Record<string, unknown>
}

/** Null when it is not even an object. */
function parse(line: Buffer): First | null {
  let value: unknown
  try {
    value = JSON.parse(line.toString())
  } catch {
    return null
  }
  if (typeof value !== 'object' || value === null) return null
  const { id, method, params } = value as Record<string, unknown>
  const isObject = typeof params === 'object' && params !== null && !Array.isArray(params)
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : id === undefined ? undefined : null,
    method,
    params: isObject ? (params as Record<string, unknown>) : {},
  }
}
