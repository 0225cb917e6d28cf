import type { IncomingMessage, ServerResponse } from 'node:http'
import type { RelayFailure } from '../../relay/failure.ts'
import { clientKind, failureAnswer } from './errors.ts'
import { pathIn, routePath } from './paths.ts'

export function sendFailure(
  req: IncomingMessage,
  res: ServerResponse,
  failure: RelayFailure,
  id: string,
): void {
  const kind = clientKind(req.headers, routePath(pathIn(req.url)))
  const { status, headers, body } = failureAnswer(failure, kind, id)
  sendJson(res, status, body, headers)
}

export function sendJson(
  res: ServerResponse,
  status: number,
  body: object,
  headers: Record<string, string> = {},
): void {
  const text = JSON.stringify(body)
  res.writeHead(status, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(text),
    ...headers,
  })
  res.end(text)
}

/** Resolves when all is handed over to the system; false: the client was gone before. */
export function hasLeft(res: ServerResponse): Promise<boolean> {
  if (res.writableFinished || res.destroyed) return Promise.resolve(res.writableFinished)
  return new Promise((resolve) => {
    res.once('finish', () => resolve(true))
    res.once('close', () => resolve(res.writableFinished))
  })
}
