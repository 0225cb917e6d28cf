import type { CorralError, ErrorCode } from '../../core/error.ts'
import type { InvalidParams, RpcError } from '../../transports/jsonrpc.ts'

/** JSON-RPC codes of the errors that commands end with; `data.code` has the name. */
export const ERROR_CODES: Record<ErrorCode, number> = {
  invalid: -32602,
  internal: -32603,
  session_not_found: -32001,
  turn_not_found: -32002,
  approval_not_found: -32003,
  approval_resolved: -32004,
  path_not_found: -32005,
  agent_unknown: -32006,
  agent_missing: -32007,
  unsupported: -32009,
  conversation_busy: -32010,
  queue_full: -32011,
  cursor_reset: -32012,
  storage: -32013,
  stopping: -32014,
  not_running: -32015,
  project_not_found: -32016,
  repo_not_found: -32017,
  repo_in_project: -32018,
  device_not_found: -32020,
  pin_invalid: -32021,
  pin_expired: -32022,
  forbidden: -32023,
  git_failed: -32024,
  unsaved_work: -32025,
  call_not_found: -32026,
  conflict: -32027,
  conversation_not_found: -32028,
  conversation_adopted: -32029,
  machine_not_found: -32030,
  machine_unreachable: -32031,
}

/** Every method may end with these. */
export const ALWAYS: readonly ErrorCode[] = [
  'invalid',
  'forbidden',
  'machine_unreachable',
  'storage',
  'stopping',
  'internal',
]

/** Of what is answered to who is not let in; `data.code` is `unauthorized`. No command ends with it. */
export const UNAUTHORIZED = -32000

export function mapError(error: CorralError): RpcError {
  return { code: ERROR_CODES[error.code], message: error.message, data: { ...error.data, code: error.code } }
}

export function mapInvalidParams({ method, field, problem, issues }: InvalidParams): RpcError {
  const message = `${method}: ${field ? `${field}: ` : ''}${problem}`
  return { code: ERROR_CODES.invalid, message, data: { code: 'invalid', field, issues } }
}
