import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { after, before, test, type TestContext } from 'node:test'
import { connect, NativeError } from '../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { knock, open } from '../transports/websocket-support.ts'
import { corral } from '../cli/support.ts'
import {
  ask,
  askHuman,
  bearer,
  daemonFor,
  doorOf,
  first,
  nativeFor,
  tokenOf,
  webSocketOf,
} from './support.ts'

/** Of the tests that leave its token alone. */
let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})
after(() => daemon.stop())

const PATHS = ['/', '/health', '/ready', '/metrics', '/mcp']
const isUnauthorized = (error: unknown): boolean =>
  error instanceof NativeError && error.code === 'unauthorized'

test('a web page of somebody else, or one whose name was bound to this machine, gets nothing', async () => {
  const token = tokenOf(daemon)
  const { port } = new URL(doorOf(daemon))
  const attacks = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: `http://localhost.evil.example:${port}` },
    { host: 'evil.example' },
    { host: `evil.example:${port}` },
    { host: `127.0.0.1.evil.example:${port}` },
    { host: `evil.example:${port}`, origin: `http://evil.example:${port}` },
  ]
  for (const attack of attacks) {
    for (const path of PATHS) {
      const { status } = await ask(`${doorOf(daemon)}${path}`, { ...attack, ...bearer(token) })
      assert.equal(status, 403, `${path} ${JSON.stringify(attack)}`)
    }
    assert.equal(await knock(webSocketOf(daemon), { ...attack, ...bearer(token) }), 403)
  }
  assert.equal((await ask(`${doorOf(daemon)}/health`, { origin: 'http://localhost:3000' })).status, 200)
})

test('whoever shows a token shows a valid one, and what a proxy brings needs one', async () => {
  for (const path of ['/metrics', '/mcp']) {
    const url = `${doorOf(daemon)}${path}`
    for (const wrong of ['x', '0'.repeat(32), tokenOf(daemon).slice(1)]) {
      assert.equal((await ask(url, bearer(wrong))).status, 401, path)
    }
    for (const name of ['x-forwarded-for', 'forwarded', 'via', 'x-real-ip']) {
      const { status, headers } = await ask(url, { [name]: '192.0.2.7' })
      assert.deepEqual([status, headers['www-authenticate']], [401, 'Bearer'], `${path} ${name}`)
      assert.notEqual((await ask(url, { [name]: '192.0.2.7', ...bearer(tokenOf(daemon)) })).status, 401)
    }
  }
})

/** Node becomes the other user only once it runs: where it is may be open to nobody but its owner. */
const AS_NOBODY = `
  process.setgroups([]); process.setgid(65534); process.setuid(65534)
  const [url, authorization] = process.argv.slice(1)
  fetch(url, { headers: authorization ? { authorization } : {} }).then((r) => console.log(r.status))`

async function asNobody(url: string, authorization = ''): Promise<string> {
  const child = spawn(process.execPath, ['-e', AS_NOBODY, url, authorization], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  return (await child.stdout.setEncoding('utf8').toArray()).join('').trim()
}

const root = process.getuid?.() === 0 && process.platform === 'linux'
test('another user of the machine needs the token', { skip: !root && 'takes root, on Linux' }, async () => {
  for (const path of ['/metrics', '/mcp'])
    assert.equal(await asNobody(`${doorOf(daemon)}${path}`), '403', path)
  assert.equal(await asNobody(`${doorOf(daemon)}/metrics`, `Bearer ${tokenOf(daemon)}`), '200')
  assert.equal(await asNobody(`${doorOf(daemon)}/health`), '200')
})

test('a new token holds at once, and whoever came in with the old one is disconnected', async (t) => {
  const own = await daemonFor(t)
  const [old, near] = [tokenOf(own), await nativeFor(t, own)]
  const byHeader = await open(t, webSocketOf(own), { headers: bearer(old) })
  const byMessage = await open(t, webSocketOf(own))
  byMessage.ws.send(JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'daemon.auth', params: { token: old } }))
  await byMessage.got(1)
  const asked = await askHuman(own, bearer(old))
  const stream = asked.text().then(
    () => 'ended',
    () => 'cut off',
  )
  await first(near, 'approval.requested')

  const { stdout } = await corral(own.env, ['token', '--new'])
  assert.notEqual(stdout.trim(), old)
  assert.deepEqual([await byHeader.closed, await byMessage.closed], [1008, 1008])
  assert.equal(await stream, 'cut off')
  assert.equal((await first(near, 'approval.resolved')).decision.behavior, 'cancelled')
  await assert.rejects(connect(webSocketOf(own), { token: old }), isUnauthorized)
  assert.equal((await ask(`${doorOf(own)}/metrics`, bearer(old))).status, 401)
  const again = await nativeFor(t, own, tokenOf(own))
  assert.equal((await again.call('daemon.status')).pid, own.pid)
  assert.equal((await ask(`${doorOf(own)}/metrics`, bearer(tokenOf(own)))).status, 200)
})

/** Somebody who has nothing but a PIN. */
async function pair(t: TestContext, pin: string): Promise<{ id: string; token: string }> {
  const stranger = await open(t, webSocketOf(daemon))
  const call = {
    jsonrpc: '2.0',
    id: 1,
    method: 'device.pair',
    params: { pin, name: 'Phone', platform: 'ios' },
  }
  stranger.ws.send(JSON.stringify(call))
  const [answer] = await stranger.got(1)
  const { result } = JSON.parse(answer!) as { result: { device: { id: string }; token: string } }
  return { id: result.device.id, token: result.token }
}

test('a device gets a token for a PIN here, uses it everywhere, and loses all when it is put out', async (t) => {
  const owner = await nativeFor(t, daemon)
  const { pin, native } = await owner.call('device.pin')
  assert.equal(native, webSocketOf(daemon))
  const { id, token } = await pair(t, pin)
  const phone = await open(t, webSocketOf(daemon), { headers: bearer(token) })
  assert.equal((await ask(`${doorOf(daemon)}/metrics`, bearer(token))).status, 200)
  const asked = await askHuman(daemon, bearer(token))
  const stream = asked.text().catch(() => 'cut off')
  await owner.call('device.revoke', { deviceId: id })
  assert.equal(await phone.closed, 1008)
  assert.equal(await stream, 'cut off')
  assert.equal((await ask(`${doorOf(daemon)}/metrics`, bearer(token))).status, 401)
  await assert.rejects(connect(webSocketOf(daemon), { token }), isUnauthorized)
})

test('a stranger may pair and nothing else, and is told what is wrong', async (t) => {
  const stranger = await open(t, webSocketOf(daemon))
  const say = (id: number, method: string, params: object): void =>
    stranger.ws.send(JSON.stringify({ jsonrpc: '2.0', id, method, params }))
  say(1, 'device.pair', { pin: '000000', name: 'x' })
  say(2, 'device.pair', { name: 'x' })
  say(3, 'device.list', {})
  const codes = (await stranger.got(3)).map((line) => {
    const { error } = JSON.parse(line) as { error: { data: { code: string } } }
    return error.data.code
  })
  assert.deepEqual(codes, ['pin_invalid', 'invalid', 'unauthorized'])
  assert.equal(await stranger.closed, 1008)
})
