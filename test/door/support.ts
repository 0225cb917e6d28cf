import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { connect, type EventStream, type NativeClient } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'

export async function daemonFor(t: TestContext, env: NodeJS.ProcessEnv = {}): Promise<TestDaemon> {
  const daemon = await startDaemon({ env })
  t.after(() => daemon.stop())
  return daemon
}

export async function nativeFor(t: TestContext, daemon: TestDaemon, token?: string): Promise<NativeClient> {
  const client = token === undefined ? connect(daemon.socket) : connect(webSocketOf(daemon), { token })
  t.after(async () => (await client).close())
  return client
}

export function doorOf(daemon: TestDaemon): string {
  return daemon.listeners['corral']!
}

export function webSocketOf(daemon: TestDaemon): string {
  return `${doorOf(daemon).replace('http', 'ws')}/native`
}

export function tokenOf(daemon: TestDaemon): string {
  return readFileSync(join(daemon.corralHome, 'token'), 'utf8')
}

export const bearer = (token: string): { authorization: string } => ({ authorization: `Bearer ${token}` })

export interface Answered {
  status: number
  headers: Record<string, unknown>
  body: string
}

/** With any header at all, `Host` too, which `fetch` does not let one set. */
export function ask(url: string, headers: Record<string, string> = {}, method = 'GET'): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const req = request(url, { method, headers }, (res) => {
      const parts: Buffer[] = []
      res.on('data', (part: Buffer) => parts.push(part))
      res.on('end', () =>
        resolve({ status: res.statusCode!, headers: res.headers, body: Buffer.concat(parts).toString() }),
      )
    })
    req.on('error', reject).end()
  })
}

const ASK = {
  jsonrpc: '2.0',
  id: 1,
  method: 'tools/call',
  params: {
    name: 'contact_human',
    arguments: { message: 'Shall I?' },
    _meta: {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'asker', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  },
}

/** A question that waits for a human: the answer is a stream that stays open. */
export function askHuman(daemon: TestDaemon, headers: Record<string, string> = {}): Promise<Response> {
  return fetch(`${doorOf(daemon)}/mcp`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2026-07-28',
      'mcp-method': 'tools/call',
      'mcp-name': 'contact_human',
      ...headers,
    },
    body: JSON.stringify(ASK),
  })
}

type Event = EventStream extends AsyncIterable<infer E> ? E : never

/** The first event of a type that the log has, or will have. */
export async function first<T extends Event['type']>(
  client: NativeClient,
  type: T,
): Promise<Extract<Event, { type: T }>> {
  for await (const event of client.events({ after: 0, types: [type] })) {
    if (event.type === type) return event as Extract<Event, { type: T }>
  }
  throw new Error(`no ${type}`)
}
