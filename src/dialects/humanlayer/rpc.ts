import { isUtf8 } from 'node:buffer'
import {
  errorOf,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  PARSE_ERROR,
  type RpcError,
  wrongParams,
} from './errors.ts'
import type { Context, HumanLayerMethod } from './method.ts'

const NAME_LIMIT = 200

/** One request as it came, but for the case of its keys. */
export interface Request {
  /** JSON already: whatever it was, the answer carries it back. */
  id: string
  /** Null: it names none. */
  method: string | null
  params: unknown
  /** It says that it is JSON-RPC 2.0. */
  versioned: boolean
}

/** What is no request is the line that says so. */
export function readRequest(line: Buffer): Request | string {
  if (!isUtf8(line)) return parseErrorLine
  try {
    return requestOf(JSON.parse(line.toString()))
  } catch {
    return parseErrorLine
  }
}

function requestOf(value: unknown): Request | string {
  if (typeof value !== 'object' || Array.isArray(value)) return invalidLine('must be an object')
  const { jsonrpc, id = null, method = null, params = null } = value === null ? {} : lowerKeys(value)
  if (method !== null && typeof method !== 'string') return invalidLine(METHODLESS, JSON.stringify(id))
  return {
    id: JSON.stringify(id),
    method,
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
      if (!parsed.success) return reply(errorLine(wrongParams(parsed.error), id))
      value = method.handler(parsed.data, context)
    } catch (error) {
      return fail(error)
    }
    if (value instanceof Promise) value.then(succeed, fail)
    else succeed(value)
  }

  return (request, reply) => {
    const { id, versioned, method: name } = request
    if (!versioned) return reply(invalidLine('must be JSON-RPC 2.0', id))
    if (name === null) return reply(invalidLine(METHODLESS, id))
    const method = table.get(name)
    if (method) return call(method, request, reply)
    const message = `Method not found: ${name.slice(0, NAME_LIMIT)}`
    reply(errorLine({ code: METHOD_NOT_FOUND, message }, id))
  }
}

const parseErrorLine = errorLine({ code: PARSE_ERROR, message: 'Parse error' })

const METHODLESS = 'must name a method'

function invalidLine(problem: string, id?: string): string {
  return errorLine({ code: INVALID_REQUEST, message: `Invalid request: ${problem}` }, id)
}

/** `result` is JSON already, and so is `id`. */
export function resultLine(result: string, id = 'null'): string {
  return `{"jsonrpc":"2.0","result":${result},"id":${id}}`
}

export function errorLine(error: RpcError, id = 'null'): string {
  return `{"jsonrpc":"2.0","error":${JSON.stringify(error)},"id":${id}}`
}
