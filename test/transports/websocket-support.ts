import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { loopbackGuard } from '../../src/access/guard.ts'
import type { LineConnection, LineHandler } from '../../src/transports/connection.ts'
import { createHttpApp, type ListenOptions, sendText } from '../../src/transports/http.ts'
import {
  createWebSockets,
  type WebSocketConnection,
  type WebSocketOptions,
  type WebSockets,
} from '../../src/transports/websocket.ts'
import { until } from '../support/wait.ts'

export interface Rig {
  port: number
  url: string
  sockets: WebSockets
  /** In the order they came. */
  connections: WebSocketConnection[]
}

export const echo = (connection: LineConnection): LineHandler => ({
  line: (line) => void connection.send(line.toString()),
})

/** Echoes, unless told otherwise, at any path. */
export async function listen(
  t: TestContext,
  options: Partial<WebSocketOptions> = {},
  listening: Partial<ListenOptions> = {},
): Promise<Rig> {
  const app = createHttpApp()
  const connections: WebSocketConnection[] = []
  const { accept = echo, ...rest } = options
  const sockets = createWebSockets({
    closeMs: 200,
    ...rest,
    accept(connection, request, admission) {
      connections.push(connection)
      return accept(connection, request, admission)
    },
  })
  app.upgrade('/', sockets.upgrade)
  app.route('GET', '/', ({ res }) => sendText(res, 200, 'plain'))
  const listener = await app.listen({ host: '127.0.0.1', port: 0, guard: loopbackGuard(), ...listening })
  t.after(async () => {
    await sockets.close()
    await app.close(0)
  })
  return { port: listener.port, url: listener.url.replace('http', 'ws'), sockets, connections }
}

/** A proper client, and what it has been told. */
export interface Client {
  ws: WebSocket
  messages: string[]
  /** Its messages, once there are this many. */
  got(count: number): Promise<string[]>
  /** The code that it was closed with. */
  closed: Promise<number>
}

export async function open(t: TestContext, url: string, options: object = {}): Promise<Client> {
  const ws = new WebSocket(url, { perMessageDeflate: false, ...options })
  t.after(() => ws.terminate())
  const messages: string[] = []
  ws.on('message', (data: Buffer) => messages.push(data.toString()))
  const closed = new Promise<number>((resolve) => ws.on('close', resolve))
  await new Promise<void>((resolve, reject) => {
    ws.on('open', resolve)
    ws.on('error', reject)
  })
  return {
    ws,
    messages,
    closed,
    async got(count) {
      await until(() => messages.length >= count, `${count} messages`)
      return messages
    },
  }
}

/** Says who is there: 0 for a connection, or the status of the refusal. */
export function knock(url: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const ws = new WebSocket(url, { headers })
    ws.on('unexpected-response', (request, { statusCode = -1 }) => {
      request.destroy()
      resolve(statusCode)
    })
    ws.on('open', () => {
      ws.terminate()
      resolve(0)
    })
    ws.on('error', reject)
  })
}
