/**
 * Broadcasts to whoever is connected when it is told to (`GET /go?messages=…`, or `POST /go` with a list of texts), through our
 * transport (`ours`) or with `ws` alone (`bare`), which also answers JSON-RPC with nothing. Prints its port, and its processor time after each broadcast.
 */
import { createServer, type IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { WebSocketServer } from 'ws'
import { textFrame } from '../../src/transports/frames.ts'
import { createWebSockets, type WebSocketConnection } from '../../src/transports/websocket.ts'

/** What an agent that streams brings in one tick. */
const PER_TICK = 10
const MOST_UNSENT = 1024 ** 2
const PADDING = '.'.repeat(150)

interface Broadcaster {
  broadcast(text: string): void
  /** Whether somebody has too much unsent. */
  isFull(): boolean
}

const server = createServer((req, res) => {
  void textsOf(req)
    .then(run)
    .then((cpuMs) => res.end(String(cpuMs)))
})
const broadcaster = process.argv[2] === 'ours' ? ours() : bare()
server.listen(0, '127.0.0.1', 4096, () => {
  console.log((server.address() as { port: number }).port)
})

async function textsOf(req: IncomingMessage): Promise<Iterable<string>> {
  if (req.method === 'POST') return JSON.parse(Buffer.concat(await req.toArray()).toString()) as string[]
  return numbered(Number(new URL(req.url!, 'http://x').searchParams.get('messages')))
}

function* numbered(messages: number): Generator<string> {
  for (let index = 1; index <= messages; index++) {
    const text = { index, padding: PADDING, type: index === messages ? 'last' : 'event' }
    yield JSON.stringify({ jsonrpc: '2.0', method: 'event', params: text })
  }
}

async function run(texts: Iterable<string>): Promise<number> {
  const before = process.cpuUsage()
  let sent = 0
  for (const text of texts) {
    broadcaster.broadcast(text)
    if (++sent % PER_TICK === 0) await new Promise(setImmediate)
    while (broadcaster.isFull()) await new Promise(setImmediate)
  }
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}

function ours(): Broadcaster {
  const connections = new Set<WebSocketConnection>()
  const full = new Set<WebSocketConnection>()
  const sockets = createWebSockets({
    sendLimit: MOST_UNSENT,
    accept(connection) {
      connections.add(connection)
      return {
        line: () => {},
        drain: () => void full.delete(connection),
        closed() {
          connections.delete(connection)
          full.delete(connection)
        },
      }
    },
  })
  server.on('upgrade', (req, socket, head) => sockets.upgrade(req, socket as Socket, head))
  return {
    broadcast(text) {
      const frame = textFrame(text)
      for (const connection of connections) if (!connection.send(frame)) full.add(connection)
    },
    isFull: () => full.size > 0,
  }
}

function bare(): Broadcaster {
  const wss = new WebSocketServer({ server, perMessageDeflate: false })
  wss.on('connection', (ws) => {
    ws.on('message', (data: Buffer) => {
      const { id } = JSON.parse(data.toString()) as { id: number }
      ws.send(JSON.stringify({ jsonrpc: '2.0', id, result: {} }))
    })
  })
  return {
    broadcast: (text) => wss.clients.forEach((ws) => ws.send(text)),
    isFull: () => [...wss.clients].some((ws) => ws.bufferedAmount > MOST_UNSENT),
  }
}
