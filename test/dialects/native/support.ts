import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createConnection } from 'node:net'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { WebSocket } from 'ws'
import type { Event, EventType } from '../../../src/core/event.ts'
import {
  connect,
  NativeError,
  type ClientOptions,
  type EventStream,
  type NativeClient,
} from '../../../src/client/client.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { createLineSplitter } from '../../../src/transports/ndjson.ts'
import { startDaemon, type TestDaemon, type TestDaemonOptions } from '../../support/daemon.ts'
import { freePort } from '../../support/free-port.ts'
import { arrival } from '../../support/wait.ts'

export async function daemonFor(t: TestContext, options?: TestDaemonOptions): Promise<TestDaemon> {
  const daemon = await startDaemon(options)
  t.after(() => daemon.stop())
  return daemon
}

export async function clientFor(
  t: TestContext,
  daemon: TestDaemon,
  options?: ClientOptions,
): Promise<NativeClient> {
  const client = await connect(daemon.socket, options)
  t.after(() => client.close())
  return client
}

export function demoSession(client: NativeClient, daemon: TestDaemon, mode: SessionView['mode'] = 'auto') {
  return client.call('session.create', { agent: 'demo', cwd: daemon.project, mode })
}

/** Events up to and with the first of this type. */
export function readTo(stream: EventStream, type: EventType): Promise<Event[]> {
  const events: Event[] = []
  const what = (): string => `${type} after ${events.map((event) => event.type).join(', ')}`
  async function read(): Promise<Event[]> {
    for await (const event of stream) {
      events.push(event)
      if (event.type === type) return events
    }
    throw new Error(`the events have ended without ${what()}`)
  }
  return arrival(read(), what)
}

/** Sends and waits until the turn has completed. */
export async function turn(client: NativeClient, sessionId: string, content: string): Promise<Event[]> {
  const sent = await client.call('session.send', { sessionId, content })
  const stream = client.events({ after: sent.seq - 1, log: sent.log, sessionId })
  return readTo(stream, 'turn.completed')
}

/** A connection without a client: lines as they are. */
export interface Raw {
  send(line: string): void
  next(): Promise<Record<string, unknown>>
  /** Nothing is read any more, until `resume`. */
  pause(): void
  resume(): void
}

export async function rawFor(t: TestContext, daemon: TestDaemon): Promise<Raw> {
  const socket = createConnection(daemon.socket)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const inbox = createInbox()
  const splitter = createLineSplitter({ onLine: (line) => inbox.add(line.toString()) })
  socket.on('data', (chunk: Buffer) => splitter.push(chunk))
  socket.on('close', inbox.end)
  return {
    send: (line) => void socket.write(`${line}\n`),
    next: inbox.next,
    pause: () => void socket.pause(),
    resume: () => void socket.resume(),
  }
}

function createInbox() {
  const lines: Record<string, unknown>[] = []
  let ended = false
  let wake = (): void => {}
  return {
    add(line: string): void {
      lines.push(JSON.parse(line) as Record<string, unknown>)
      wake()
    },
    end(): void {
      ended = true
      wake()
    },
    async next(): Promise<Record<string, unknown>> {
      while (lines.length === 0) {
        if (ended) throw new Error('the connection is closed')
        await new Promise<void>((resolve) => (wake = resolve))
      }
      return lines.shift()!
    },
  }
}

/** The ways to the daemon that a test may go. */
export interface Over {
  startDaemon(): Promise<TestDaemon>
  clientFor(t: TestContext, daemon: TestDaemon, options?: ClientOptions): Promise<NativeClient>
  rawFor(t: TestContext, daemon: TestDaemon): Promise<Raw>
}

export const overSocket: Over = { startDaemon, clientFor, rawFor }

export const overWebSocket: Over = {
  /** Its port stays the same when it is started again. */
  async startDaemon() {
    return startDaemon({ env: { CORRAL_PORT: String(await freePort()) } })
  },
  async clientFor(t, daemon, options = {}) {
    const client = await connect(webSocketOf(daemon), { token: tokenOf(daemon), ...options })
    t.after(() => client.close())
    return client
  },
  async rawFor(t, daemon) {
    const ws = new WebSocket(webSocketOf(daemon))
    t.after(() => ws.terminate())
    const inbox = createInbox()
    ws.on('message', (data: Buffer) => inbox.add(data.toString()))
    ws.on('close', inbox.end)
    await once(ws, 'open')
    const auth = { jsonrpc: '2.0', id: 0, method: 'daemon.auth', params: { token: tokenOf(daemon) } }
    ws.send(JSON.stringify(auth))
    assert.deepEqual((await inbox.next())['result'], { authenticated: true })
    return {
      send: (line) => ws.send(line),
      next: inbox.next,
      pause: () => ws.pause(),
      resume: () => ws.resume(),
    }
  },
}

export function webSocketOf(daemon: TestDaemon): string {
  return `${daemon.listeners['corral']!.replace('http', 'ws')}/native`
}

export function tokenOf(daemon: TestDaemon): string {
  return readFileSync(join(daemon.corralHome, 'token'), 'utf8')
}

/** The error that it must end with. */
export async function refusal(work: Promise<unknown>): Promise<NativeError> {
  return work.then(
    () => assert.fail('expected to be refused'),
    (error: unknown) => {
      assert.ok(error instanceof NativeError, String(error))
      return error
    },
  )
}
