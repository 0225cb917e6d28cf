/** Why a call is not answered: a status that both SDKs understand, and words for people. */
export class RelayFailure extends Error {
  readonly status: number
  /** One of the words of Anthropic's envelope: `invalid_request_error`, `overloaded_error` … */
  readonly kind: FailureKind
  /** Keys that plain clients get beside `error`: `code`, `session_id` … */
  readonly extra: Record<string, unknown>
  /** When trying again makes sense; null: not by itself. */
  readonly retryAfterMs: number | null
  /** The field of the request that is wrong. */
  readonly field: string | null
  /** What it says about whoever was asked; null: as much as its status does. */
  readonly verdict: Verdict | null

  constructor(
    status: number,
    kind: FailureKind,
    message: string,
    {
      extra = {},
      retryAfterMs = null,
      field = null,
      verdict = null,
      cause,
    }: {
      extra?: Record<string, unknown>
      retryAfterMs?: number | null
      field?: string | null
      verdict?: Verdict | null
      cause?: unknown
    } = {},
  ) {
    super(message, { cause })
    this.name = 'RelayFailure'
    this.status = status
    this.kind = kind
    this.extra = extra
    this.retryAfterMs = retryAfterMs
    this.field = field
    this.verdict = verdict
  }
}

/**
 * `final`: the call ends here, nobody else is asked. `elsewhere`: somebody else may take it, and who was asked is none the
 * worse for it. `unwell`: who was asked has failed, and rests if that goes on.
 */
export type Verdict = 'final' | 'elsewhere' | 'unwell'

export type FailureKind =
  | 'invalid_request_error'
  | 'authentication_error'
  | 'billing_error'
  | 'permission_error'
  | 'not_found_error'
  | 'request_too_large'
  | 'rate_limit_error'
  | 'api_error'
  | 'timeout_error'
  | 'overloaded_error'

/** The word for each status that both SDKs expect. */
export const KINDS: Readonly<Record<number, FailureKind>> = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  503: 'api_error',
  529: 'overloaded_error',
}

/** The request is wrong: `field` says where. */
export function invalid(field: string, message: string): RelayFailure {
  return new RelayFailure(400, 'invalid_request_error', `invalid request body: ${message}`, { field })
}

/** Whatever was thrown; what nobody foresaw is not told to clients. */
export function failureOf(thrown: unknown): RelayFailure {
  if (thrown instanceof RelayFailure) return thrown
  return new RelayFailure(500, 'api_error', 'internal error', { cause: thrown })
}
