import { RequestError } from '@agentclientprotocol/sdk/unstable'
import type { Failure } from '../../core/turn.ts'

const INVALID = -32602
const INTERNAL = -32603
const CANCELLED = -32800

/** Errors of ours that are about what the editor asked for. */
const ITS_OWN: ReadonlySet<unknown> = new Set([
  'invalid',
  'path_not_found',
  'repo_not_found',
  'agent_unknown',
  'agent_missing',
  'unsupported',
])

export function invalid(message: string): RequestError {
  return new RequestError(INVALID, message)
}

/** What the editor has asked of a session came to nothing, since it has closed the session meanwhile. */
export function closedMeanwhile(): RequestError {
  return new RequestError(CANCELLED, 'The session was closed')
}

/** Whatever was thrown, with its own words: editors show those. */
export function asRequestError(thrown: unknown, sessionId?: string): RequestError {
  if (thrown instanceof RequestError) return thrown
  const message = thrown instanceof Error ? thrown.message : String(thrown)
  const code = thrown instanceof Error && 'code' in thrown ? thrown.code : 'internal'
  if (code === 'session_not_found' && sessionId !== undefined) return RequestError.sessionNotFound(sessionId)
  return new RequestError(ITS_OWN.has(code) ? INVALID : INTERNAL, message, { code })
}

/** Why a turn failed. */
export function failed({ code, message, detail }: Failure): RequestError {
  return new RequestError(INTERNAL, message, { code, ...detail })
}

/** The other side does not want the answer any more; a connection that is gone is another matter. */
export function isCancelled(reason: unknown): boolean {
  return reason instanceof RequestError && reason.code === CANCELLED
}
