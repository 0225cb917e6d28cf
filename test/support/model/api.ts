import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'

/** One request to the scripted model. */
export interface Exchange {
  /** Without its query. */
  path: string
  body: unknown
  response: ServerResponse
  /** Aborts when the client is gone or the server closes. */
  signal: AbortSignal
}

export interface Route {
  method: 'GET' | 'POST'
  path: RegExp
  answer(exchange: Exchange): Promise<void> | void
}

export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers })
  response.end(JSON.stringify(body))
}

/** One server-sent event; `event` only where the API names its events. */
export function sse(data: unknown, event?: string): string {
  return `${event === undefined ? '' : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`
}

export function shortId(): string {
  return randomUUID().replaceAll('-', '').slice(0, 24)
}
