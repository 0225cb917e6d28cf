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

export interface DispatcherOptions<C, M extends Callable<C>> {
  methods: readonly M[]
  /** Throws when the caller may not. */
  admit?(method: M, context: C): void
  /** Throws when the result is not what the method promises. */
  verifyResult?(method: M, value: unknown): void
  verifyError?(method: M, thrown: unknown): unknown
  /** Whatever a handler threw, in the dialect's own codes. */
  mapError(thrown: unknown): RpcError
  /** The error for parameters that the schema refuses; `field` is the first one, dotted. */
  invalidParams?(problem: InvalidParams): RpcError
}

export interface InvalidParams {
  method: string
  field: string
  problem: string
  issues: readonly { field: string; problem: string }[]
}

export function createDispatcher<C, M extends Callable<C> = Callable<C>>(
  options: DispatcherOptions<C, M>,
): Dispatcher<C> {
  const methods = new Map(options.methods.map((method) => [method.name, method]))
  const invalidParams = options.invalidParams ?? defaultInvalidParams

  function mapped(thrown: unknown): RpcError {
    try {
      return options.mapError(thrown)
    } catch {
      return { code: INTERNAL_ERROR, message: 'internal error' }
    }
  }

  function call(method: M, params: unknown, context: C, done: (member: string) => void): void {
    const fail = (thrown: unknown): void =>
      done(errorMember(mapped(options.verifyError?.(method, thrown) ?? thrown)))
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
      const parsed = method.params.safeParse(params ?? {})
      if (!parsed.success) return done(errorMember(invalidParams(describe(method.name, parsed.error))))
      options.admit?.(method, context)
      value = method.handler(parsed.data, context)
    } catch (error) {
      return fail(error)
    }
    if (value instanceof Promise) value.then(succeed, fail)
    else succeed(value)
  }

  return {
    dispatch(message, context, reply) {
      const request = readRequest(message)
      if ('error' in request) return reply(response(request.id, errorMember(request.error)))
      const answer = (member: string): void => {
        reply(request.id === undefined ? null : response(request.id, member))
      }
      const method = methods.get(request.method)
      if (method) call(method, request.params, context, answer)
      else answer(errorMember(unknownMethod(request.method.slice(0, 100))))
    },
  }
}

function unknownMethod(method: string): RpcError {
  return { code: METHOD_NOT_FOUND, message: `there is no method ${method}`, data: { method } }
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

function describe(method: string, error: z.ZodError): InvalidParams {
  const issues = error.issues.slice(0, 10).map((issue) => {
    const unknown = issue.code === 'unrecognized_keys' ? issue.keys.slice(0, 1) : []
    return { field: [...issue.path, ...unknown].join('.'), problem: issue.message }
  })
  const first = issues[0] ?? { field: '', problem: 'wrong' }
  return { method, ...first, issues }
}

function defaultInvalidParams({ method, field, problem, issues }: InvalidParams): RpcError {
  const where = field ? `${method}: ${field}` : method
  return { code: INVALID_PARAMS, message: `${where}: ${problem}`, data: { field, issues } }
}
