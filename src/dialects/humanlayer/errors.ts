import { asCorralError, CorralError, type ErrorEntry } from '../../core/error.ts'
import type { InvalidParams, RpcError } from '../../transports/jsonrpc.ts'
import { HumanLayerError, type ErrorName, type RefusalCode } from './method.ts'
import { REQUIRED } from './wire.ts'

export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** Other parameters would help. */
const ABOUT_PARAMS: ReadonlySet<ErrorName> = new Set<ErrorName>([
  'invalid_params',
  'invalid',
  'session_not_found',
  'turn_not_found',
  'approval_not_found',
  'call_not_found',
  'subscription_not_found',
  'path_not_found',
  'project_not_found',
  'repo_not_found',
  'device_not_found',
  'agent_unknown',
  'unsupported',
])

export function codeOf(name: ErrorName): number {
  return ABOUT_PARAMS.has(name) ? INVALID_PARAMS : INTERNAL_ERROR
}

/** What this protocol's own errors mean. */
export const REFUSALS: Record<RefusalCode, ErrorEntry> = {
  invalid_params: {
    meaning: 'A parameter is missing or wrong.',
    remedy: 'Correct the parameter that `field` names.',
    data: '`field`',
  },
  wrong_status: {
    meaning: 'The session is in a state that does not allow this.',
    remedy: 'To interrupt, wait until it runs; to continue, answer or interrupt it first.',
    data: '`field`',
  },
  too_many_subscriptions: {
    meaning: 'This connection has as many subscriptions as it may have.',
    remedy: 'Use `Unsubscribe`, or another connection.',
  },
  subscription_not_found: {
    meaning: 'This connection has no such subscription.',
    remedy: 'Use the id that `Subscribe` gave out on the same connection.',
    data: '`field`',
  },
}

/** Every method may end with these. */
export const ALWAYS: readonly ErrorName[] = ['invalid_params', 'invalid', 'storage', 'stopping', 'internal']

export function nameOf(thrown: unknown): ErrorName {
  return thrown instanceof HumanLayerError ? thrown.data.code : asCorralError(thrown).code
}

/** The error for parameters that a schema refuses: the first thing that is wrong. */
export function wrongParams({ field, problem }: InvalidParams): RpcError {
  const where = field ? `${field}: ` : ''
  const message = problem === REQUIRED ? `${field} ${problem}` : `invalid request: ${where}${problem}`
  return { code: INVALID_PARAMS, message, data: { code: 'invalid_params', field } }
}

/** What was thrown, in this protocol's words. A fault of ours is for the log, not for the client. */
export function errorOf(thrown: unknown, onFault: (error: unknown) => void): RpcError {
  if (thrown instanceof HumanLayerError) {
    return { code: codeOf(thrown.data.code), message: thrown.message, data: thrown.data }
  }
  const error = asCorralError(thrown)
  if (error.code === 'internal') onFault(thrown)
  return { code: codeOf(error.code), message: messageOf(thrown, error), data: dataOf(error) }
}

function messageOf(thrown: unknown, error: CorralError): string {
  if (!(thrown instanceof CorralError)) return 'internal error'
  return error.code === 'session_not_found'
    ? `session not found: ${String(error.data['sessionId'])}`
    : error.message
}

function dataOf({ code, data }: CorralError): { code: string; field?: unknown } {
  return { code, ...(data['field'] !== undefined && { field: data['field'] }) }
}
