import type { IncomingMessage, OutgoingHttpHeaders, ServerResponse } from 'node:http'

/** An answer other than success: the text goes out as text/plain. */
/** Emitted on a connection when a request arrives on it: whatever was answered before has been read. */
export const NEXT_REQUEST = Symbol('next request')

export class HttpError extends Error {
  readonly status: number
  readonly headers: OutgoingHttpHeaders

  constructor(status: number, message = '', headers: OutgoingHttpHeaders = {}) {
    super(message)
    this.name = 'HttpError'
    this.status = status
    this.headers = headers
  }
}

export function sendError(res: ServerResponse, error: HttpError): void {
  send(res, error.status, 'text/plain; charset=utf-8', error.message, error.headers)
}

export function sendText(res: ServerResponse, status: number, text: string): void {
  send(res, status, 'text/plain; charset=utf-8', text)
}

/** `json` is the body as it is: serialised already. */
export function sendJson(res: ServerResponse, status: number, json: string): void {
  send(res, status, 'application/json', json)
}

function send(
  res: ServerResponse,
  status: number,
  type: string,
  body: string,
  headers: OutgoingHttpHeaders = {},
): void {
  const length = Buffer.byteLength(body)
  res.writeHead(status, {
    ...(length > 0 ? { 'content-type': type } : {}),
    'content-length': length,
    ...headers,
  })
  res.end(body)
}

/** `application/json` or `application/<anything>+json`, with or without parameters. */
export function isJsonType(contentType: string | undefined): boolean {
  const type = contentType?.split(';', 1)[0]?.trim().toLowerCase()
  return type !== undefined && /^application\/(json|[^/\s]+\+json)$/.test(type)
}

/**
 * The whole body. One above the limit is read to its end, thrown away and refused with 413, so that the client gets
 * to see the answer and the connection stays usable; the server's request timeout bounds how long that can take.
 */
export function readBody(req: IncomingMessage, limit: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  let parts: Buffer[] = []
  let size = 0
  req.on('data', (chunk: Buffer) => {
    size += chunk.length
    if (size <= limit) parts.push(chunk)
    else parts = []
  })
  req.on('end', () => {
    if (size > limit) reject(new HttpError(413, `The request body is larger than ${limit} bytes`))
    else resolve(parts.length === 1 ? parts[0]! : Buffer.concat(parts, size))
  })
  // Every request is closed in the end; an error is made of those only that were cut off before.
  const cutOff = (): void => {
    if (!req.readableEnded) reject(new HttpError(400, 'The request was cut off'))
  }
  req.on('error', cutOff)
  req.on('close', cutOff)
  return promise
}
