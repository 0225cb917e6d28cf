import { KINDS, RelayFailure } from '../failure.ts'
import { scrub } from '../redact.ts'

const STATUSES: Record<string, number> = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  overloaded_error: 529,
  timeout_error: 503,
}

const MAX_MESSAGE = 2000
/** Nobody waits longer for a call; what says so is taken for a mistake. */
const LONGEST_WAIT_MS = 24 * 60 * 60 * 1000

/** Who refuses, and what must not be told about it. */
export interface Upstream {
  name: string
  secrets: readonly string[]
}

/** An answer that is no success. Statuses that the SDKs do not know become the nearest one that they do. */
export function refusalOf(
  upstream: Upstream,
  status: number,
  body: string,
  retryAfterMs: number | null,
): RelayFailure {
  const known = nearest(status)
  const said = messageIn(body) ?? `it answered with status ${status}`
  return new RelayFailure(known, KINDS[known]!, worded(upstream, said), { retryAfterMs })
}

/** What both APIs send in place of an event when something goes wrong in the middle of an answer. */
export function brokenOf(upstream: Upstream, error: unknown): RelayFailure {
  const { type, message, code } = (typeof error === 'object' ? error : { message: error }) as ErrorBody
  const status = (typeof type === 'string' ? STATUSES[type] : undefined) ?? statusIn(code)
  const said = typeof message === 'string' ? message : 'it broke the answer off'
  return new RelayFailure(status, KINDS[status]!, worded(upstream, said))
}

/** There is no answer, or no end of it: the connection, a timer, or nonsense. */
export function unreachable(upstream: Upstream, reason: string, cause?: unknown): RelayFailure {
  return new RelayFailure(503, 'api_error', worded(upstream, reason), { cause })
}

function worded({ name, secrets }: Upstream, said: string): string {
  return scrub(`${name}: ${said}`, secrets).slice(0, MAX_MESSAGE)
}

function nearest(status: number): number {
  if (KINDS[status]) return status
  return status >= 400 && status < 500 && status !== 408 ? 400 : 503
}

function statusIn(code: unknown): number {
  const status = Number(code)
  return status >= 400 && status < 600 ? nearest(status) : 500
}

interface ErrorBody {
  type?: unknown
  message?: unknown
  code?: unknown
}

/** Both APIs have `error.message`; others have a text in `error`, `message` or `detail`. */
function messageIn(body: string): string | null {
  try {
    const json = JSON.parse(body) as Record<string, unknown>
    const inner = (json['error'] as ErrorBody | null)?.message
    return [inner, json['error'], json['message'], json['detail']].find(isText) ?? null
  } catch {
    return null
  }
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== ''
}

type Headers = Record<string, string | string[] | undefined>

/** `retry-after-ms`, or `retry-after` in seconds or as a date; null where there is none that makes sense. */
export function retryAfterOf(headers: Headers, now: number): number | null {
  const exact = numberIn(headers['retry-after-ms'])
  const seconds = numberIn(headers['retry-after'])
  const date = Date.parse(String(headers['retry-after']))
  const wait = exact ?? (seconds !== null ? seconds * 1000 : date - now)
  return Number.isFinite(wait) && wait <= LONGEST_WAIT_MS ? Math.max(0, Math.ceil(wait)) : null
}

function numberIn(header: string | string[] | undefined): number | null {
  return typeof header === 'string' && /^\d+(\.\d+)?$/.test(header.trim()) ? Number(header) : null
}
