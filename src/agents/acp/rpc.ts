import type { Session } from '../../core/session.ts'
import { halves, type JsonObject } from '../json.ts'

/*
 * JSON-RPC 2.0, one message a line. An id of ours says what the request is for, so that an answer is understood without
 * remembering the question; ids of the agent's go back as they came.
 */

/** What a request of ours is for: the first part of its id. */
export type Purpose =
  | 'initialize'
  | 'open'
  | 'ready'
  | 'begin'
  | 'compact'
  | 'prompt'
  | 'accepted'
  | 'over'
  | 'mode'
  | 'model'
  | 'default-model'
  | 'effort'
  | 'cancel'
  | 'barrier'

export const METHOD_NOT_FOUND = -32601
const INVALID_PARAMS = -32602

/** No agent knows this method. Its answer, an error, tells that everything before it has been read. */
const MARK = '_corral/mark'

export function request(id: string, method: string, params: object): string {
  return line({ id, method, params })
}

export function mark(purpose: Purpose, detail?: string): string {
  return request(idOf(purpose, detail), MARK, {})
}

export function idOf(purpose: Purpose, detail?: string): string {
  return detail === undefined ? purpose : `${purpose}:${detail}`
}

/** Stops the running turn. */
export function stop({ nativeId: sessionId }: Pick<Session, 'nativeId'>): string {
  return line({ method: 'session/cancel', params: { sessionId } })
}

export function result(id: unknown, body: object): string {
  return line({ id, result: body })
}

export function refusal(id: unknown, code: number, message: string): string {
  return line({ id, error: { code, message } })
}

export function invalid(id: unknown, message: string): string {
  return refusal(id, INVALID_PARAMS, message)
}

/** The purpose and the detail of an id of ours; null when it is none. */
export function purposeOf(id: unknown): [purpose: string, detail: string] | null {
  return typeof id === 'string' ? halves(id) : null
}

function line(message: JsonObject): string {
  return JSON.stringify({ jsonrpc: '2.0', ...message })
}
