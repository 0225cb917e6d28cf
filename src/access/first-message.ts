import type { LineHandler } from '../transports/connection.ts'
import { HttpError } from '../transports/http-message.ts'
import { errorLine, PARSE_ERROR, resultLine } from '../transports/jsonrpc.ts'
import type { WebSocketConnection, WebSocketOptions } from '../transports/websocket.ts'
import type { Secret } from './secret.ts'

const POLICY = 1008
const METHOD = 'daemon.auth'

export interface TokenAccess {
  secret: Secret
  /** JSON-RPC code of a refusal. */
  code: number
  accept(connection: WebSocketConnection): LineHandler
}

/**
 * Who has the token may come in: it is in the `Authorization` header, or, since web pages cannot set one, in the first
 * message, `daemon.auth {token}`. Whoever has a wrong one, or says anything else first, is told so and has to go.
 */
export function tokenAccess(access: TokenAccess): Pick<WebSocketOptions, 'authorize' | 'accept'> {
  const { secret, accept } = access
  return {
    authorize({ headers }) {
      if (headers.authorization === undefined) return 'stranger'
      if (secret.check(headers.authorization) === 'ok') return 'known'
      return new HttpError(401, 'Invalid token', { 'www-authenticate': 'Bearer' })
    },
    accept: (connection, _, admission) =>
      admission === 'known' ? accept(connection) : afterToken(connection, access),
  }
}

function afterToken(connection: WebSocketConnection, { secret, code, accept }: TokenAccess): LineHandler {
  let handler: LineHandler | null = null

  function refuse(line: string): void {
    connection.send(line)
    connection.close(POLICY, 'not authenticated')
  }

  function judge(line: Buffer): void {
    const request = parse(line)
    if (!request) return refuse(errorLine({ code: PARSE_ERROR, message: 'not JSON' }))
    const { id, method, token } = request
    const refused = (message: string): void =>
      refuse(errorLine({ code, message, data: { code: 'unauthorized' } }, id))
    if (method !== METHOD) return refused(`the first message must be ${METHOD}`)
    if (!secret.matches(token)) return refused('the token is not valid')
    connection.admit()
    if (id !== undefined) connection.send(resultLine(id, '{"authenticated":true}'))
    handler = accept(connection)
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
  token: string
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
  const token = (params as { token?: unknown } | null | undefined)?.token
  return {
    id: typeof id === 'string' || typeof id === 'number' ? id : id === undefined ? undefined : null,
    method,
    token: typeof token === 'string' ? token : '',
  }
}
