import { asCorralError, type ErrorCode } from '../../core/error.ts'
import type { InvalidParams, RpcError } from '../../transports/jsonrpc.ts'
import { APPLICATION_ERROR, INVALID_PARAMS } from './wire.ts'

/** Everything that may go wrong inside, in the wire's codes. */
export const CODES: Record<ErrorCode, number> = {
  invalid: INVALID_PARAMS,
  session_not_found: APPLICATION_ERROR,
  turn_not_found: APPLICATION_ERROR,
  approval_not_found: APPLICATION_ERROR,
  call_not_found: APPLICATION_ERROR,
  approval_resolved: APPLICATION_ERROR,
  path_not_found: APPLICATION_ERROR,
  project_not_found: APPLICATION_ERROR,
  repo_not_found: APPLICATION_ERROR,
  repo_in_project: APPLICATION_ERROR,
  device_not_found: APPLICATION_ERROR,
  pin_invalid: APPLICATION_ERROR,
  pin_expired: APPLICATION_ERROR,
  forbidden: APPLICATION_ERROR,
  git_failed: APPLICATION_ERROR,
  unsaved_work: APPLICATION_ERROR,
  agent_unknown: APPLICATION_ERROR,
  agent_missing: APPLICATION_ERROR,
  unsupported: APPLICATION_ERROR,
  conversation_busy: APPLICATION_ERROR,
  queue_full: APPLICATION_ERROR,
  not_running: APPLICATION_ERROR,
  cursor_reset: APPLICATION_ERROR,
  storage: APPLICATION_ERROR,
  stopping: APPLICATION_ERROR,
  internal: APPLICATION_ERROR,
}

/** Every method may end with these. */
export const ALWAYS: readonly ErrorCode[] = ['invalid', 'storage', 'stopping', 'internal']

export function wireError(thrown: unknown): RpcError {
  const error = asCorralError(thrown)
  return { code: CODES[error.code], message: error.message }
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
