import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'

/** Why tests with a real server are left out; undefined: they are not. */
export const noNats =
  spawnSync('nats-server', ['--version']).status === 0
    ? undefined
    : 'no nats-server here: apt-get install nats-server'

export interface NatsServer {
  readonly url: string
  readonly port: number
  start(): Promise<void>
  kill9(): Promise<void>
  stop(): Promise<void>
}

/** A real one on loopback, with a store of its own. `config`: more of its configuration. */
export async function startNats(config = ''): Promise<NatsServer> {
  const folder = mkdtempSync(join(tmpdir(), 'corral-nats-'))
  const port = await freePort()
  const file = join(folder, 'nats.conf')
  writeFileSync(
    file,
    `listen: "127.0.0.1:${port}"\njetstream { store_dir: "${join(folder, 'store')}", max_mem: 64MB, max_file: 16GB }\n${config}`,
  )
  let child: ChildProcess | null = null
  let said = ''
  async function start(): Promise<void> {
    child = spawn('nats-server', ['-c', file], { stdio: ['ignore', 'pipe', 'pipe'] })
    child.stderr!.on('data', (data: Buffer) => (said = (said + data.toString()).slice(-3000)))
    await until(
      () => listens(port),
      () => `nats-server listens: ${said}`,
    )
  }
  async function end(signal: NodeJS.Signals): Promise<void> {
    if (!child) return
    const gone = once(child, 'exit')
    child.kill(signal)
    await gone
    child = null
  }
  await start()
  return {
    url: `nats://127.0.0.1:${port}`,
    port,
    start,
    kill9: () => end('SIGKILL'),
    async stop() {
      await end('SIGTERM')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createConnection(port, '127.0.0.1')
    socket.on('error', () => resolve(false))
    socket.on('data', () => {
      socket.destroy()
      resolve(true)
    })
  })
}

/** Something in between that can break. */
export interface Proxy {
  readonly url: string
  /** Every connection breaks, now. */
  cut(): void
  /** No new connection, and the old ones break; or all is well again. */
  shut(closed: boolean): Promise<void>
  /** Connections stay, but nothing gets through in these directions; the other end is not told. */
  swallow(directions: { toServer: boolean; toClient: boolean }): void
  close(): Promise<void>
}

export async function openProxy(to: number): Promise<Proxy> {
  const open = new Set<Socket>()
  let swallowed = { toServer: false, toClient: false }
  const server = createServer((client) => {
    const upstream = createConnection(to, '127.0.0.1')
    for (const [from, target, direction] of [
      [client, upstream, 'toServer'],
      [upstream, client, 'toClient'],
    ] as const) {
      open.add(from)
      from.on('data', (data) => {
        if (!swallowed[direction]) target.write(data)
      })
      from.on('error', () => {})
      from.on('close', () => {
        open.delete(from)
        target.destroy()
      })
    }
  })
  const port = await freePort()
  const cut = (): void => {
    for (const socket of open) socket.destroy()
  }
  const listen = async (): Promise<void> => {
    server.listen(port, '127.0.0.1')
    await once(server, 'listening')
  }
  async function shut(closed: boolean): Promise<void> {
    if (!closed) return listen()
    if (!server.listening) return
    const over = once(server, 'close')
    server.close()
    cut()
    await over
  }
  await listen()
  return {
    url: `nats://127.0.0.1:${port}`,
    cut,
    shut,
    swallow: (directions) => void (swallowed = directions),
    close: () => shut(true),
  }
}
