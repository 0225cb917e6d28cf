import type { ServerResponse } from 'node:http'

/** One request to the scripted model. */
export interface Exchange {
  body: unknown
  response: ServerResponse
  /** Aborts when the client is gone or the server closes. */
  signal: AbortSignal
}

/** One model API: what it answers, by `METHOD /path`. A sibling file each. */
export interface ModelApi {
  routes: Record<string, (exchange: Exchange) => Promise<void>>
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
