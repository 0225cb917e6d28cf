import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import { WebSocket } from 'ws'
import { createClient } from '../../src/client/calls.ts'
import { NativeError } from '../../src/client/link.ts'
import type { Event } from '../../src/core/event.ts'
import { createConnection, type Status } from '../../src/client/connection.ts'
import { signIn, whoami, type Jar } from '../door/browser.ts'
import { doorOf, nativeFor, tokenOf, webSocketOf } from '../door/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/wait.ts'

/** The page's own client, over WebSockets that bring what a browser would: its cookie, and where the page is from. */
interface TestPage {
  client: ReturnType<typeof createClient>
  connection: ReturnType<typeof createConnection>
  statuses: Status[]
  /** The WebSockets that it has made, the newest last. */
  sockets: WebSocket[]
}

const real = globalThis.WebSocket

function openPage(t: TestContext, daemon: TestDaemon, jar: Jar): TestPage {
  const sockets: WebSocket[] = []
  const origin = doorOf(daemon)
  class BrowserSocket extends WebSocket {
    constructor(url: string) {
      super(url, { headers: { cookie: jar.cookie, origin } })
      this.on('error', () => {})
      sockets.push(this)
    }
  }
  globalThis.WebSocket = BrowserSocket as unknown as typeof globalThis.WebSocket
  const statuses: Status[] = []
  const connection = createConnection({
    url: webSocketOf(daemon),
    pass: () => (jar.key === '' ? null : { key: jar.key }),
    isSignedIn: async () => (await whoami(daemon, jar)).signedIn,
    tell: (status) => statuses.push(status),
  })
  const client = createClient(connection.dial, { reconnect: true, giveUpMs: Infinity })
  t.after(() => {
    client.close()
    connection.close()
    globalThis.WebSocket = real
  })
  return { client, connection, statuses, sockets }
}

let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon({ env: { CORRAL_PORT: String(await freePort()) } })
})
after(() => daemon.stop())

async function collect(stream: AsyncIterable<Event>, into: Event[]): Promise<void> {
  for await (const event of stream) into.push(event)
}

test('calls and any number of streams share one WebSocket', async (t) => {
  const { jar } = await signIn(daemon, { token: tokenOf(daemon) })
  const { client, statuses, sockets } = openPage(t, daemon, jar)
  const { id: one } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  const { id: two } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  const [ones, twos, all]: [Event[], Event[], Event[]] = [[], [], []]
  const streams = [
    client.events({ after: 0, sessionId: one }),
    client.events({ after: 0, sessionId: two }),
    client.events({ after: 0 }),
  ] as const
  void collect(streams[0], ones)
  void collect(streams[1], twos)
  void collect(streams[2], all)
  await Promise.all(streams.map(({ ready }) => ready))
  await client.call('session.send', { sessionId: one, content: '[[say first]]' })
  await client.call('session.send', { sessionId: two, content: '[[say second]]' })
  const isDone = (events: Event[], count: number): boolean =>
    events.filter(({ type }) => type === 'turn.completed').length === count
  await until(() => isDone(ones, 1) && isDone(twos, 1) && isDone(all, 2), 'both turns are over')
  assert.ok(
    ones.every(({ sessionId }) => sessionId === one) && twos.every(({ sessionId }) => sessionId === two),
  )
  assert.deepEqual([sockets.length, statuses], [1, ['live']])

  const before = all.length
  streams[2].close()
  await client.call('session.send', { sessionId: one, content: '[[say third]]' })
  await until(() => isDone(ones, 2), 'the other streams go on')
  assert.equal(all.length, before, 'a closed stream brings nothing more')
  assert.equal(sockets[0]!.readyState, WebSocket.OPEN)
})

test('a daemon that is killed and comes back is lost, then live; no event is missed or told twice', async (t) => {
  const { jar } = await signIn(daemon, { token: tokenOf(daemon) })
  const { client, statuses, sockets } = openPage(t, daemon, jar)
  const { id } = await client.call('session.create', { agent: 'demo', cwd: daemon.project })
  const events: Event[] = []
  const stream = client.events({ after: 0, sessionId: id })
  void collect(stream, events)
  await client.call('session.send', { sessionId: id, content: '[[say before]]' })
  await until(() => events.some(({ type }) => type === 'turn.completed'))
  await daemon.kill9()
  await until(() => statuses.at(-1) === 'lost', 'the page knows')
  const waiting = client.call('session.get', { sessionId: id })
  await daemon.restart()
  assert.equal((await waiting).id, id, 'a call that may be repeated waits for the daemon')
  await until(() => statuses.at(-1) === 'live')
  await client.call('session.send', { sessionId: id, content: '[[say after]]' })
  await until(() => events.filter(({ type }) => type === 'turn.completed').length === 2)
  const log = (await client.call('events.read', { sessionId: id, after: 0, whole: true })).events as Event[]
  const whole = events.filter(({ type }) => !type.endsWith('.delta'))
  assert.deepEqual(new Set(whole.map(({ seq }) => seq)).size, whole.length, 'each once')
  const missing = log.filter(({ seq }) => !events.some((event) => event.seq === seq))
  assert.deepEqual(missing, [])
  assert.deepEqual(statuses, ['live', 'lost', 'live'])
  assert.ok(sockets.length > 1)
})

test('who is put out is signed out, and nothing is tried any more', async (t) => {
  const owner = await nativeFor(t, daemon)
  const { pin } = await owner.call('device.pin')
  const { jar } = await signIn(daemon, { pin, name: 'Phone' })
  const { client, statuses, sockets } = openPage(t, daemon, jar)
  await client.call('daemon.status')
  const { device } = await whoami(daemon, jar)
  await owner.call('device.revoke', { deviceId: device!.id })
  await until(() => statuses.at(-1) === 'signed_out')
  const tried = sockets.length
  await assert.rejects(
    client.call('daemon.status'),
    (error) => error instanceof NativeError && error.code === 'unauthorized',
  )
  assert.equal(sockets.length, tried)
})

test('who has no key does not even try', async (t) => {
  const { client, statuses, sockets } = openPage(t, daemon, { cookie: '', key: '' })
  await assert.rejects(client.call('daemon.status'), NativeError)
  assert.deepEqual([statuses, sockets.length], [['signed_out'], 0])
})

test('a connection that says nothing any more is found out when somebody looks', async (t) => {
  const { jar } = await signIn(daemon, { token: tokenOf(daemon) })
  const { client, connection, statuses, sockets } = openPage(t, daemon, jar)
  await client.call('daemon.status')
  // As after a sleep: what is sent arrives nowhere, and nobody says so.
  sockets[0]!.pause()
  t.mock.timers.enable({ apis: ['setTimeout'] })
  connection.nudge()
  t.mock.timers.tick(8000)
  t.mock.timers.reset()
  assert.equal(sockets[0]!.readyState, WebSocket.CLOSING, 'it is given up before the system says so')
  await until(() => statuses.length === 3)
  assert.deepEqual(statuses, ['live', 'lost', 'live'])
})
