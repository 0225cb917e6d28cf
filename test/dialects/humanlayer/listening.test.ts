import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { readHumanLayerSettings } from '../../../src/dialects/humanlayer/settings.ts'
import { startDaemon, type TestDaemon, type TestDaemonOptions } from '../../support/daemon.ts'
import { connectRaw, type Json } from './raw.ts'

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8')) as {
  version: string
}

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'corral-hl-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

async function daemonFor(t: TestContext, options: TestDaemonOptions = {}): Promise<TestDaemon> {
  const daemon = await startDaemon(options)
  t.after(() => daemon.stop())
  return daemon
}

async function health(t: TestContext, path: string): Promise<Json> {
  const client = await connectRaw(t, path)
  client.ask(1, 'health')
  return (await client.next())['result'] as Json
}

const mode = (path: string): string => (statSync(path).mode & 0o777).toString(8)

interface Place {
  home: string
  cwd: string
  env: NodeJS.ProcessEnv
}

function place(t: TestContext): Place {
  const root = directory(t)
  const [home, cwd] = [join(root, 'home'), join(root, 'cwd')]
  for (const path of [home, cwd]) mkdirSync(path)
  return { home, cwd, env: {} }
}

function write(path: string, content: unknown): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content))
}

test('the socket is where it is said: Corral, environment, the files in their order, the usual place', (t) => {
  const { home, cwd, env } = place(t)
  const xdg = join(home, 'xdg')
  const find = (socket: string | null = null): string =>
    readHumanLayerSettings({ env, home, cwd, socket }).socket
  assert.equal(find(), join(home, '.humanlayer', 'daemon.sock'))
  write(join(home, '.config', 'humanlayer', 'humanlayer.json'), { socket_path: '/config.sock' })
  assert.equal(find(), '/config.sock')
  env['XDG_CONFIG_HOME'] = xdg
  assert.equal(find(), '/config.sock')
  write(join(xdg, 'humanlayer', 'humanlayer.json'), { daemon_socket: '~/xdg.sock', other: 1 })
  assert.equal(find(), join(home, 'xdg.sock'))
  write(join(cwd, 'humanlayer.json'), { daemon_socket: 'cwd.sock', socket_path: '/not-this.sock' })
  assert.equal(find(), join(cwd, 'cwd.sock'))
  env['HUMANLAYER_DAEMON_SOCKET'] = '~/env.sock'
  assert.equal(find(), join(home, 'env.sock'))
  assert.equal(find('~/own.sock'), join(home, 'own.sock'))
})

test('a file that says nothing of a socket is passed over, a broken one with a warning', (t) => {
  const { home, cwd, env } = place(t)
  write(join(home, '.config', 'humanlayer', 'humanlayer.json'), { socket_path: '/config.sock' })
  for (const [content, warned] of [
    [{ api_key: 'x' }, 0],
    [{ socket_path: null }, 0],
    ['{', 1],
    ['[]', 1],
    [{ daemon_socket: 5 }, 1],
    [{ daemon_socket: '' }, 1],
  ] as const) {
    write(join(cwd, 'humanlayer.json'), content)
    const settings = readHumanLayerSettings({ env, home, cwd, socket: null })
    assert.equal(settings.socket, '/config.sock')
    assert.equal(settings.warnings.length, warned, JSON.stringify(content))
    if (warned) assert.match(settings.warnings[0]!, /humanlayer\.json cannot be used and is ignored$/)
  }
})

test('only the usual directory is HumanLayer’s own', (t) => {
  const { home, cwd, env } = place(t)
  const own = (socket: string | null): boolean =>
    readHumanLayerSettings({ env, home, cwd, socket }).privateDirectory
  assert.equal(own(null), true)
  assert.equal(own('~/.humanlayer/other.sock'), true)
  assert.equal(own('/run/user/1/daemon.sock'), false)
})

test('the daemon listens in the usual place, for its user only, and leaves no socket behind', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  mkdirSync(join(home, '.humanlayer'))
  chmodSync(join(home, '.humanlayer'), 0o755)
  const daemon = await daemonFor(t, { home })
  const socket = join(home, '.humanlayer', 'daemon.sock')
  assert.equal(daemon.listeners['humanlayer'], socket)
  assert.equal(mode(socket), '600')
  assert.equal(mode(dirname(socket)), '700')
  assert.deepEqual(await health(t, socket), { status: 'ok', version })
  assert.equal(await daemon.terminate(), 0)
  assert.equal(existsSync(socket), false)
})

test('a directory of somebody’s choosing is left as it is', async (t) => {
  const shared = directory(t)
  chmodSync(shared, 0o755)
  const socket = join(shared, 'hl.sock')
  const daemon = await daemonFor(t, { env: { CORRAL_HUMANLAYER_SOCKET: socket } })
  assert.equal(daemon.listeners['humanlayer'], socket)
  assert.equal(mode(shared), '755')
  assert.equal(mode(socket), '600')
})

test('a socket that a dead daemon left is replaced', async (t) => {
  const daemon = await daemonFor(t)
  const socket = daemon.listeners['humanlayer']!
  await daemon.kill9()
  assert.ok(existsSync(socket))
  await daemon.restart()
  assert.equal((await health(t, socket))['status'], 'ok')
})

test('a live daemon keeps its socket; the second one says so and serves the rest', async (t) => {
  const first = await daemonFor(t)
  const socket = first.listeners['humanlayer']!
  const second = await daemonFor(t, { env: { HUMANLAYER_DAEMON_SOCKET: socket } })
  assert.match(second.output(), /daemon already running/)
  assert.equal(second.listeners['humanlayer'], undefined)
  assert.ok(second.listeners['native'])
  await second.terminate()
  assert.equal((await health(t, socket))['status'], 'ok')
})

test('version, limit of a line and whether to listen at all can be chosen', async (t) => {
  const env = { HUMANLAYER_DAEMON_VERSION_OVERRIDE: '9.9.9-test', CORRAL_HUMANLAYER_LINE_LIMIT: '2048' }
  const daemon = await daemonFor(t, { env })
  const socket = daemon.listeners['humanlayer']!
  assert.equal((await health(t, socket))['version'], '9.9.9-test')
  const client = await connectRaw(t, socket)
  client.write('x'.repeat(2049))
  assert.match(JSON.stringify(await client.next()), /2048 bytes/)
  await client.ended

  const silent = await daemonFor(t, { env: { CORRAL_HUMANLAYER_ENABLED: 'false' } })
  assert.equal(silent.listeners['humanlayer'], undefined)
  assert.equal(existsSync(join(silent.home, '.humanlayer')), false)
})

test('a broken humanlayer.json is written to the log and nothing else happens', async (t) => {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  write(join(home, '.config', 'humanlayer', 'humanlayer.json'), '{ broken')
  const daemon = await daemonFor(t, { home })
  assert.equal((await health(t, daemon.listeners['humanlayer']!))['status'], 'ok')
  assert.match(readFileSync(join(daemon.corralHome, 'corral.log'), 'utf8'), /humanlayer\.json cannot be used/)
})

test('whoever listens there, it is respected', async (t) => {
  const socket = join(directory(t), 'd.sock')
  const script = `require('node:net').createServer((s) => s.end()).listen(${JSON.stringify(socket)}, () => console.log('up'))`
  const other = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'ignore'] })
  t.after(() => other.kill())
  await once(other.stdout, 'data')
  const daemon = await daemonFor(t, { env: { CORRAL_HUMANLAYER_SOCKET: socket } })
  assert.match(daemon.output(), /humanlayer is not listening: daemon already running at .*d\.sock/)
  assert.ok(existsSync(socket))
})
