import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, DaemonUnreachable, NativeError } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { knock, open } from '../../transports/websocket-support.ts'
import { until } from '../../support/wait.ts'
import { daemonFor, demoSession, overWebSocket, tokenOf, turn, webSocketOf } from './support.ts'

/** Of the tests that neither stop it nor want it otherwise. */
let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

const request = (id: number, method: string, params: object = {}): string =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params })

const isUnauthorized = (error: unknown): boolean =>
  error instanceof NativeError && error.code === 'unauthorized'

test('without the token nothing is told, not even what there is', async (t) => {
  const url = webSocketOf(daemon)
  await assert.rejects(connect(url, { token: '0'.repeat(32) }), isUnauthorized)
  const client = await connect(url)
  t.after(() => client.close())
  await assert.rejects(client.call('daemon.status'), isUnauthorized)
  assert.equal(await knock(url, { origin: 'https://evil.example' }), 403)
  assert.equal(await knock(url, { host: 'evil.example' }), 403)
})

test('a thousand wrong tokens do no harm', async (t) => {
  const url = webSocketOf(daemon)
  for (let round = 0; round < 20; round++) {
    const wrong = (index: number) => ({ token: `${round}${index}`.padStart(32, '0') })
    const tries = Array.from({ length: 50 }, async (_, index) => {
      if (index % 2 === 0) return assert.rejects(connect(url, wrong(index)), isUnauthorized)
      const client = await open(t, url)
      client.ws.send(request(1, 'daemon.auth', wrong(index)))
      assert.equal(await client.closed, 1008)
    })
    await Promise.all(tries)
  }
  const client = await overWebSocket.clientFor(t, daemon)
  assert.equal((await client.call('daemon.status')).pid, daemon.pid)
})

test('the token may be said twice', async (t) => {
  const client = await overWebSocket.clientFor(t, daemon)
  assert.deepEqual(await client.call('daemon.auth', { token: tokenOf(daemon) }), { authenticated: true })
})

test('a device sets rules for a directory only if it may manage', async (t) => {
  const owner = await overWebSocket.clientFor(t, daemon)
  const deviceWith = async (scopes: ('use' | 'manage')[]) => {
    const { pin } = await owner.call('device.pin', { scopes })
    const { token } = await owner.call('device.pair', { pin, name: scopes.join(), platform: 'ios' })
    const client = await connect(webSocketOf(daemon), { token })
    t.after(() => client.close())
    return client
  }
  const phone = await deviceWith(['use'])
  const isForbidden = (error: unknown) => error instanceof NativeError && error.code === 'forbidden'
  const everything = { path: '/', rules: { skipUntil: 8e15 } }
  await assert.rejects(phone.call('directory.configure', everything), isForbidden)
  const cwd = daemon.project
  const { id: sessionId } = await phone.call('session.create', { agent: 'demo', cwd, mode: 'ask' })
  const asked = await phone.call('approval.request', { sessionId, tool: 'Bash', input: { command: 'x' } })
  assert.deepEqual(asked.about, { class: 'shell', subjects: ['x'] })
  const yes = { approvalId: asked.id, behavior: 'allow', forDirectory: true } as const
  await assert.rejects(phone.call('approval.decide', yes), isForbidden)
  assert.equal((await phone.call('approval.get', { approvalId: asked.id })).decision, null)
  assert.deepEqual((await owner.call('directory.list')).directories, [])
  const tablet = await deviceWith(['use', 'manage'])
  await tablet.call('approval.decide', yes)
  assert.deepEqual(
    (await owner.call('directory.list')).directories.map(({ rules }) => rules.allow),
    [['Bash(x)']],
  )
})

test('clients of both transports see the same session', async (t) => {
  const near = await connect(daemon.socket)
  t.after(() => near.close())
  const far = await overWebSocket.clientFor(t, daemon)
  const { id } = await demoSession(near, daemon)
  const seen = await turn(far, id, '[[burst 3000 100]]')
  assert.deepEqual(
    await far.call('session.get', { sessionId: id }),
    await near.call('session.get', { sessionId: id }),
  )
  const whole = { after: 0, sessionId: id, whole: true, limit: 1000 }
  assert.deepEqual(await far.call('events.read', whole), await near.call('events.read', whole))
  assert.equal(seen.at(-1)?.type, 'turn.completed')
})

test('answers come in the order in which they are ready, each with its id', async (t) => {
  const authorization = `Bearer ${tokenOf(daemon)}`
  const client = await open(t, webSocketOf(daemon), { headers: { authorization } })
  for (let id = 1; id <= 500; id++)
    client.ws.send(request(id, 'events.unsubscribe', { subscriptionId: 's0' }))
  const ids = (await client.got(500)).map((text) => (JSON.parse(text) as { id: number }).id)
  assert.deepEqual(
    ids,
    Array.from({ length: 500 }, (_, index) => index + 1),
  )
})

test('a client that stops reading falls behind alone, and is told everything when it reads on', async (t) => {
  const authorization = `Bearer ${tokenOf(daemon)}`
  const slow = await open(t, webSocketOf(daemon), { headers: { authorization } })
  const client = await overWebSocket.clientFor(t, daemon)
  const { id: sessionId } = await demoSession(client, daemon)
  slow.ws.send(request(1, 'events.subscribe', { sessionId }))
  await slow.got(1)
  slow.ws.pause()
  await turn(client, sessionId, '[[burst 20000 500]]')
  slow.ws.resume()
  const isEnd = (text: string): boolean => text.includes('"type":"turn.completed"')
  await until(() => slow.messages.some(isEnd), 'the end of the turn')
  // Deltas leave the log with their message: who got all of them had them kept in memory meanwhile.
  const seqs = slow.messages.slice(1).flatMap((text) => {
    const { params } = JSON.parse(text) as { params: { events: { seq: number }[] } }
    return params.events.map(({ seq }) => seq)
  })
  assert.deepEqual(
    seqs,
    [...new Set(seqs)].toSorted((a, b) => a - b),
  )
  assert.ok(seqs.length < 15_000, `${seqs.length} events`)
})

test('a daemon that stops says so: 1001', async (t) => {
  const daemon = await daemonFor(t)
  const authorization = `Bearer ${tokenOf(daemon)}`
  const known = await open(t, webSocketOf(daemon), { headers: { authorization } })
  const stranger = await open(t, webSocketOf(daemon))
  assert.equal(await daemon.terminate(), 0)
  assert.deepEqual([await known.closed, await stranger.closed], [1001, 1001])
  await assert.rejects(connect(webSocketOf(daemon), { token: 'x' }), DaemonUnreachable)
})

test('an address that others reach is served with TLS only', async (t) => {
  const address = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .find((one) => !one.internal && one.family === 'IPv4')?.address
  if (address === undefined) return t.skip('this machine has no other address')
  const daemon = await daemonFor(t, { env: { CORRAL_HTTP_BIND: '0.0.0.0' } })
  const { port } = new URL(webSocketOf(daemon))
  assert.match(webSocketOf(daemon), /^wss:/)
  const ca = readFileSync(join(daemon.corralHome, 'tls-cert.pem'), 'utf8')
  const token = tokenOf(daemon)
  await assert.rejects(connect(`ws://${address}:${port}/native`, { token }), DaemonUnreachable)
  await assert.rejects(connect(`wss://${address}:${port}/native`, { token }), DaemonUnreachable)
  await assert.rejects(connect(`wss://${address}:${port}/native`, { token: 'wrong', ca }), isUnauthorized)
  const client = await connect(`wss://${address}:${port}/native`, { token, ca })
  t.after(() => client.close())
  const { id } = await demoSession(client, daemon)
  assert.equal((await turn(client, id, '[[burst 2000 100]]')).at(-1)?.type, 'turn.completed')
})
