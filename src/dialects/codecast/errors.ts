import { asCorralError, type ErrorCode } from '../../core/error.ts'
import type { InvalidParams, RpcError } from '../../transports/jsonrpc.ts'
import { APPLICATION_ERROR, INVALID_PARAMS } from './wire.ts'

export function codeOf(error: ErrorCode): number {
  return error === 'invalid' ? INVALID_PARAMS : APPLICATION_ERROR
}

/** Every method may end with these. */
export const ALWAYS: readonly ErrorCode[] = ['invalid', 'storage', 'stopping', 'internal']

export function wireError(thrown: unknown): RpcError {
  const error = asCorralError(thrown)
  return { code: codeOf(error.code), message: error.message }
}

/** Why parameters were refused, naming them as the original does. */
export function paramsError({ given, field, problem, issues }: InvalidParams): RpcError {
  return { code: INVALID_PARAMS, message: messageOf(given ?? {}, field, problem, issues) }
}

function messageOf(given: object, field: string, problem: string, issues: InvalidParams['issues']): string {
  if (field === '') return 'Invalid params: they must be an object'
  const values = new Map(Object.entries(given))
  const fields = new Set(issues.map((issue) => issue.field.split('.')[0]!))
  const missing = [...fields].filter((name) => (values.get(name) ?? '') === '')
  if (missing.length > 0) {
    return `Missing required ${missing.length > 1 ? 'params' : 'param'}: ${missing.join(', ')}`
  }
  if (field !== 'mode') return `Invalid param: ${field} (${problem})`
  const value = JSON.stringify(values.get('mode'))?.slice(0, 100)
  return `Invalid mode: ${value} (it must be auto, code, plan or ask)`
}
