import { createConnection, type Socket } from 'node:net'
import { once } from 'node:events'
import type { TestContext } from 'node:test'
import type { Event, EventType } from '../../../src/core/event.ts'
import {
  connect,
  type ClientOptions,
  type EventStream,
  type NativeClient,
} from '../../../src/dialects/native/client.ts'
import type { SessionView } from '../../../src/dialects/native/wire.ts'
import { createLineSplitter } from '../../../src/transports/ndjson.ts'
import { startDaemon, type TestDaemon, type TestDaemonOptions } from '../../support/daemon.ts'

const WAIT_MS = 30_000

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
export async function until(stream: EventStream, type: EventType): Promise<Event[]> {
  const timer = setTimeout(() => stream.close(), WAIT_MS)
  const events: Event[] = []
  try {
    for await (const event of stream) {
      events.push(event)
      if (event.type === type) return events
    }
  } finally {
    clearTimeout(timer)
  }
  throw new Error(`no ${type} among ${events.map((event) => event.type).join(', ')}`)
}

/** Sends and waits until the turn has completed. */
export async function turn(client: NativeClient, sessionId: string, content: string): Promise<Event[]> {
  const sent = await client.call('session.send', { sessionId, content })
  const stream = client.events({ after: sent.seq - 1, log: sent.log, sessionId })
  return until(stream, 'turn.completed')
}

/** A connection without a client: lines as they are. */
export interface Raw {
  socket: Socket
  send(line: string): void
  next(): Promise<Record<string, unknown>>
}

export async function rawFor(t: TestContext, daemon: TestDaemon): Promise<Raw> {
  const socket = createConnection(daemon.socket)
  t.after(() => socket.destroy())
  await once(socket, 'connect')
  const lines: Record<string, unknown>[] = []
  let wake = (): void => {}
  const splitter = createLineSplitter({
    onLine(line) {
      lines.push(JSON.parse(line.toString()) as Record<string, unknown>)
      wake()
    },
  })
  socket.on('data', (chunk: Buffer) => splitter.push(chunk))
  socket.on('close', () => wake())
  return {
    socket,
    send: (line) => void socket.write(`${line}\n`),
    async next() {
      while (lines.length === 0) {
        if (socket.destroyed) throw new Error('the connection is closed')
        await new Promise<void>((resolve) => (wake = resolve))
      }
      return lines.shift()!
    },
  }
}
