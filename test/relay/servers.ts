import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Ask, JsonObject, Piece } from '../../src/relay/ask.ts'
import type { ModelCall } from '../../src/relay/providers/provider.ts'

export interface LocalServer {
  url: string
  /** Ends it with all its connections. */
  close(): Promise<void>
}

/** A server on loopback that goes when the file's tests are over. */
export async function serve(handler: RequestListener): Promise<LocalServer> {
  const server = createServer(handler)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  after(close)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

export async function jsonOf(req: IncomingMessage): Promise<JsonObject> {
  const parts: Buffer[] = []
  for await (const part of req) parts.push(part as Buffer)
  return JSON.parse(Buffer.concat(parts).toString('utf8')) as JsonObject
}

export function sendJson(res: ServerResponse, status: number, body: unknown, headers = {}): void {
  res.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

export function sendEvents(res: ServerResponse, frames: string): void {
  res.writeHead(200, { 'content-type': 'text/event-stream' }).end(frames)
}

/** Events as Anthropic's API frames them. */
export function named(...events: { type: string; [key: string]: unknown }[]): string {
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join('')
}

/** Chunks as OpenAI's API frames them. */
export function chunks(...list: unknown[]): string {
  return list
    .map((chunk) => `data: ${typeof chunk === 'string' ? chunk : JSON.stringify(chunk)}\n\n`)
    .join('')
}

export function anAsk(patch: Partial<Ask> = {}): Ask {
  const json = { model: 'm', max_tokens: 100, messages: [{ role: 'user', content: 'hi' }] }
  return {
    model: 'm',
    maxTokens: 100,
    stopSequences: [],
    system: null,
    messages: [{ role: 'user', content: [{ type: 'text', text: 'hi' }] }],
    tools: [],
    toolChoice: { type: 'auto' },
    stream: true,
    thinking: false,
    json: null,
    body: { shape: 'anthropic', json },
    ...patch,
  }
}

export function aCall(ask: Ask = anAsk(), signal: AbortSignal = new AbortController().signal): ModelCall {
  return { id: 'call-1', ask, stickyId: null, signal }
}

export async function all(pieces: AsyncIterable<Piece>): Promise<Piece[]> {
  const list: Piece[] = []
  for await (const piece of pieces) list.push(piece)
  return list
}

/** A directory that goes when the file's tests are over. */
export function scratch(): string {
  const path = mkdtempSync(join(tmpdir(), 'corral-relay-'))
  after(() => rmSync(path, { recursive: true, force: true }))
  return path
}
