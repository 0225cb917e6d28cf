import { asCorralError, CorralError, type ErrorCode } from '../../core/error.ts'
import type { RpcError } from '../../transports/jsonrpc.ts'

/** The codes of this protocol, by their own names. */
export const CODES = {
  parseError: -32700,
  invalidRequest: -32600,
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  sessionNotFound: -32001,
  providerNotAvailable: -32002,
  rateLimited: -32003,
  unauthorized: -32004,
  repoNotFound: -32005,
  sessionPaused: -32006,
  sessionLimitReached: -32007,
  modeViolation: -32016,
  deviceNotFound: -32020,
  pairPinInvalid: -32021,
  pairPinExpired: -32022,
  projectNotFound: -32023,
  repoAlreadyInProject: -32024,
  tooManyRequests: -32029,
} as const

export type CodeName = keyof typeof CODES

const OF_CORE: Record<ErrorCode, CodeName> = {
  invalid: 'invalidParams',
  session_not_found: 'sessionNotFound',
  turn_not_found: 'invalidParams',
  approval_not_found: 'invalidParams',
  call_not_found: 'invalidParams',
  conflict: 'invalidParams',
  approval_resolved: 'invalidParams',
  path_not_found: 'repoNotFound',
  repo_not_found: 'repoNotFound',
  project_not_found: 'projectNotFound',
  repo_in_project: 'repoAlreadyInProject',
  device_not_found: 'deviceNotFound',
  pin_invalid: 'pairPinInvalid',
  pin_expired: 'pairPinExpired',
  forbidden: 'unauthorized',
  git_failed: 'internal',
  unsaved_work: 'invalidParams',
  agent_unknown: 'invalidParams',
  agent_missing: 'providerNotAvailable',
  unsupported: 'invalidParams',
  conversation_busy: 'providerNotAvailable',
  conversation_not_found: 'invalidParams',
  conversation_adopted: 'invalidParams',
  queue_full: 'providerNotAvailable',
  not_running: 'invalidParams',
  cursor_reset: 'invalidParams',
  machine_not_found: 'invalidParams',
  machine_unreachable: 'providerNotAvailable',
  storage: 'internal',
  stopping: 'internal',
  internal: 'internal',
}

/** Every method may end with these. */
export const ALWAYS: readonly CodeName[] = [
  'invalidParams',
  'unauthorized',
  'providerNotAvailable',
  'internal',
]

/** A refusal in this protocol's own codes; `data.reason` tells apart what shares one. */
export class ClawdeError extends Error {
  readonly code: CodeName
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: CodeName, message: string, data: Record<string, unknown> = {}) {
    super(message)
    this.name = 'ClawdeError'
    this.code = code
    this.data = data
  }
}

/** The name that this protocol has for what was thrown. */
export function codeNameOf(thrown: unknown): CodeName {
  return thrown instanceof ClawdeError ? thrown.code : OF_CORE[asCorralError(thrown).code]
}

/** Whatever was thrown, for the wire. The user's home directory is nobody's business. */
export function rpcError(thrown: unknown, home: string): RpcError {
  if (thrown instanceof ClawdeError) {
    const { code, data, message } = thrown
    return { code: CODES[code], message: discreet(message, home), data: { reason: code, ...data } }
  }
  const { code, data, message } = asCorralError(thrown)
  const text = thrown instanceof CorralError ? discreet(message, home) : 'internal error'
  if (code === 'conversation_busy' && data['reason'] === 'paused') {
    return { code: CODES.sessionPaused, message: text, data: { ...data, reason: 'sessionPaused' } }
  }
  const reason = code === 'conversation_busy' ? 'busy' : code
  return { code: CODES[OF_CORE[code]], message: text, data: { ...data, reason } }
}

function discreet(message: string, home: string): string {
  return home.length > 1 ? message.replaceAll(home, '~') : message
}
