import { asCorralError, type ErrorCode } from '../../core/error.ts'
import { APPLICATION_ERROR, INVALID_PARAMS } from './wire.ts'

export interface WireError {
  code: number
  message: string
}

/** Everything that may go wrong inside, in the wire's codes. */
const CODES: Record<ErrorCode, number> = {
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

export function wireError(thrown: unknown): WireError {
  const error = asCorralError(thrown)
  return { code: CODES[error.code], message: error.message }
}

interface Issue {
  code: string
  path: readonly PropertyKey[]
  message: string
}

/** Why parameters were refused, naming them as the original does. */
export function paramsError(given: Record<string, unknown>, issues: readonly Issue[]): WireError {
  const fields = [...new Set(issues.map((issue) => String(issue.path[0])))]
  const missing = fields.filter(
    (field) => given[field] === undefined || given[field] === null || given[field] === '',
  )
  if (missing.length > 0) {
    const noun = missing.length > 1 ? 'params' : 'param'
    return { code: INVALID_PARAMS, message: `Missing required ${noun}: ${missing.join(', ')}` }
  }
  const issue = issues[0]
  const field = issue?.path.map(String).join('.') ?? 'params'
  if (field === 'mode') {
    const value = JSON.stringify(given['mode'])?.slice(0, 100)
    return { code: INVALID_PARAMS, message: `Invalid mode: ${value} (it must be auto, code, plan or ask)` }
  }
  return { code: INVALID_PARAMS, message: `Invalid param: ${field} (${issue?.message ?? 'not valid'})` }
}
