export const PARSE_ERROR = -32700
export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const INTERNAL_ERROR = -32603

/** An error as it goes over the wire: `data` always has a `reason`. */
export class LoafError extends Error {
  readonly code: number
  readonly data: Readonly<Record<string, unknown>>

  constructor(code: number, message: string, data: { reason: string } & Record<string, unknown>) {
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

export function invalidParams(method: string, problem: string, field?: string): LoafError {
  const message = `invalid params for ${method}: ${field === undefined ? '' : `\`${field}\` `}${problem}`
  return new LoafError(INVALID_PARAMS, message, {
    reason: 'invalid_params',
    ...(field !== undefined && { field }),
  })
}

export function unknownSession(sessionId: unknown): LoafError {
  return failure(`unknown session: ${String(sessionId)}`, 'session_not_found')
}

/** Whatever was thrown, with its own words. */
export function asLoafError(thrown: unknown, params?: unknown): LoafError {
  if (thrown instanceof LoafError) return thrown
  if (codeOf(thrown) === 'session_not_found' && typeof params === 'object' && params !== null) {
    return unknownSession((params as { session_id?: unknown }).session_id)
  }
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  return failure(message, codeOf(thrown) ?? 'internal')
}

/** One of core's codes, where it has one. */
export function codeOf(thrown: unknown): string | null {
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : null
  return typeof code === 'string' ? code : null
}
