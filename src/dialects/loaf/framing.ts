import { isUtf8 } from 'node:buffer'
import { INVALID_REQUEST, LoafError, PARSE_ERROR } from './errors.ts'

export type Id = string | number | null

export interface Request {
  id: Id
  method: string
  params: unknown
}

/** A line of the client's; null for what gets no answer. Throws `LoafError`, which is answered with id null. */
export function readLine(line: Buffer): Request | null {
  const value = parse(line)
  if (value === undefined) return null
  if (Array.isArray(value)) {
    throw new LoafError(INVALID_REQUEST, 'batch requests are not supported', {
      reason: 'batch_not_supported',
    })
  }
  if (typeof value !== 'object' || value === null) throw invalidRequest()
  const { jsonrpc, id, method, params } = value as Record<string, unknown>
  if (jsonrpc !== '2.0' || typeof method !== 'string' || method.trim() === '') throw invalidRequest()
  // Original servers drop notifications without carrying them out, and clients have come to rely on it.
  if (!('id' in value)) return null
  if (id !== null && typeof id !== 'string' && typeof id !== 'number') throw invalidRequest()
  return { id, method, params }
}

/** Undefined for a blank line. */
function parse(line: Buffer): unknown {
  if (!isUtf8(line)) throw parseError('the line is not UTF-8')
  const text = line.toString().trim()
  if (text === '') return undefined
  try {
    return JSON.parse(text) as unknown
  } catch (error) {
    throw parseError((error as Error).message)
  }
}

function parseError(why: string): LoafError {
  return new LoafError(PARSE_ERROR, `parse error: ${why}`, { reason: 'parse_error' })
}

export function invalidRequest(message = 'invalid request', kind?: string): LoafError {
  return new LoafError(INVALID_REQUEST, message, {
    reason: 'invalid_request',
    ...(kind !== undefined && { kind }),
  })
}

/** Node's readline, which clients like to use, takes these two for ends of lines. */
function encode(value: object): string {
  const text = JSON.stringify({ jsonrpc: '2.0', ...value })
  return text.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

export function resultLine(id: Id, result: unknown): string {
  return encode({ id, result })
}

export function errorLine(id: Id, { code, message, data }: LoafError): string {
  return encode({ id, error: { code, message, data } })
}

export interface EventParams {
  type: string
  timestamp: string
  seq: number
  payload: object
}

export function eventLine(params: EventParams): string {
  return encode({ method: 'event', params })
}
