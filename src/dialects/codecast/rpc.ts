import { isUtf8 } from 'node:buffer'
import type { ServerResponse } from 'node:http'
import { asCorralError } from '../../core/error.ts'
import { HttpError, type HttpHandler, isJsonType, readBody, sendJson } from '../../transports/http.ts'
import { createCaller, type RpcError } from '../../transports/jsonrpc.ts'
import { verifying } from '../method.ts'
import { ALWAYS, paramsError, wireError } from './errors.ts'
import type { CodecastMethod, Context, Services } from './method.ts'
import { INVALID_REQUEST, METHOD_NOT_FOUND } from './wire.ts'

export interface RpcOptions {
  methods: readonly CodecastMethod[]
  services: Services
  bodyLimit: number
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
export function createRpcHandler({ methods, services, bodyLimit }: RpcOptions): HttpHandler {
  const call = createCaller<Context, CodecastMethod>({
    methods,
    ...verifying((thrown) => asCorralError(thrown).code, ALWAYS),
    mapError(thrown, { name }) {
      const isFault = asCorralError(thrown).code === 'internal'
      if (isFault) services.log.warn({ method: name, err: thrown }, 'Codecast request failed')
      return wireError(thrown)
    },
    invalidParams: paramsError,
    methodNotFound: (name) => ({
      code: METHOD_NOT_FOUND,
      message: `Method not found: ${name.slice(0, 100)}`,
    }),
  })

  function answer(res: ServerResponse, { method, params, ...to }: Envelope): Promise<void> {
    const context: Context = { ...services, res, onDelivered: (action) => res.on('finish', action) }
    return new Promise((resolve) => {
      call(method, params, context, (member) => {
        // What streams has answered already.
        if (!res.headersSent) sendJson(res, 200, respond(to, member))
        resolve()
      })
    })
  }

  return async ({ req, res }) => {
    if (!isJsonType(req.headers['content-type'])) {
      throw new HttpError(415, 'Expected request with `Content-Type: application/json`')
    }
    const value = parse(await readBody(req, bodyLimit))
    if (value === undefined) {
      return sendJson(res, 400, respond({}, refusal('Invalid request: the body is not JSON')))
    }
    const envelope = envelopeOf(value)
    if (typeof envelope === 'string')
      return sendJson(res, 200, respond(addressOf(value), refusal(`Invalid request (${envelope})`)))
    await answer(res, envelope)
  }
}

function respond({ id, jsonrpc }: Addressed, member: string): string {
  const version = jsonrpc === undefined ? '' : '"jsonrpc":"2.0",'
  return `{${version}${member}${id === undefined ? '' : `,"id":${JSON.stringify(id)}`}}`
}

function refusal(message: string): string {
  const error: RpcError = { code: INVALID_REQUEST, message }
  return `"error":${JSON.stringify(error)}`
}

function parse(body: Buffer): unknown {
  if (!isUtf8(body)) return undefined
  try {
    return JSON.parse(body.toString('utf8'))
  } catch {
    return undefined
  }
}

/** What is no request is told why. */
function envelopeOf(value: unknown): Envelope | string {
  if (!isObject(value)) return 'it must be an object'
  const { method, params, id } = value
  if (method === undefined || method === null) return 'missing method field'
  if (typeof method !== 'string') return 'the method field must be a string'
  if (id !== undefined && !isId(id)) return 'id must be a string, a number or null'
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
