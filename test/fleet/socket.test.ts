import { createConnection, createServer, type Socket } from 'node:net'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { describeWay } from './suite.ts'

/** Two daemons of one machine: by a socket, with something in between that can break. */
describeWay('by the path of a socket', async (there) => {
  const path = join(there.home, 'way.sock')
  const open = new Set<Socket>()
  const server = createServer((from) => {
    const to = createConnection(there.socket)
    for (const [a, b] of [
      [from, to],
      [to, from],
    ] as const) {
      open.add(a)
      a.pipe(b)
      a.on('error', () => {})
      a.on('close', () => {
        open.delete(a)
        b.destroy()
      })
    }
  })
  const listen = async (): Promise<void> => {
    server.listen(path)
    await once(server, 'listening')
  }
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  const shut = async (): Promise<void> => {
    if (!server.listening) return
    const closed = once(server, 'close')
    server.close()
    cut()
    await closed
    rmSync(path, { force: true })
  }
  await listen()
  return {
    target: path,
    env: {},
    cut,
    block: (blocked) => (blocked ? shut() : listen()),
    close: shut,
  }
})
