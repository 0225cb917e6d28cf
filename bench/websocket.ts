import { once } from 'node:events'
import { createConnection } from 'node:net'
import { fileURLToPath } from 'node:url'
import { count } from './support/count.ts'
import { atLeast, type Result, type Row } from './support/row.ts'
import { type Server, startDaemon, startProgram } from './support/server.ts'
import { brief, median, timed } from './support/stats.ts'
import type { Workshop } from './support/workshop.ts'

const SERVER = fileURLToPath(new URL('support/websocket-server.ts', import.meta.url))
const ROUNDS = 3
const FAN_OUT: [clients: number, messages: number][] = [
  [100, 2000],
  [1000, 200],
]
const CALLS = 2000
const WARM_UP = 2000

/** Our WebSocket transport against `ws` alone: the same messages to many, and the cheapest request. */
export async function websocket(shop: Workshop): Promise<Result[]> {
  const ours = await startServer(shop, 'ours')
  const bare = await startServer(shop, 'bare')
  const rows: Row[] = []
  for (const [clients, messages] of FAN_OUT) rows.push(await fanOut(shop, ours, bare, clients, messages))
  rows.push(await roundTrips(shop, bare))
  await Promise.all([ours.stop(), bare.stop()])
  return rows
}

type WebSocketServer = Server & { port: number }

export async function startServer(shop: Workshop, kind: 'ours' | 'bare'): Promise<WebSocketServer> {
  const { server, line } = await startProgram(shop, [SERVER, kind])
  return Object.assign(server, { port: Number(line) })
}

interface Broadcast {
  perSecond: number
  cpuMs: number
}

async function broadcast(
  shop: Workshop,
  { port }: WebSocketServer,
  clients: number,
  messages: number,
): Promise<Broadcast> {
  const job = {
    to: { port, host: '127.0.0.1' },
    connections: clients,
    request: upgrade(port, '/'),
    mark: '"method":"event"',
    last: '"type":"last"',
  }
  let went: Promise<string> = Promise.resolve('')
  const { marks, firstMs, lastMs } = await count(shop, job, () => {
    went = fetch(`http://127.0.0.1:${port}/go?messages=${messages}`).then((answer) => answer.text())
  })
  if (marks !== clients * messages) throw new Error(`${marks} of ${clients * messages} messages arrived`)
  return { perSecond: (marks / (lastMs - firstMs)) * 1000, cpuMs: Number(await went) }
}

async function fanOut(
  shop: Workshop,
  ours: WebSocketServer,
  bare: WebSocketServer,
  clients: number,
  messages: number,
): Promise<Row> {
  const results: { ours: Broadcast[]; bare: Broadcast[] } = { ours: [], bare: [] }
  for (let round = 0; round < ROUNDS; round++) {
    results.ours.push(await broadcast(shop, ours, clients, messages))
    results.bare.push(await broadcast(shop, bare, clients, messages))
  }
  const rate = (of: Broadcast[]): number => median(of.map(({ perSecond }) => perSecond))
  const cpu = (of: Broadcast[]): string =>
    ((median(of.map(({ cpuMs }) => cpuMs)) * 1000) / (clients * messages)).toFixed(2)
  const bareRate = rate(results.bare)
  return {
    name: `deliveries to ${brief(clients)} WebSocket clients (against a loop over bare ws)`,
    value: rate(results.ours),
    unit: '/s',
    ratio: rate(results.ours) / bareRate,
    target: atLeast(0.8, 'ratio'),
    note: `bare: ${brief(bareRate)} /s; processor µs per delivery: ${cpu(results.ours)}, bare ${cpu(results.bare)}`,
  }
}

/** One call after the other, of a whole daemon that answers a method and of a server that only answers. */
async function roundTrips(shop: Workshop, bare: WebSocketServer): Promise<Row> {
  const daemon = await startDaemon(shop)
  const { port, pathname } = new URL(daemon.webSocket)
  const authorization = `authorization: Bearer ${daemon.token}\r\n`
  const lines = [await open(Number(port), pathname, authorization), await open(bare.port, '/')] as const
  const call = { jsonrpc: '2.0', id: 1, method: 'events.unsubscribe', params: { subscriptionId: 's0' } }
  const frame = masked(JSON.stringify(call))
  const times: [number[], number[]] = [[], []]
  for (const { ask } of lines) await timed(WARM_UP, () => ask(frame))
  for (let round = 0; round < ROUNDS; round++) {
    for (const [index, { ask }] of lines.entries())
      times[index]!.push(...(await timed(CALLS, () => ask(frame))))
  }
  for (const line of lines) line.close()
  await daemon.stop()
  const [ours, theirs] = times.map((some) => 1000 / median(some)) as [number, number]
  return {
    name: 'cheapest native request over WebSocket, one after the other (against bare ws)',
    value: ours,
    unit: '/s',
    ratio: ours / theirs,
    target: atLeast(0.7, 'ratio'),
    note: `bare: ${brief(theirs)} /s; n ${times[0].length}`,
  }
}

export async function open(port: number, path: string, headers = '') {
  const socket = createConnection({ port, host: '127.0.0.1' })
  socket.setNoDelay(true)
  socket.write(upgrade(port, path, headers))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  if (!answer.toString().startsWith('HTTP/1.1 101')) throw new Error(answer.toString())
  let answered: () => void = () => undefined
  socket.on('data', () => answered())
  return {
    ask: (frame: Buffer) =>
      new Promise<void>((resolve) => {
        answered = resolve
        socket.write(frame)
      }),
    close: () => socket.destroy(),
  }
}

export function upgrade(port: number, path: string, headers = ''): string {
  const key = 'dGhlIHNhbXBsZSBub25jZQ=='
  return (
    `GET ${path} HTTP/1.1\r\nhost: 127.0.0.1:${port}\r\nconnection: Upgrade\r\nupgrade: websocket\r\n` +
    `sec-websocket-version: 13\r\nsec-websocket-key: ${key}\r\n${headers}\r\n`
  )
}

/** A short text as a client sends it, with a mask that changes nothing. */
export function masked(text: string): Buffer {
  return Buffer.concat([Buffer.of(0x81, 0x80 | text.length), Buffer.alloc(4), Buffer.from(text)])
}
