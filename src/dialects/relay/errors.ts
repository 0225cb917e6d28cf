import type { IncomingHttpHeaders } from 'node:http'
import { RelayFailure } from './failure.ts'

/** Whose envelope a client opens; plain ones find a text under `error`. */
export type ClientKind = 'plain' | 'anthropic' | 'openai'

export interface FailureAnswer {
  status: number
  headers: Record<string, string>
  body: object
}

/** The official SDKs name themselves; which of the two it is, the route says where the headers do not. */
export function clientKind(headers: IncomingHttpHeaders, path: string): ClientKind {
  const anthropic = headers['anthropic-version'] !== undefined
  if (!anthropic && headers['x-stainless-lang'] === undefined) return 'plain'
  if (path.startsWith('/v1/chat/')) return 'openai'
  return anthropic || path.startsWith('/v1/messages') ? 'anthropic' : 'openai'
}

/** Whatever was thrown; what nobody foresaw is not told to clients. */
export function failureOf(thrown: unknown): RelayFailure {
  if (thrown instanceof RelayFailure) return thrown
  return new RelayFailure(500, 'api_error', 'internal error', { cause: thrown })
}

export function failureAnswer(failure: RelayFailure, kind: ClientKind, requestId: string): FailureAnswer {
  return {
    status: failure.status,
    headers: { 'request-id': requestId, 'x-request-id': requestId, ...retryHeaders(failure) },
    body: failureBody(failure, kind, requestId),
  }
}

export function failureBody(failure: RelayFailure, kind: ClientKind, requestId: string): object {
  const { message, extra } = failure
  switch (kind) {
    case 'plain':
      return { error: message, ...extra }
    case 'anthropic':
      return { type: 'error', error: { ...extra, type: failure.kind, message }, request_id: requestId }
    case 'openai':
      return { error: { code: null, ...extra, message, type: failure.kind, param: failure.field || null } }
  }
}

const BUSY_RETRY_MS = 2_000
/** Nobody is kept waiting longer than this without being told. */
const LONGEST_WAIT_MS = 60_000

/** SDKs try again by themselves, and wait as long as they are told to. Where it does not help, they are told not to. */
function retryHeaders({ status, retryAfterMs }: RelayFailure): Record<string, string> {
  const busy = status === 429 || status === 529
  const wait = retryAfterMs ?? (busy ? BUSY_RETRY_MS : null)
  if (wait !== null) {
    const ms = Math.max(1, Math.ceil(wait))
    return {
      'retry-after': String(Math.ceil(ms / 1000)),
      'retry-after-ms': String(ms),
      'x-should-retry': String(ms <= LONGEST_WAIT_MS),
    }
  }
  const retried = status === 408 || status === 409 || status >= 500
  return retried ? { 'x-should-retry': 'false' } : {}
}
