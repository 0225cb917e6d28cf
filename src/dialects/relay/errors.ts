import type { IncomingHttpHeaders } from 'node:http'
import type { RelayFailure } from '../../relay/failure.ts'
import { ANTHROPIC } from '../anthropic/shape.ts'
import { OPENAI } from '../openai/shape.ts'

/** Whose envelope a client opens; plain ones find a text under `error`. */
export type ClientKind = 'plain' | 'anthropic' | 'openai'

export interface FailureAnswer {
  status: number
  headers: Record<string, string>
  body: object
}

/** Routes that only OpenAI's API has; not all of them are served here, but whoever asks for one speaks its language. */
const OPENAI_ONLY = /^\/v1\/(chat|completions|responses|embeddings|images|audio|moderations)(\/|$)/

/**
 * Whose client it is, by its route: one of OpenAI's, whoever has written it, opens OpenAI's envelope. The list of models is
 * in both APIs; Anthropic's clients send a version or their own kind of key. At `/v1/messages`, who sends neither is not
 * an SDK, and reads a text. So does who asks the relay about itself, unless it is an SDK by its own word.
 */
export function clientKind(headers: IncomingHttpHeaders, path: string): ClientKind {
  if (OPENAI_ONLY.test(path)) return 'openai'
  const anthropic = headers['anthropic-version'] !== undefined || headers['x-api-key'] !== undefined
  if (anthropic) return 'anthropic'
  const sdk = headers['x-stainless-lang'] !== undefined
  if (path.startsWith('/v1/messages')) return sdk ? 'anthropic' : 'plain'
  return sdk || /^\/v1\/models(\/|$)/.test(path) ? 'openai' : 'plain'
}

export function failureAnswer(failure: RelayFailure, kind: ClientKind, requestId: string): FailureAnswer {
  return {
    status: failure.status,
    headers: { 'request-id': requestId, 'x-request-id': requestId, ...retryHeaders(failure) },
    body: failureBody(failure, kind, requestId),
  }
}

function failureBody(failure: RelayFailure, kind: ClientKind, requestId: string): object {
  if (kind === 'plain') return { error: failure.message, ...failure.extra }
  return (kind === 'anthropic' ? ANTHROPIC : OPENAI).failure(failure, requestId)
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
