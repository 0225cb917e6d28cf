import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { promisify } from 'node:util'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { freePort } from '../../support/free-port.ts'
import { dial, type Client, type Json } from './support.ts'
import { until } from '../../support/wait.ts'

const run = promisify(execFile)
const CLIENT = join(import.meta.dirname, 'client.py')

async function daemonFor(t: TestContext, env: NodeJS.ProcessEnv = {}): Promise<TestDaemon> {
  const daemon = await startDaemon({ env: { CORRAL_CLAWDE_PORT: String(await freePort()), ...env } })
  t.after(() => daemon.stop())
  return daemon
}

const urlOf = (daemon: TestDaemon): string => daemon.listeners['clawde']!
const tokenOf = (daemon: TestDaemon): string =>
  readFileSync(join(daemon.home, '.local/share/clawd/auth_token'), 'utf8')

async function clientOf(t: TestContext, daemon: TestDaemon, token = tokenOf(daemon)): Promise<Client> {
  const client = await dial(t, urlOf(daemon))
  await client.call('daemon.auth', { token })
  return client
}

/** The first Python that has the module: the one on the PATH need not be the system's. */
async function pythonWithWebsockets(): Promise<string | null> {
  for (const python of ['python3', '/usr/bin/python3']) {
    const found = await run(python, ['-c', 'import websockets']).catch(() => null)
    if (found) return python
  }
  return null
}

test('the minimal Python client of the protocol’s reference, as it stands there', async (t) => {
  const python = await pythonWithWebsockets()
  if (python === null) return t.skip('python3 with the module websockets is not installed here')
  const isTaken = await fetch('http://127.0.0.1:4300/health').then(
    () => true,
    () => false,
  )
  if (isTaken) return t.skip('somebody else listens on port 4300, the only one that this client knows')
  const daemon = await daemonFor(t, { CORRAL_CLAWDE_PORT: '4300' })
  if (!daemon.listeners['clawde']) return t.skip('somebody else was faster to take port 4300')
  const { stdout } = await run(python, [CLIENT], {
    env: { PATH: process.env['PATH'], PYTHONPATH: process.env['PYTHONPATH'], HOME: daemon.home },
  })
  const [first, ...rest] = stdout.split('\n')
  assert.equal(first, 'Authenticated.')
  const status = JSON.parse(rest.join('\n')) as Json
  assert.equal(status['port'], 4300)
  assert.equal(status['activeSessions'], 0)
  assert.equal(typeof status['uptimeSecs'], 'number')
})

test('the whole daemon: status, doctor, providers, resources, a turn', async (t) => {
  const daemon = await daemonFor(t)
  const client = await clientOf(t, daemon)
  assert.match(String((await client.call('daemon.status'))['daemonId']), /^[0-9a-f]{64}$/)
  const { checks } = await client.call<{ checks: Json[] }>('daemon.doctor')
  assert.equal(checks.length, 8)
  for (const name of ['data_dir', 'auth_token', 'sqlite', 'port']) {
    assert.equal(checks.find((check) => check['name'] === name)?.['status'], 'ok', name)
  }
  assert.equal((await client.call('daemon.checkProvider', { provider: 'demo' }))['available'], true)
  const resources = await client.call<{ ram: Json; sessions: Json }>('system.resources')
  assert.ok((resources.ram['daemonBytes'] as number) > 10 * 1024 ** 2)
  assert.ok((resources.ram['totalBytes'] as number) > (resources.ram['usedBytes'] as number))
  assert.equal(
    (await client.call<{ history: unknown[] }>('system.resourceHistory', { limit: 5 })).history.length,
    0,
  )
  const made = await client.call('session.create', { repoPath: daemon.project, provider: 'demo' })
  const pushes = await client.turn(made['id'] as string, '[[say hello]]')
  assert.ok(pushes.some(({ params }) => params['content'] === 'hello'))
  const warm = await client.call<{ sessions: Json }>('system.resources')
  assert.equal(warm.sessions['warm'], 1)
  const metrics = await (await fetch(`${urlOf(daemon).replace('ws', 'http')}/metrics`)).text()
  for (const line of ['clawd_messages_sent_total 1', 'corral_turns_total{outcome="completed"} 1']) {
    assert.ok(metrics.split('\n').includes(line), line)
  }
})

test('a session, its place in the log and its context survive the daemon', async (t) => {
  const daemon = await daemonFor(t)
  const client = await clientOf(t, daemon)
  const { id: sessionId } = await client.call('session.create', {
    repoPath: daemon.project,
    provider: 'demo',
  })
  await client.turn(sessionId as string, '[[remember green]] [[say noted]]')
  const seq = client.pushes.at(-1)!.params['seq']
  await client.call('session.sendMessage', { sessionId, content: '[[drip 20 100]]' })
  await client.push('session.messageUpdated', ({ content }) => String(content).startsWith('w1 w2'))
  await daemon.kill9()
  await daemon.restart()
  const again = await clientOf(t, daemon)
  await again.call('events.subscribe', { after: seq, sessions: [sessionId] })
  const done = await again.push('session.messageUpdated', ({ status }) => status === 'done')
  assert.match(String(done['content']), /^w1 .* w20$/)
  await again.until(() => again.pushes.at(-1)?.params['status'] === 'idle')
  const pushes = await again.turn(sessionId as string, '[[recall]]')
  assert.ok(pushes.some(({ params }) => params['content'] === 'recall: green'))
})

test('two daemons: a device of the one is nobody at the other, and put out at once', async (t) => {
  const [home, office] = [await daemonFor(t), await daemonFor(t)]
  const [owner, other] = [await clientOf(t, home), await clientOf(t, office)]
  const { pin } = await owner.call('daemon.pairPin')
  const stranger = await dial(t, urlOf(office))
  assert.equal((await stranger.refusal('device.pair', { pin, name: 'Phone', platform: 'ios' })).code, -32021)
  const phone = await dial(t, urlOf(home))
  const paired = await phone.call('device.pair', { pin, name: 'Phone', platform: 'ios' })
  const token = paired['deviceToken'] as string
  await phone.call('daemon.auth', { token })
  const { id } = await phone.call('session.create', { repoPath: home.project, provider: 'demo' })
  await phone.turn(id as string, '[[say from afar]]')
  await assert.rejects(clientOf(t, office, token), { code: -32004 })
  assert.equal((await phone.refusal('daemon.pairPin')).code, -32004)
  assert.deepEqual(await other.call('device.list'), [])

  // The token outlives the daemon, and is not to be read out of its files.
  await home.terminate()
  await home.restart()
  const back = await clientOf(t, home, token)
  for (const file of ['corral.db', 'corral.db-wal']) {
    const bytes = await import('node:fs').then(({ readFileSync: read, existsSync }) =>
      existsSync(join(home.corralHome, file)) ? read(join(home.corralHome, file)) : Buffer.alloc(0),
    )
    assert.ok(!bytes.includes(token), file)
  }
  const boss = await clientOf(t, home)
  const door = home.listeners['corral']!.replace('http', 'ws')
  const native = await dial(t, `${door}/native`, { authorization: `Bearer ${token}` })
  assert.equal((await native.refusal('daemon.stop')).data['code'], 'forbidden')
  assert.equal((await native.refusal('device.pin', {})).data['code'], 'forbidden')
  assert.equal((await native.refusal('daemon.setName', { name: 'x' })).data['code'], 'forbidden')
  await boss.call('device.revoke', { id: paired['deviceId'] })
  assert.equal(await back.closed, 1008)
  assert.equal(await native.closed, 1008)
  await assert.rejects(clientOf(t, home, token), { code: -32004 })
})

test('the token is where ClawDE’s clients look for it', async (t) => {
  const daemon = await daemonFor(t, { XDG_DATA_HOME: '/nowhere', CLAWD_DATA_DIR: 'elsewhere' })
  assert.match(readFileSync(join(daemon.home, 'elsewhere/auth_token'), 'utf8'), /^[0-9a-f]{32}$/)
  assert.ok(!existsSync(join(daemon.home, '.local/share/clawd')))
})

test('a taken port is a warning, and everything else works', async (t) => {
  const first = await daemonFor(t)
  const { port } = new URL(urlOf(first))
  const second = await daemonFor(t, { CORRAL_CLAWDE_PORT: port })
  await until(() => /warning: clawde is not listening: .*EADDRINUSE/.test(second.output()), 'the warning')
  assert.ok(second.listeners['native'] && second.listeners['corral'])
  assert.equal(second.listeners['clawde'], undefined)
})
