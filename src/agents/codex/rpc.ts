import type { Session } from '../../core/session.ts'
import { asString, isObject, type JsonObject } from '../json.ts'

/** What a request of ours is for. */
export type Purpose =
  | 'account'
  | 'barrier'
  | 'children'
  | 'clean'
  | 'compact'
  | 'effort'
  | 'guard'
  | 'initialize'
  | 'interrupt'
  | 'leave'
  | 'mode'
  | 'models'
  | 'open'
  | 'steer'
  | 'stop'
  | 'turn'

/**
 * A request as a stdin line. Its id says whose it is and what for, so that an answer is understood without remembering
 * the question; answers carry no thread.
 */
export function request(
  session: Pick<Session, 'id'>,
  purpose: Purpose,
  method: string,
  params: JsonObject,
  about = '',
): string {
  const id = [session.id, purpose, ...(about === '' ? [] : [about])].join(':')
  return JSON.stringify({ id, method, params })
}

export function notification(method: string): string {
  return JSON.stringify({ method })
}

/** The answer to a request of Codex's. `requestId` is the JSON of its id, which may be a number. */
export function response(requestId: string, result: JsonObject): string {
  return JSON.stringify({ id: JSON.parse(requestId), result })
}

export function refusal(requestId: string, message: string): string {
  return JSON.stringify({ id: JSON.parse(requestId), error: { code: -32601, message } })
}

/** Codex's reply to a request of ours. */
export interface Reply {
  /** Whose request it was. */
  session: string
  purpose: string
  /** Which turn, which barrier. */
  about: string
  result: JsonObject | null
  error: string
}

/** Null when it is no reply to a request that `request` made. */
export function replyOf(line: JsonObject): Reply | null {
  if (typeof line.id !== 'string' || line.method !== undefined) return null
  const [session = '', purpose = '', ...about] = line.id.split(':')
  const error = isObject(line.error) ? asString(line.error.message) : null
  return {
    session,
    purpose,
    about: about.join(':'),
    result: isObject(line.result) ? line.result : null,
    error: error ?? 'no reason given',
  }
}
