import { once } from 'node:events'
import { createConnection, type Socket } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import type { HumanLayerOptions } from '../../../src/dialects/humanlayer/method.ts'
import { humanlayerDialect } from '../../../src/dialects/humanlayer/open.ts'
import { createLineSplitter } from '../../../src/transports/ndjson.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../../support/engine.ts'
import { arrival } from '../../support/wait.ts'

export type Json = Record<string, unknown>

/** An error answer. */
export class RpcFailure extends Error {
  readonly code: number
  readonly data: Json | undefined

  constructor({ code, message, data }: { code: number; message: string; data?: Json }) {
    super(message)
    this.code = code
    this.data = data
  }
}

export interface WireEvent {
  type: string
  timestamp: string
  seq: number
  data: Json
}

/** One connection. */
export interface Client {
  readonly socket: Socket
  /** Lines that answer no call, parsed: confirmations, events, heartbeats. */
  readonly other: Json[]
  readonly events: WireEvent[]
  call<T = Json>(method: string, params?: unknown): Promise<T>
  /** Resolves when the subscription is confirmed. */
  subscribe(params?: Json): Promise<Json>
  /** The first event that fits, whether it is here already or not. */
  event(type: string, fits?: (data: Json) => boolean): Promise<WireEvent>
  /** As soon as this is true of what has come. */
  until(condition: () => boolean): Promise<void>
  close(): void
}

export async function connect(path: string): Promise<Client> {
  const socket = createConnection(path)
  await once(socket, 'connect')
  const waiting = new Map<unknown, { resolve(value: unknown): void; reject(error: Error): void }>()
  const other: Json[] = []
  const events: WireEvent[] = []
  const watchers = new Set<() => void>()
  let lastId = 0

  function receive(message: Json): void {
    const call = message['id'] === null ? undefined : waiting.get(message['id'])
    waiting.delete(message['id'])
    const error = message['error'] as { code: number; message: string; data?: Json } | undefined
    if (!call) {
      other.push(message)
      const event = (message['result'] as Json | undefined)?.['event'] as WireEvent | undefined
      if (event) events.push(event)
    } else if (error) call.reject(new RpcFailure(error))
    else call.resolve(message['result'])
    for (const look of watchers) look()
  }

  const splitter = createLineSplitter({ onLine: (line) => receive(JSON.parse(line.toString()) as Json) })
  socket.on('data', (chunk: Buffer) => splitter.push(chunk))
  socket.on('error', () => {})
  socket.on('close', () => {
    for (const { reject } of waiting.values()) reject(new Error('the connection was closed'))
  })

  const client: Client = {
    socket,
    other,
    events,
    call<T>(method: string, params: unknown = {}) {
      const id = ++lastId
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', method, params, id })}\n`)
      return new Promise<T>((resolve, reject) =>
        waiting.set(id, { resolve: (value) => resolve(value as T), reject }),
      )
    },
    async subscribe(params = {}) {
      const seen = other.length
      socket.write(`${JSON.stringify({ jsonrpc: '2.0', method: 'Subscribe', params, id: ++lastId })}\n`)
      await client.until(() => other.length > seen)
      return other[seen]!
    },
    async event(type, fits = () => true) {
      const find = (): WireEvent | undefined => events.find((one) => one.type === type && fits(one.data))
      await client.until(() => find() !== undefined)
      return find()!
    },
    until(condition) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = (): void => {
        if (condition()) resolve()
      }
      watchers.add(look)
      look()
      const what = (): string => `${String(condition)}; events: ${events.map(({ type }) => type).join(', ')}`
      return arrival(promise, what).finally(() => watchers.delete(look))
    },
    close: () => socket.destroy(),
  }
  return client
}

export interface Rig extends Client {
  engine: TestEngine
  options: HumanLayerOptions
  path: string
  /** Launches with the demo agent. */
  launch(query: string, params?: Json): Promise<{ session_id: string; run_id: string }>
  /** Launches and waits for the end. */
  run(query: string, params?: Json): Promise<string>
  state(sessionId: string): Promise<Json>
  /** Once the session has this status. */
  reaches(sessionId: string, status: string): Promise<Json>
  conversation(sessionId: string): Promise<Json[]>
  /** One more connection. */
  connect(): Promise<Client>
  /** Lets go as a crash would; the next rig may take the same home. */
  abandon(): Promise<void>
}

export interface RigOptions {
  engine?: TestEngineOptions
  options?: Partial<HumanLayerOptions>
}

/** A real engine with the dialect on a socket, and a client that is subscribed to everything. */
export async function rigFor(t: TestContext, given: RigOptions = {}): Promise<Rig> {
  const engine = await startEngine(given.engine)
  const path = join(engine.home, 'hl', 'daemon.sock')
  const options: HumanLayerOptions = {
    agent: 'demo',
    askAlways: true,
    socket: path,
    home: engine.home,
    cwd: engine.cwd,
    version: '0.1.0',
    ...given.options,
  }
  const listener = await humanlayerDialect({ engine: engine.engine, options }).listen(true)
  const clients: Client[] = []
  let abandoned = false
  const hangUp = async (): Promise<void> => {
    for (const client of clients) client.close()
    await listener.close()
  }
  t.after(async () => {
    if (abandoned) return
    await hangUp()
    await engine.stop()
  })
  const open = async (): Promise<Client> => {
    const client = await connect(path)
    clients.push(client)
    return client
  }
  const client = await open()
  await client.subscribe()

  const rig: Rig = {
    ...client,
    engine,
    options,
    path,
    connect: open,
    async abandon() {
      abandoned = true
      await hangUp()
      await engine.abandon()
    },
    launch: (query, params = {}) => client.call('launchSession', { query, ...params }),
    async run(query, params) {
      const { session_id } = await rig.launch(query, params)
      await rig.reaches(session_id, 'completed')
      return session_id
    },
    async state(sessionId) {
      const { session } = await client.call<{ session: Json }>('getSessionState', { session_id: sessionId })
      return session
    },
    async reaches(sessionId, status) {
      await client.event(
        'session_status_changed',
        ({ session_id, new_status }) => session_id === sessionId && new_status === status,
      )
      return rig.state(sessionId)
    },
    async conversation(sessionId) {
      const { events } = await client.call<{ events: Json[] }>('getConversation', { session_id: sessionId })
      return events
    },
  }
  return rig
}
