import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { createDeviceAccess } from '../../../src/access/devices.ts'
import { uuid } from '../../../src/core/ids.ts'
import { createClawdeListener } from '../../../src/dialects/clawde/listener.ts'
import { clawdeDialect, type ClawdeDialect, type ClawdeParts } from '../../../src/dialects/clawde/open.ts'
import { clawdeSettings, type ClawdeLimits } from '../../../src/dialects/clawde/settings.ts'
import { createWorkspace } from '../../../src/workspace/service.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../../support/engine.ts'
import { arrival } from '../../support/wait.ts'

export type Json = Record<string, unknown>

/** An error answer. */
export class RpcFailure extends Error {
  readonly code: number
  readonly data: Json

  constructor({ code, message, data = {} }: { code: number; message: string; data?: Json }) {
    super(message)
    this.code = code
    this.data = data
  }
}

export interface Push {
  method: string
  params: Json
}

/** One connection. */
export interface Client {
  readonly ws: WebSocket
  /** All that came, in order. */
  readonly frames: Json[]
  readonly pushes: Push[]
  call<T = Json>(method: string, params?: unknown): Promise<T>
  /** The code that a call is refused with. */
  refusal(method: string, params?: unknown): Promise<RpcFailure>
  /** The first push that fits, whether it is here already or not. */
  push(method: string, fits?: (params: Json) => boolean): Promise<Json>
  until(condition: () => boolean): Promise<void>
  /** Sends a message and waits until the session is at rest again. */
  turn(sessionId: string, content: string): Promise<Push[]>
  /** The code of its end. */
  readonly closed: Promise<number>
}

export async function dial(
  t: { after(work: () => void): void },
  url: string,
  headers: Record<string, string> = {},
): Promise<Client> {
  const ws = new WebSocket(url, { headers })
  t.after(() => ws.terminate())
  const frames: Json[] = []
  const pushes: Push[] = []
  const waiting = new Map<unknown, { resolve(value: unknown): void; reject(error: Error): void }>()
  const watchers = new Set<() => void>()
  let lastId = 0
  ws.on('error', () => {})
  ws.on('message', (data: Buffer) => {
    const message = JSON.parse(data.toString()) as Json
    frames.push(message)
    if ('method' in message) pushes.push(message as unknown as Push)
    else {
      const call = waiting.get(message['id'])
      waiting.delete(message['id'])
      const error = message['error'] as { code: number; message: string; data?: Json } | undefined
      if (error) call?.reject(new RpcFailure(error))
      else call?.resolve(message['result'])
    }
    for (const look of watchers) look()
  })
  const closed = new Promise<number>((resolve) => ws.on('close', resolve))
  void closed.then(() => {
    for (const { reject } of waiting.values()) reject(new Error('the connection was closed'))
  })

  const client: Client = {
    ws,
    frames,
    pushes,
    closed,
    call<T>(method: string, params?: unknown) {
      const id = ++lastId
      ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, ...(params === undefined ? {} : { params }) }))
      return new Promise((resolve, reject) => waiting.set(id, { resolve, reject })) as Promise<T>
    },
    async refusal(method, params) {
      const failure = await client.call(method, params).then(
        (result) => new Error(`${method} was not refused: ${JSON.stringify(result)}`),
        (error: Error) => error,
      )
      if (failure instanceof RpcFailure) return failure
      throw failure
    },
    async push(method, fits = () => true) {
      const find = (): Push | undefined => pushes.find((one) => one.method === method && fits(one.params))
      await client.until(() => find() !== undefined)
      return find()!.params
    },
    until(condition) {
      const { promise, resolve } = Promise.withResolvers<void>()
      const look = (): void => {
        if (condition()) resolve()
      }
      watchers.add(look)
      look()
      const what = (): string =>
        `${String(condition)}; pushes: ${pushes.map(({ method }) => method).join(', ')}`
      return arrival(promise, what).finally(() => watchers.delete(look))
    },
    async turn(sessionId, content) {
      const from = pushes.length
      await client.call('session.sendMessage', { sessionId, content })
      // The session may have been told to be idle before it began to run.
      const ends = (): boolean => {
        const told = pushes
          .slice(from)
          .filter(
            ({ method, params }) => method === 'session.statusChanged' && params['sessionId'] === sessionId,
          )
          .map(({ params }) => params['status'])
        return told.includes('running') && (told.at(-1) === 'idle' || told.at(-1) === 'error')
      }
      await client.until(ends)
      return pushes.slice(from)
    },
  }
  if (ws.readyState !== WebSocket.OPEN) {
    await Promise.race([once(ws, 'open'), once(ws, 'unexpected-response').then(refused)])
  }
  return client
}

function refused([, response]: unknown[]): never {
  throw new Error(`HTTP ${(response as { statusCode: number }).statusCode}`)
}

export interface Rig extends TestEngine {
  readonly url: string
  readonly token: string
  readonly tokenFile: string
  readonly port: number
  readonly dialect: ClawdeDialect
  /** A connection that has shown the token. */
  client(params?: Json): Promise<Client>
  /** One that has not. */
  stranger(headers?: Record<string, string>): Promise<Client>
  /** A session of the demo agent. */
  session(client: Client, params?: Json): Promise<string>
}

export interface RigOptions extends TestEngineOptions {
  limits?: Partial<ClawdeLimits>
  pinTtlMs?: number
  parts?: Partial<ClawdeParts>
}

const NO_LIMITS: ClawdeLimits = {
  connectionsPerMinute: 10,
  limitLoopback: false,
  requestsPerSecond: 0,
  maxSessions: null,
}

const SAMPLE = {
  at: 60_000,
  totalBytes: 1000,
  usedBytes: 500,
  daemonBytes: 20,
  agentsBytes: 30,
  active: 1,
  warm: 2,
  cold: 3,
}

/** The whole dialect on a port of its own, with a real engine, real repositories and real processes. */
export async function rigFor(t: TestContext, options: RigOptions = {}): Promise<Rig> {
  const engine = await startEngine(options)
  const { home } = engine
  const user = join(home, 'user')
  mkdirSync(user, { recursive: true })
  const faults: unknown[] = []
  const onFault = (error: unknown): void => void faults.push(error)
  const settings = clawdeSettings({
    env: {},
    home: user,
    platform: 'linux',
    host: '127.0.0.1',
    port: 0,
    ...NO_LIMITS,
    ...options.limits,
  })
  const devices = createDeviceAccess(engine.engine, {
    now: Date.now,
    pinTtlMs: options.pinTtlMs ?? 600_000,
    warn: onFault,
  })
  const around = {
    engine: engine.engine,
    devices,
    settings,
    version: '9.9.9',
    startedAt: Date.now(),
    onFault,
  }
  const listener = createClawdeListener({ ...around, metrics: () => '', log: { info() {}, warn() {} } })
  const workspace = createWorkspace({
    env: process.env,
    home,
    problem() {},
  })
  const dialect = clawdeDialect({
    ...around,
    listener,
    workspace,
    home: user,
    dataDir: join(home, 'runs'),
    cwd: engine.cwd,
    daemonId: 'd'.repeat(64),
    providers: async () => [],
    examine: async () => [],
    newId: uuid,
    isAdvertised: () => false,
    resources: { now: async () => ({ ...SAMPLE, sessions: [] }), history: () => [SAMPLE] },
    updates: {
      check: async () => ({ state: 'unconfigured', current: '9.9.9', message: 'no feed' }),
      stage: async () => assert.fail('nothing to fetch'),
      pending: null,
    },
    ...options.parts,
  })
  workspace.onChanged(dialect.repoChanged)
  const url = await listener.start()
  const token = readFileSync(settings.tokenFile, 'utf8')
  t.after(async () => {
    await listener.stop()
    await workspace.stop()
    await engine.stop()
    if (faults.length > 0) throw new AggregateError(faults, 'faults of ours')
  })
  return {
    ...engine,
    url,
    token,
    tokenFile: settings.tokenFile,
    port: listener.port,
    dialect,
    async client(params = {}) {
      const client = await dial(t, url)
      await client.call('daemon.auth', { token, ...params })
      return client
    },
    stranger: (headers) => dial(t, url, headers),
    async session(client, params = {}) {
      const { id } = await client.call<{ id: string }>('session.create', {
        repoPath: engine.cwd,
        provider: 'demo',
        ...params,
      })
      return id
    },
  }
}
