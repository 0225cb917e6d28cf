import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { Engine } from '../../../src/core/api.ts'
import { humanlayerDialect, type HumanLayerParts } from '../../../src/dialects/humanlayer/open.ts'
import { createLineSplitter } from '../../../src/transports/ndjson.ts'
import type { UnixListener } from '../../../src/transports/unix.ts'
import { startEngine, type TestEngine } from '../../support/engine.ts'
import { arrival } from '../../support/wait.ts'

export type Json = Record<string, unknown>

/** A connection without any knowledge of the protocol: lines as they are. */
export interface Raw {
  readonly socket: Socket
  /** Every line that has come, as text. */
  readonly lines: string[]
  /** Bytes as they are. */
  write(bytes: string | Buffer): void
  /** One value as one line. */
  send(value: unknown): void
  /** A request of this method with this id. */
  ask(id: unknown, method: string, params?: unknown): void
  /** The next line that was not taken yet. */
  next(): Promise<Json>
  /** Takes lines up to the first that fits, and returns that one. */
  find(fits: (line: Json) => boolean): Promise<Json>
  /** Resolves when the other side has closed. */
  readonly ended: Promise<unknown>
}

export interface Served {
  engine: TestEngine
  listener: UnixListener
  path: string
  /** Subscriptions of the engine that are open. */
  subscribers(): number
  connect(): Promise<Raw>
}

/** Where there are subscribers, the fold that they have in common reads the log as they do. */
export const SHARED = 1

/** A real engine with the dialect on a socket of its own. */
export async function serve(t: TestContext, parts: Partial<HumanLayerParts> = {}): Promise<Served> {
  const engine = await startEngine()
  const path = join(engine.home, 'hl', 'daemon.sock')
  const counted = counting(engine.engine)
  const options = { agent: 'demo', askAlways: true, socket: path, home: engine.home, cwd: engine.cwd }
  const dialect = humanlayerDialect({
    ...parts,
    engine: counted.engine,
    options: { ...options, version: '0.1.0' },
  })
  const listener = await dialect.listen(true)
  t.after(async () => {
    await listener.close()
    await engine.stop()
  })
  return { engine, listener, path, subscribers: counted.open, connect: () => connectRaw(t, path) }
}

/** The same engine; it is counted who listens. */
function counting(engine: Engine): { engine: Engine; open(): number } {
  let open = 0
  const subscribe: Engine['events']['subscribe'] = (...given) => {
    const subscription = engine.events.subscribe(...given)
    let closed = false
    open += 1
    return {
      get cursor() {
        return subscription.cursor
      },
      resume: () => subscription.resume(),
      close() {
        if (!closed) open -= 1
        closed = true
        subscription.close()
      },
    }
  }
  const events = Object.create(engine.events, { subscribe: { value: subscribe } }) as Engine['events']
  return { engine: { ...engine, events }, open: () => open }
}

export async function connectRaw(t: TestContext, path: string): Promise<Raw> {
  const socket = createConnection({ path, allowHalfOpen: true })
  socket.on('error', () => {})
  t.after(() => socket.destroy())
  const ended = once(socket, 'end')
  ended.catch(() => {})
  await once(socket, 'connect')
  const lines: string[] = []
  let taken = 0
  let wake = (): void => {}
  const splitter = createLineSplitter({
    onLine(line) {
      lines.push(line.toString())
      wake()
    },
  })
  socket.on('data', (chunk: Buffer) => splitter.push(chunk))
  socket.on('close', () => wake())
  socket.on('end', () => wake())

  async function next(): Promise<Json> {
    while (taken >= lines.length) {
      if (socket.readableEnded || socket.destroyed) throw new Error('the connection is closed')
      const more = new Promise<void>((resolve) => (wake = resolve))
      await arrival(more, () => `a line; before: ${lines.slice(-5).join('\n')}`)
    }
    return JSON.parse(lines[taken++]!) as Json
  }

  const send = (value: unknown): void => void socket.write(`${JSON.stringify(value)}\n`)
  return {
    socket,
    lines,
    write: (bytes) => void socket.write(bytes),
    send,
    ask: (id, method, params) => send({ jsonrpc: '2.0', method, params, id }),
    next,
    async find(fits) {
      for (;;) {
        const line = await next()
        if (fits(line)) return line
      }
    },
    ended,
  }
}
