import { ERRORS, type ErrorCode, type ErrorEntry } from '../../core/error.ts'
import type { InvalidParams, RpcError } from '../../transports/jsonrpc.ts'

const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602
const INTERNAL_ERROR = -32603

/** What goes wrong in this protocol only. */
export const OWN_ERRORS = {
  invalid_params: {
    meaning: 'A parameter is missing or of the wrong type.',
    remedy: 'Correct the parameter that `field` names.',
  },
  unsupported_protocol_version: {
    meaning: 'A strict handshake has asked for another version.',
    remedy: 'Ask for the version in `supported`.',
  },
  busy: {
    meaning: 'A turn is running, or too many requests wait for a sign-in.',
    remedy: 'Send with `enqueue`, or wait.',
  },
  no_model: { meaning: 'No model has been chosen.', remedy: 'Call `model.select`.' },
  unknown_model: { meaning: 'The provider has no such model.', remedy: 'Take one from `model.list`.' },
  not_signed_in: { meaning: 'No account that has limits is signed in.', remedy: 'Sign in first.' },
  flow_not_found: { meaning: 'No sign-in with this id is under way.', remedy: 'Start one.' },
  compaction_failed: { meaning: 'The agent could not summarise.', remedy: 'Read the message.' },
  shutting_down: { meaning: 'The process is about to end.', remedy: 'Start another one.' },
} as const satisfies Record<string, ErrorEntry>

/** What a method may end with: the first two by their `reason`, the rest by the `kind` of an internal error. */
export type ErrorName = keyof typeof OWN_ERRORS | ErrorCode

const REASONS: readonly string[] = ['invalid_params', 'unsupported_protocol_version']

/** The code that each has on the wire. */
export const CODES = Object.fromEntries(
  Object.keys({ ...OWN_ERRORS, ...ERRORS }).map((name) => [
    name,
    REASONS.includes(name) ? INVALID_PARAMS : INTERNAL_ERROR,
  ]),
) as Readonly<Record<ErrorName, number>>

/** Every method may end with these. */
export const ALWAYS: readonly ErrorName[] = [
  'invalid_params',
  'invalid',
  'forbidden',
  'storage',
  'stopping',
  'internal',
  'shutting_down',
]

/** An error as it goes over the wire: `data` always has a `reason`. */
export class LoafError extends Error implements RpcError {
  readonly code: number
  readonly data: Readonly<{ reason: string } & Record<string, unknown>>

  constructor(code: number, message: string, data: LoafError['data']) {
    super(message)
    this.name = 'LoafError'
    this.code = code
    this.data = data
  }
}

/** Something that could not be done. Clients of the protocol know the words; `kind` is for those who like codes better. */
export function failure(message: string, kind: string): LoafError {
  return new LoafError(INTERNAL_ERROR, message, { reason: 'internal_error', kind })
}

export function parseError(why: string): LoafError {
  return new LoafError(PARSE_ERROR, `parse error: ${why}`, { reason: 'parse_error' })
}

export function invalidRequest(
  message = 'invalid request',
  data: LoafError['data'] = { reason: 'invalid_request' },
): LoafError {
  return new LoafError(INVALID_REQUEST, message, data)
}

export function methodNotFound(method: string): RpcError {
  const data = { reason: 'method_not_found', method }
  return { code: METHOD_NOT_FOUND, message: `method not found: ${method}`, data }
}

export function invalidParams({ method, field, problem }: Omit<InvalidParams, 'issues' | 'given'>): RpcError {
  const message = `invalid params for ${method}: ${field === '' ? '' : `\`${field}\` `}${problem}`
  const data = { reason: 'invalid_params', ...(field !== '' && { field }) }
  return { code: INVALID_PARAMS, message, data }
}

export function unsupportedVersion(version: string, supported: string): LoafError {
  const data = { reason: 'unsupported_protocol_version', supported }
  return new LoafError(INVALID_PARAMS, `unsupported protocol_version: ${version}`, data)
}

export function unknownSession(sessionId: string): LoafError {
  return failure(`unknown session: ${sessionId}`, 'session_not_found')
}

/** Whatever was thrown, with its own words. */
export function asLoafError(thrown: unknown): LoafError {
  if (thrown instanceof LoafError) return thrown
  const code = codeOf(thrown)
  const sessionId = code === 'session_not_found' ? dataOf(thrown)['sessionId'] : undefined
  if (typeof sessionId === 'string') return unknownSession(sessionId)
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return failure(message, code ?? 'internal')
}

/** The name of what was thrown, as `ErrorName` has it. */
export function nameOf(thrown: unknown): string {
  const { reason, kind } = asLoafError(thrown).data
  return String(kind ?? reason)
}

/** One of core's codes, where it has one. */
export function codeOf(thrown: unknown): string | null {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null
  return typeof code === 'string' ? code : null
}

function dataOf(thrown: unknown): Record<string, unknown> {
  const data = thrown instanceof Error && 'data' in thrown ? thrown.data : null
  return (data ?? {}) as Record<string, unknown>
}
