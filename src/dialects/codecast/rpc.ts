import { isUtf8 } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import { CorralError } from '../../core/error.ts'
import { HttpError, type HttpHandler, isJsonType, readBody, sendJson } from '../../transports/http.ts'
import { RawJson } from '../../transports/jsonrpc.ts'
import { paramsError, type WireError, wireError } from './errors.ts'
import type { DialectLog } from '../dialect.ts'
import type { Call, Method } from './methods.ts'
import { INVALID_PARAMS, INVALID_REQUEST, METHOD_NOT_FOUND } from './wire.ts'

export interface RpcDeps {
  methods: readonly Method[]
  bodyLimit: number
  log: DialectLog
}

type Id = string | number | null

interface Envelope {
  method: string
  params: unknown
  id?: Id
  /** Answered in kind, when the client says it. */
  jsonrpc?: '2.0'
}

type Addressed = Pick<Envelope, 'id' | 'jsonrpc'>

/** `POST /rpc`: one request, one answer, or one stream. */
export function createRpcHandler({ methods, bodyLimit, log }: RpcDeps): HttpHandler {
  const table = new Map(methods.map((method) => [method.name, method]))

  async function answer(res: ServerResponse, envelope: Envelope): Promise<void> {
    const method = table.get(envelope.method)
    if (!method) {
      return fail(res, envelope, {
        code: METHOD_NOT_FOUND,
        message: `Method not found: ${envelope.method.slice(0, 100)}`,
      })
    }
    const given = envelope.params ?? {}
    if (!isObject(given)) {
      return fail(res, envelope, { code: INVALID_PARAMS, message: 'Invalid params: they must be an object' })
    }
    const params = method.params.safeParse(given)
    if (!params.success) return fail(res, envelope, paramsError(given, params.error.issues))
    const call: Call = { res, onDelivered: (action) => res.on('finish', action) }
    try {
      const result = await method.handle(params.data, call)
      if (method.streaming) return
      sendJson(res, 200, respond(envelope, 'result', result))
    } catch (error) {
      const known = error instanceof CorralError && error.code !== 'internal'
      if (!known) log.warn({ method: method.name, err: error }, 'Codecast request failed')
      fail(res, envelope, wireError(error))
    }
  }

  return async ({ req, res }) => {
    if (!isJsonType(req.headers['content-type'])) {
      throw new HttpError(415, 'Expected request with `Content-Type: application/json`')
    }
    const body = await readBody(req, bodyLimit)
    const value = parse(body)
    if (value === undefined) {
      const error = { code: INVALID_REQUEST, message: 'Invalid request: the body is not JSON' }
      return sendJson(res, 400, respond({}, 'error', error))
    }
    const envelope = envelopeOf(value)
    if ('code' in envelope) return fail(res, addressOf(value), envelope)
    await answer(res, envelope)
  }
}

function fail(res: ServerResponse, to: Addressed, error: WireError): void {
  if (!res.headersSent) sendJson(res, 200, respond(to, 'error', error))
}

function respond({ id, jsonrpc }: Addressed, name: 'result' | 'error', value: unknown): string {
  const version = jsonrpc === undefined ? '' : '"jsonrpc":"2.0",'
  const json = value instanceof RawJson ? value.json : JSON.stringify(value)
  return `{${version}"${name}":${json}${id === undefined ? '' : `,"id":${JSON.stringify(id)}`}}`
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

function envelopeOf(value: unknown): Envelope | WireError {
  if (!isObject(value)) return { code: INVALID_REQUEST, message: 'Invalid request (it must be an object)' }
  const { method, params, id } = value
  if (method === undefined || method === null) {
    return { code: INVALID_REQUEST, message: 'Invalid request (missing method field)' }
  }
  if (typeof method !== 'string') {
    return { code: INVALID_REQUEST, message: 'Invalid request (the method field must be a string)' }
  }
  if (id !== undefined && !isId(id)) {
    return { code: INVALID_REQUEST, message: 'Invalid request (id must be a string, a number or null)' }
  }
  return { method, params, ...addressOf(value) }
}

function addressOf(value: unknown): Addressed {
  if (!isObject(value)) return {}
  const { id, jsonrpc } = value
  return { ...(isId(id) ? { id } : {}), ...(jsonrpc === '2.0' ? { jsonrpc } : {}) }
}

function isId(id: unknown): id is Id {
  return id === null || typeof id === 'string' || typeof id === 'number'
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
