import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'
import { asCorralError, CorralError } from '../../core/error.ts'
import { HumanLayerError, type Context, type HumanLayerMethod } from './method.ts'

export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603
export const INVALID_REQUEST = -32600
const PARSE_ERROR = -32700
const METHOD_NOT_FOUND = -32601
const NAME_LIMIT = 200

/** One request as it came, but for the case of its keys. */
export interface Request {
  /** JSON already: whatever it was, the answer carries it back. */
  id: string
  method: string
  params: unknown
  /** It says that it is JSON-RPC 2.0. */
  versioned: boolean
}

export interface RpcError {
  code: number
  message: string
  data?: unknown
}

/** Null: this is not a request at all. */
export function readRequest(line: Buffer): Request | null {
  if (!isUtf8(line)) return null
  try {
    return requestOf(JSON.parse(line.toString()))
  } catch {
    return null
  }
}

function requestOf(value: unknown): Request | null {
  if (typeof value !== 'object' || Array.isArray(value)) return null
  const { jsonrpc, id = null, method = null, params = null } = value === null ? {} : lowerKeys(value)
  if (method !== null && typeof method !== 'string') return null
  return {
    id: JSON.stringify(id),
    method: method ?? '',
    params: isObject(params) ? lowerKeys(params) : (params ?? {}),
    versioned: jsonrpc === '2.0',
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Clients of this protocol may write keys in any case; a key that is spelled as it should be wins. */
function lowerKeys(value: object): Record<string, unknown> {
  const given = value as Record<string, unknown>
  const keys = Object.keys(given)
  if (keys.every((key) => key === key.toLowerCase())) return given
  const others = keys.filter((key) => key !== key.toLowerCase())
  return { ...Object.fromEntries(others.map((key) => [key.toLowerCase(), given[key]])), ...given }
}

/** Answers one request. Nothing is thrown; `reply` is called once, now or later, with the line to send. */
export type Dispatch = (request: Request, reply: (line: string) => void) => void

export function createDispatch(
  methods: readonly HumanLayerMethod[],
  context: Context,
  onFault: (error: unknown) => void,
): Dispatch {
  const table = new Map(methods.map((method) => [method.name, method]))

  function call(method: HumanLayerMethod, { id, params }: Request, reply: (line: string) => void): void {
    const fail = (thrown: unknown): void => reply(errorLine(errorOf(thrown, onFault), id))
    const succeed = (value: unknown): void => {
      let line: string
      try {
        line = resultLine(JSON.stringify(value ?? {}), id)
      } catch (error) {
        return fail(error)
      }
      reply(line)
    }
    let value: unknown
    try {
      const parsed = method.params.safeParse(params)
      if (!parsed.success) return reply(errorLine(wrongParams(INTERNAL_ERROR, parsed.error), id))
      value = method.handler(parsed.data, context)
    } catch (error) {
      return fail(error)
    }
    if (value instanceof Promise) value.then(succeed, fail)
    else succeed(value)
  }

  return (request, reply) => {
    const { id, versioned, method: name } = request
    if (!versioned) {
      const message = 'Invalid request: must be JSON-RPC 2.0'
      return reply(errorLine({ code: INVALID_REQUEST, message }, id))
    }
    const method = table.get(name)
    if (method) return call(method, request, reply)
    const message = `Method not found: ${name.slice(0, NAME_LIMIT)}`
    reply(errorLine({ code: METHOD_NOT_FOUND, message }, id))
  }
}

/** The error for parameters that a schema refuses: the first thing that is wrong. */
export function wrongParams(code: number, { issues }: z.ZodError): RpcError {
  const { path = [], message: problem = 'wrong' } = issues[0] ?? {}
  const field = path.join('.')
  const message = `invalid request: ${field ? `${field}: ` : ''}${problem}`
  return { code, message, data: { code: 'invalid_params', field } }
}

/** What a handler threw, in this protocol's words. A fault of ours is for the log, not for the client. */
function errorOf(thrown: unknown, onFault: (error: unknown) => void): RpcError {
  const code = INTERNAL_ERROR
  if (thrown instanceof HumanLayerError) return { code, message: thrown.message, data: thrown.data }
  const error = asCorralError(thrown)
  if (error.code === 'internal') onFault(thrown)
  const data = { code: error.code, ...fieldOf(error) }
  if (!(thrown instanceof CorralError)) return { code, message: 'internal error', data }
  if (error.code !== 'session_not_found') return { code, message: error.message, data }
  return { code, message: `session not found: ${String(error.data['sessionId'])}`, data }
}

function fieldOf({ data }: CorralError): { field?: unknown } {
  return data['field'] === undefined ? {} : { field: data['field'] }
}

export const parseErrorLine = errorLine({ code: PARSE_ERROR, message: 'Parse error' })

/** `result` is JSON already, and so is `id`. */
export function resultLine(result: string, id = 'null'): string {
  return `{"jsonrpc":"2.0","result":${result},"id":${id}}`
}

export function errorLine(error: RpcError, id = 'null'): string {
  return `{"jsonrpc":"2.0","error":${JSON.stringify(error)},"id":${id}}`
}
