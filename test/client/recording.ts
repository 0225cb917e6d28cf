import { once } from 'node:events'
import { createConnection, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createLineSplitter } from '../../src/transports/ndjson.ts'
import type { TestDaemon } from '../support/daemon.ts'

export interface Recorded {
  connection: number
  from: 'client' | 'daemon'
  message: { id?: number; method?: string; params?: unknown; result?: unknown; error?: unknown }
}

/** A socket on the way to the daemon that keeps every message. */
export async function recording(
  t: TestContext,
  daemon: TestDaemon,
): Promise<{ socket: string; messages: Recorded[] }> {
  const messages: Recorded[] = []
  let connections = 0
  const server = createServer((client) => {
    const connection = ++connections
    const onward = createConnection(daemon.socket)
    const keep = (from: Recorded['from'], to: Socket) =>
      createLineSplitter({
        onLine(line) {
          const message = JSON.parse(line.toString()) as Recorded['message']
          messages.push({ connection, from, message })
          to.write(`${line}\n`)
        },
      })
    const [requests, answers] = [keep('client', onward), keep('daemon', client)]
    client.on('data', (chunk) => requests.push(chunk))
    onward.on('data', (chunk) => answers.push(chunk))
    client.on('close', () => onward.destroy())
    onward.on('close', () => client.destroy())
    for (const end of [client, onward]) end.on('error', () => {})
    t.after(() => client.destroy())
  })
  const socket = join(daemon.home, 'recording.sock')
  server.listen(socket)
  await once(server, 'listening')
  t.after(() => void server.close())
  return { socket, messages }
}
