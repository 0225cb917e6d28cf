import assert from 'node:assert/strict'
import { statSync } from 'node:fs'
import { createServer } from 'node:net'
import { once } from 'node:events'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { corral } from '../cli/support.ts'
import { until } from '../support/wait.ts'
import { ask, bearer, daemonFor, doorOf, first, nativeFor, tokenOf } from './support.ts'

/** Of the tests that only look. */
let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon({ env: { CORRAL_HTTP_BODY_LIMIT: '2048' } })
})
after(() => daemon.stop())

test('a program gets JSON', async () => {
  const { headers, body } = await ask(`${doorOf(daemon)}/`, { accept: 'application/json' })
  assert.equal(headers['content-type'], 'application/json')
  const { name, paths } = JSON.parse(body) as { name: string; paths: object }
  assert.deepEqual(
    [name, Object.keys(paths)],
    ['corral', ['/native', '/mcp', '/health', '/ready', '/metrics']],
  )
})

test('health says that it lives, and nothing else', async () => {
  assert.equal((await ask(`${doorOf(daemon)}/health`)).body, '{"status":"ok"}')
  const head = await ask(`${doorOf(daemon)}/health`, {}, 'HEAD')
  assert.deepEqual([head.status, head.body], [200, ''])
})

test('ready has every listener and the lag of the event loop, and no secret', async () => {
  const { status, body } = await ask(`${doorOf(daemon)}/ready`)
  const report = JSON.parse(body) as { status: string; listeners: object; lagMs: number }
  assert.deepEqual([status, report.status], [200, 'ready'])
  const open = ['corral', 'native', 'codecast', 'humanlayer', 'clawde', 'relay'].toSorted()
  assert.deepEqual(Object.keys(report.listeners).toSorted(), open)
  assert.deepEqual([...new Set(Object.values(report.listeners))], ['open'])
  assert.ok(report.lagMs >= 0 && report.lagMs < 60_000)
  assert.ok(!body.includes(daemon.home) && !body.includes(tokenOf(daemon)))
})

test('metrics are for Prometheus', async () => {
  const { status, headers, body } = await ask(`${doorOf(daemon)}/metrics`)
  assert.deepEqual([status, headers['content-type']], [200, 'text/plain; version=0.0.4; charset=utf-8'])
  assert.match(body, /^corral_uptime_seconds \d+$/m)
  assert.doesNotMatch(body, /clawd_/, 'ClawDE’s own counters are on its own port')
})

test('what is not there is not found, what is there has its methods, a WebSocket wants an upgrade', async () => {
  assert.equal((await ask(`${doorOf(daemon)}/nothing`)).status, 404)
  assert.equal((await ask(`${doorOf(daemon)}/health`, {}, 'POST')).status, 405)
  const native = await ask(`${doorOf(daemon)}/native`)
  assert.deepEqual([native.status, native.headers['upgrade']], [426, 'websocket'])
  const upgrade = { connection: 'upgrade', upgrade: 'websocket', 'sec-websocket-version': '13' }
  const key = { 'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==' }
  assert.equal((await ask(`${doorOf(daemon)}/elsewhere`, { ...upgrade, ...key })).status, 404)
})

test('a body beyond the limit is refused', async () => {
  const response = await fetch(`${doorOf(daemon)}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify('x'.repeat(4096)),
  })
  assert.equal(response.status, 413)
})

test('run.json, status, doctor and the native API name it', async (t) => {
  const address = doorOf(daemon)
  assert.match(address, /^http:\/\/127\.0\.0\.1:\d+$/)
  assert.match((await corral(daemon.env, ['status'])).stdout, new RegExp(`^corral +${address}$`, 'm'))
  assert.match((await corral(daemon.env, ['doctor'])).stdout, new RegExp(`ok +corral +${address}$`, 'm'))
  const { listeners } = await (await nativeFor(t, daemon)).call('daemon.status')
  assert.deepEqual(listeners[0], { name: 'corral', address })
})

test('the token is the owner’s only, and stays the same', async (t) => {
  const other = await daemonFor(t)
  const token = tokenOf(other)
  assert.match(token, /^[0-9a-f]{32}$/)
  assert.equal(statSync(join(other.corralHome, 'token')).mode & 0o777, 0o600)
  assert.equal((await corral(other.env, ['token'])).stdout, `${token}\n`)
  await other.terminate()
  await other.restart()
  assert.equal(tokenOf(other), token)
})

test('a port that somebody else has gives way to the next free one, and people are told', async (t) => {
  const { port } = new URL(doorOf(daemon))
  const second = await daemonFor(t, { CORRAL_PORT: port })
  const got = Number(new URL(doorOf(second)).port)
  assert.ok(got > Number(port))
  assert.ok(second.output().includes(`corral: port ${port} is taken, using ${got}`))
  const { stdout } = await corral(second.env, ['doctor'])
  assert.ok(stdout.includes(`${doorOf(second)}: port ${port} is taken, using ${got}`))
  assert.equal((await ask(`${doorOf(second)}/metrics`, bearer(tokenOf(daemon)))).status, 401)
})

test('a listener that cannot be opened is named, and the daemon is usable all the same', async (t) => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  t.after(() => holder.close())
  const { port } = holder.address() as { port: number }
  const other = await daemonFor(t, { CORRAL_RELAY_PORT: String(port) })
  const { status, body } = await ask(`${doorOf(other)}/ready`)
  const report = JSON.parse(body) as { status: string; listeners: Record<string, string> }
  assert.deepEqual([status, report.status], [200, 'degraded'])
  assert.deepEqual([report.listeners['relay'], report.listeners['corral']], ['closed', 'open'])
  assert.ok(!body.includes(String(port)), 'no reasons for strangers')
})

test('a daemon that stops lives, and is not ready any more', async (t) => {
  const other = await daemonFor(t, { CORRAL_STOP_GRACE_MS: '60000' })
  const client = await nativeFor(t, other)
  const { id } = await client.call('session.create', { agent: 'demo', cwd: other.project })
  await client.call('session.send', { sessionId: id, content: '[[hang]]' })
  await first(client, 'turn.accepted')
  await client.call('daemon.stop', {})
  // It answers first, and begins to stop afterwards.
  await until(async () => (await ask(`${doorOf(other)}/ready`)).status === 503, 'not ready any more')
  assert.equal(JSON.parse((await ask(`${doorOf(other)}/ready`)).body).status, 'stopping')
  assert.equal((await ask(`${doorOf(other)}/health`)).status, 200)
  await client.call('session.interrupt', { sessionId: id })
})
