import { once } from 'node:events'
import { createConnection, createServer } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { createLineSplitter } from '../../src/transports/ndjson.ts'
import type { TestDaemon } from '../support/daemon.ts'

/** A socket on the way to the daemon that lets a request through, and cuts the line before its answer, the first time. */
export async function cutting(t: TestContext, daemon: TestDaemon, method: string): Promise<string> {
  let isDone = false
  const server = createServer((client) => {
    const onward = createConnection(daemon.socket)
    let cut: unknown
    const requests = createLineSplitter({
      onLine(line) {
        const request = JSON.parse(line.toString()) as { id: number; method: string }
        if (request.method === method && !isDone) cut = request.id
        onward.write(`${line}\n`)
      },
    })
    const answers = createLineSplitter({
      onLine(line) {
        const { id } = JSON.parse(line.toString()) as { id?: number }
        if (id === undefined || id !== cut) return void client.write(`${line}\n`)
        isDone = true
        client.destroy()
      },
    })
    client.on('data', (chunk) => requests.push(chunk))
    onward.on('data', (chunk) => answers.push(chunk))
    client.on('close', () => onward.destroy())
    onward.on('close', () => client.destroy())
    for (const socket of [client, onward]) socket.on('error', () => {})
    t.after(() => client.destroy())
  })
  const path = join(daemon.home, `${method}.sock`)
  server.listen(path)
  await once(server, 'listening')
  t.after(() => void server.close())
  return path
}
