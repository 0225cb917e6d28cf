import { isUtf8 } from 'node:buffer'
import type { IncomingMessage } from 'node:http'
import { failureOf, invalid, RelayFailure } from '../../relay/failure.ts'
import { decodeBody, HttpError, isJsonType, readBody } from '../../transports/http.ts'

const SESSION_HEADER = 'x-ir-session-id'
const MAX_SESSION_ID = 128

/** The JSON of a request; an empty object where there is nothing. */
export async function readJson(req: IncomingMessage, bodyLimit: number): Promise<unknown> {
  const bytes = await decodeBody(await readBody(req, bodyLimit), req.headers, bodyLimit)
  if (bytes.length === 0 && req.headers['content-type'] === undefined) return {}
  if (!isJsonType(req.headers['content-type'])) {
    const message = 'content-type must be application/json'
    throw new RelayFailure(415, 'invalid_request_error', message, { field: 'content-type' })
  }
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw invalid('', 'it is not JSON')
  }
}

/** Whatever was thrown while a request was read or answered. */
export function asFailure(error: unknown): RelayFailure {
  if (!(error instanceof HttpError)) return failureOf(error)
  const kind = error.status === 413 ? 'request_too_large' : 'invalid_request_error'
  return new RelayFailure(error.status, kind, error.message)
}

/** What a client calls its conversation; null: it wants none. */
export function stickyIdOf(req: IncomingMessage): string | null {
  const given = req.headers[SESSION_HEADER]
  return checkedId(typeof given === 'string' ? wordsIn(given).trim() : '') || null
}

/** Headers are read as Latin-1; most who send other letters send UTF-8, as everybody does in a path. */
function wordsIn(header: string): string {
  const bytes = Buffer.from(header, 'latin1')
  return isUtf8(bytes) ? bytes.toString('utf8') : header
}

export function checkedId(id: string): string {
  if (id.length <= MAX_SESSION_ID) return id
  const message = `X-IR-Session-ID has ${id.length} characters, ${MAX_SESSION_ID} are allowed`
  throw new RelayFailure(400, 'invalid_request_error', message, { field: 'X-IR-Session-ID' })
}

export function lastEventId(req: IncomingMessage): string | undefined {
  const given = req.headers['last-event-id']
  return typeof given === 'string' ? given : undefined
}

/** A whole number of the query as an option of this name; none where it is not given. */
export function numberIn<N extends string>(
  query: URLSearchParams,
  name: N,
  max = Number.MAX_SAFE_INTEGER,
): { [name in N]?: number } {
  const given = query.get(name)
  if (given === null) return {}
  if (/^\d{1,16}$/.test(given)) return { [name]: Math.min(Number(given), max) } as { [name in N]?: number }
  throw new RelayFailure(400, 'invalid_request_error', `${name} must be a whole number`, { field: name })
}
