import { isUtf8 } from 'node:buffer'
import type { z } from 'zod'

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

/** What can be called. The handler is called as soon as its request is read, so requests start in order. */
export interface Callable<C, P extends z.ZodType = z.ZodType> {
  readonly name: string
  readonly params: P
  handler(params: z.output<P>, context: C): unknown
}

/** A result that is JSON already. */
export class RawJson {
  readonly json: string

  constructor(json: string) {
    this.json = json
  }
}

/** A result, and what to begin once it has been sent. `start` does not throw. */
export class Streaming<T> {
  readonly result: T
  readonly start: () => void

  constructor(result: T, start: () => void) {
    this.result = result
    this.start = start
  }
}

export interface RpcError {
  code: number
  message: string
  data?: unknown
}

type Id = string | number | null

export interface Dispatcher<C> {
  /**
   * Handles one message. `reply` is called once it is done with, with the answer, or null for a notification.
   * Nothing is thrown, and `reply` must not throw either.
   */
  dispatch(message: Buffer | string, context: C, reply: (json: string | null) => void): void
}

export interface CallerOptions<C, M extends Callable<C>> {
  methods: readonly M[]
  /** Throws when the caller may not. */
  admit?(method: M, context: C): void
  /** Throws when the result is not what the method promises. */
  verifyResult?(method: M, value: unknown): void
  verifyError?(method: M, thrown: unknown): unknown
  /** Whatever a handler threw, in the dialect's own codes. */
  mapError(thrown: unknown, method: M): RpcError
  /** The error for parameters that the schema refuses; `field` is the first one, dotted. */
  invalidParams?(problem: InvalidParams, context: C): RpcError
  methodNotFound?(name: string): RpcError
}

export interface InvalidParams {
  method: string
  given: unknown
  field: string
  problem: string
  issues: readonly { field: string; problem: string }[]
}

/**
 * Calls a method by its name. `done` gets the one member of the answer that is not of its envelope, `"result":…` or `"error":…`, as
 * JSON, before the call returns unless the method has to wait. Nothing is thrown, and `done` must not throw either.
 */
export type Caller<C> = (name: string, params: unknown, context: C, done: (member: string) => void) => void

/** For protocols with an envelope of their own; `createDispatcher` is for JSON-RPC 2.0 as it is written. */
export function createCaller<C, M extends Callable<C> = Callable<C>>(
  options: CallerOptions<C, M>,
): Caller<C> {
  const { invalidParams = defaultInvalidParams, methodNotFound = defaultMethodNotFound } = options
  const methods = new Map(options.methods.map((method) => [method.name, method]))

  function mapped(thrown: unknown, method: M): RpcError {
    try {
      return options.mapError(options.verifyError?.(method, thrown) ?? thrown, method)
    } catch {
      return { code: INTERNAL_ERROR, message: 'internal error' }
    }
  }

  return (name, given, context, done) => {
    const method = methods.get(name)
    if (!method) return done(errorMember(methodNotFound(name)))
    const fail = (thrown: unknown): void => done(errorMember(mapped(thrown, method)))
    const succeed = (value: unknown): void => {
      let member: string
      try {
        options.verifyResult?.(method, value)
        member = resultMember(value instanceof Streaming ? value.result : value)
      } catch (error) {
        return fail(error)
      }
      done(member)
      if (value instanceof Streaming) value.start()
    }
    let value: unknown
    try {
      const params = method.params.safeParse(given ?? {})
      if (!params.success)
        return done(errorMember(invalidParams(describe(name, given, params.error), context)))
      options.admit?.(method, context)
      value = method.handler(params.data, context)
    } catch (error) {
      return fail(error)
    }
    if (value instanceof Promise) value.then(succeed, fail)
    else succeed(value)
  }
}

export function createDispatcher<C, M extends Callable<C> = Callable<C>>(
  options: CallerOptions<C, M>,
): Dispatcher<C> {
  const call = createCaller(options)
  return {
    dispatch(message, context, reply) {
      const request = readRequest(message)
      if ('error' in request) return reply(response(request.id, errorMember(request.error)))
      const { id, method, params } = request
      call(method, params, context, (member) => reply(id === undefined ? null : response(id, member)))
    },
  }
}

/** A line that carries a notification; `params` is JSON already. */
export function notification(method: string, params: string): string {
  return `{"jsonrpc":"2.0","method":"${method}","params":${params}}`
}

/** A line that carries an error, of no request in particular unless told. */
export function errorLine(error: RpcError, id: Id = null): string {
  return response(id, errorMember(error))
}

/** A line that answers a request; `result` is JSON already. */
export function resultLine(id: Id, result: string): string {
  return response(id, `"result":${result}`)
}

type Request = { id: Id | undefined; method: string; params: unknown } | { id: Id; error: RpcError }

function readRequest(message: Buffer | string): Request {
  let value: unknown
  try {
    if (typeof message !== 'string' && !isUtf8(message)) throw new SyntaxError('not UTF-8')
    value = JSON.parse(message.toString())
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error)
    return refused(null, PARSE_ERROR, `not JSON: ${reason.slice(0, 200)}`)
  }
  if (Array.isArray(value))
    return refused(null, INVALID_REQUEST, 'batches are not supported: send one request per line')
  if (typeof value !== 'object' || value === null)
    return refused(null, INVALID_REQUEST, 'a request is an object')
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  if (id !== undefined && id !== null && typeof id !== 'string' && typeof id !== 'number') {
    return refused(null, INVALID_REQUEST, 'id must be a string, a number or null')
  }
  if (jsonrpc !== '2.0') return refused(id ?? null, INVALID_REQUEST, 'jsonrpc must be "2.0"')
  if (typeof method !== 'string') return refused(id ?? null, INVALID_REQUEST, 'method must be a string')
  return { id, method, params }
}

function refused(id: Id, code: number, message: string): Request {
  return { id, error: { code, message } }
}

function response(id: Id, member: string): string {
  return `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${member}}`
}

function errorMember(error: RpcError): string {
  try {
    return `"error":${JSON.stringify(error)}`
  } catch {
    return `"error":${JSON.stringify({ code: error.code, message: error.message })}`
  }
}

function resultMember(value: unknown): string {
  return `"result":${value instanceof RawJson ? value.json : (JSON.stringify(value) ?? 'null')}`
}

function describe(method: string, given: unknown, error: z.ZodError): InvalidParams {
  const issues = error.issues.slice(0, 10).map((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
    return { field: [...issue.path, ...unknown].join('.'), problem: issue.message }
  })
  const first = issues[0] ?? { field: '', problem: 'wrong' }
  return { method, given, ...first, issues }
}

function defaultInvalidParams({ method, field, problem, issues }: InvalidParams): RpcError {
  const where = field ? `${method}: ${field}` : method
  return { code: INVALID_PARAMS, message: `${where}: ${problem}`, data: { field, issues } }
}

function defaultMethodNotFound(name: string): RpcError {
  const method = name.slice(0, 100)
  return { code: METHOD_NOT_FOUND, message: `there is no method ${method}`, data: { method } }
}
