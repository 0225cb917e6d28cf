import { isUtf8 } from 'node:buffer'
import type { RpcError } from '../../transports/jsonrpc.ts'
import { invalidRequest, parseError } from './errors.ts'

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
    throw invalidRequest('batch requests are not supported', { reason: 'batch_not_supported' })
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

/** The members of a message as a line, without what Node's readline, which clients like to use, takes for ends of lines. */
function lineOf(members: string): string {
  return `{"jsonrpc":"2.0",${members}}`.replaceAll('\u2028', '\\u2028').replaceAll('\u2029', '\\u2029')
}

/** `member` is the result or the error, as JSON. */
export function answerLine(id: Id, member: string): string {
  return lineOf(`"id":${JSON.stringify(id)},${member}`)
}

export function errorLine(id: Id, { code, message, data }: RpcError): string {
  return answerLine(id, `"error":${JSON.stringify({ code, message, data })}`)
}

export interface EventParams {
  type: string
  timestamp: string
  seq: number
  payload: object
}

export function eventLine(params: EventParams): string {
  return lineOf(`"method":"event","params":${JSON.stringify(params)}`)
}
