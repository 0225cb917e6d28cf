import { isUtf8 } from 'node:buffer'
import { createCaller, type RpcError } from '../../transports/jsonrpc.ts'
import { verifying } from '../method.ts'
import {
  ALWAYS,
  errorOf,
  INVALID_REQUEST,
  METHOD_NOT_FOUND,
  nameOf,
  PARSE_ERROR,
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
    params: isObject(params) ? lowerKeys(params) : params,
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
export type Dispatch = (request: Request, context: Context, reply: (line: string) => void) => void

/** Everything is answered, with whatever id it came with; what streams has none, and needs no version, as with the original. */
export function createDispatch(
  methods: readonly HumanLayerMethod[],
  onFault: (error: unknown) => void,
): Dispatch {
  const streaming = new Set(methods.filter((method) => method.streaming).map(({ name }) => name))
  const call = createCaller<Context, HumanLayerMethod>({
    methods,
    ...verifying(nameOf, ALWAYS),
    mapError: (thrown) => errorOf(thrown, onFault),
    invalidParams(problem, context) {
      if (streaming.has(problem.method)) context.finish()
      return wrongParams(problem)
    },
    methodNotFound: (name) => ({
      code: METHOD_NOT_FOUND,
      message: `Method not found: ${name.slice(0, NAME_LIMIT)}`,
    }),
  })

  return ({ id, method, params, versioned }, context, reply) => {
    const streams = method !== null && streaming.has(method)
    if (!versioned && !streams) return reply(invalidLine('must be JSON-RPC 2.0', id))
    if (method === null) return reply(invalidLine(METHODLESS, id))
    call(method, params, context, (member) => reply(lineOf(member, streams ? 'null' : id)))
  }
}

const parseErrorLine = errorLine({ code: PARSE_ERROR, message: 'Parse error' })

const METHODLESS = 'must name a method'

function invalidLine(problem: string, id?: string): string {
  return errorLine({ code: INVALID_REQUEST, message: `Invalid request: ${problem}` }, id)
}

function lineOf(member: string, id: string): string {
  return `{"jsonrpc":"2.0",${member},"id":${id}}`
}

/** A line that answers no request; `result` is JSON already. */
export function resultLine(result: string): string {
  return lineOf(`"result":${result}`, 'null')
}

export function errorLine(error: RpcError, id = 'null'): string {
  return lineOf(`"error":${JSON.stringify(error)}`, id)
}
