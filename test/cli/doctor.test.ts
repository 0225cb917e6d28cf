import assert from 'node:assert/strict'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import type { Check } from '../../src/doctor/check.ts'
import { startDaemon } from '../support/daemon.ts'
import { corral, daemonFor } from './support.ts'

interface Patient {
  env: NodeJS.ProcessEnv
  /** The user's home, and Corral's in it. */
  home: string
  corralHome: string
}

/** A user who has nothing yet; on their PATH are only programs of the system, without any agent. */
function newUser(t: TestContext, env: NodeJS.ProcessEnv = {}): Patient {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'corral-doctor-')))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  const bin = join(home, 'bin')
  mkdirSync(bin)
  for (const [name, target] of Object.entries({ sh: '/bin/sh', mkfifo: '/usr/bin/mkfifo' })) {
    symlinkSync(target, join(bin, name))
  }
  program(bin, 'git', 'echo git version 2.39.5')
  const corralHome = join(home, '.corral')
  return { env: { HOME: home, PATH: bin, LANG: 'C.UTF-8', ...env }, home, corralHome }
}

function program(directory: string, name: string, script: string): string {
  const path = join(directory, name)
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  return path
}

interface Examined {
  code: number | null
  status: string
  checks: Check[]
  /** `status: message` of the check of this name. */
  of(name: string): string
}

async function examined(env: NodeJS.ProcessEnv, ...args: string[]): Promise<Examined> {
  const { code, stdout, stderr, json } = await corral(env, ['doctor', '--json', ...args])
  assert.equal(stderr, '')
  const [told] = json<{ status: string; checks: Check[] }>()
  assert.ok(told, stdout)
  for (const { status, message, fix } of told.checks) {
    if (status === 'warn' || status === 'error') assert.ok(fix, `no way out of: ${message}`)
  }
  return {
    code,
    ...told,
    of(name) {
      const check = told.checks.find((one) => one.name === name)
      return check ? `${check.status}: ${check.message}` : 'none'
    },
  }
}

test('a new user is told what is not there yet, and nothing is made', async (t) => {
  const { env, home, corralHome } = newUser(t)
  const { code, status, of } = await examined(env)
  assert.deepEqual([code, status], [1, 'error'])
  assert.match(of('data_dir'), /^skipped: .*\.corral is not there yet/)
  assert.equal(of('sqlite'), 'skipped: no log yet')
  assert.equal(of('daemon'), 'skipped: not running')
  assert.match(of('config'), /^ok: no .*config\.yaml/)
  assert.match(of('git'), /^ok: 2\.39\.5/)
  assert.match(of('agent_claude'), /^skipped: Claude Code is not installed: npm install/)
  assert.equal(of('agents'), 'error: no agent but demo can be used')
  assert.deepEqual(readdirSync(home), ['bin'])
  assert.equal(statSync(corralHome, { throwIfNoEntry: false }), undefined)
})

test('people get a line for each, with what to do below', async (t) => {
  const { env } = newUser(t)
  const { code, stdout } = await corral(env, ['doctor'])
  assert.equal(code, 1)
  assert.match(stdout, /^This machine\n {2}ok {5}node +Node \d+/)
  assert.match(stdout, /\n {2}- {6}daemon +not running\n +-> start it: corral start --detach\n/)
  assert.match(stdout, /\n {2}ERROR {2}agents +no agent but demo can be used\n +-> install one/)
  assert.match(stdout, /\n1 error\.\n$/)
})

test('with one agent that is signed in to all is well', async (t) => {
  const { env } = newUser(t, { ANTHROPIC_API_KEY: 'sk-secret' })
  program(env['PATH']!, 'claude', 'echo "2.1.325 (Claude Code)"')
  const { code, status, checks, of } = await examined(env)
  assert.deepEqual([code, status], [0, 'ok'])
  assert.match(of('agent_claude'), /^ok: 2\.1\.325, signed in, .*\/bin\/claude$/)
  assert.equal(of('agents'), 'none')
  assert.ok(!JSON.stringify(checks).includes('sk-secret'))
})

test('an agent that nobody has signed in to, or that does not run, is a warning', async (t) => {
  const { env } = newUser(t)
  program(env['PATH']!, 'claude', 'echo "2.1.325 (Claude Code)"')
  const codex = program(env['PATH']!, 'codex', 'echo no such library >&2; exit 127')
  const { code, status, checks, of } = await examined(env)
  assert.deepEqual([code, status], [0, 'warn'])
  assert.match(of('agent_claude'), /^warn: 2\.1\.325, nobody has signed in/)
  assert.match(checks.find(({ name }) => name === 'agent_claude')!.fix!, /ANTHROPIC_API_KEY/)
  assert.ok(of('agent_codex').startsWith(`warn: ${codex} does not run (no such library)`))
})

test("an agent of the user's own that is not there is missed", async (t) => {
  const { env, corralHome } = newUser(t)
  mkdirSync(corralHome, { mode: 0o700 })
  writeFileSync(join(corralHome, 'config.yaml'), 'agents: { goose: { command: goose, title: Goose } }\n')
  const missing = await examined(env)
  assert.match(missing.of('agent_goose'), /^warn: Goose is not installed/)
  assert.match(missing.of('config'), /with agents of your own: goose/)
  program(env['PATH']!, 'goose', 'exit 1')
  const there = await examined(env)
  assert.match(there.of('agent_goose'), /^ok: whether somebody has signed in cannot be told, /)
  assert.deepEqual([there.code, there.of('agents')], [0, 'none'])
})

test('with a daemon, its listeners and its view of the agents are shown', async (t) => {
  const { env } = newUser(t)
  program(env['PATH']!, 'claude', 'echo "2.1.325 (Claude Code)"')
  const daemon = await startDaemon({ env: { PATH: env['PATH'], ANTHROPIC_API_KEY: 'sk-secret' } })
  t.after(() => daemon.stop())
  const { code, status, of, checks } = await examined({ ...env, CORRAL_HOME: daemon.corralHome })
  assert.deepEqual([code, status], [0, 'ok'])
  assert.equal(of('daemon'), `ok: running, pid ${daemon.pid}, answers on ${daemon.socket}`)
  assert.match(of('version'), /^ok: .*the same as this command/)
  assert.equal(of('listener_codecast'), `ok: ${daemon.codecast}`)
  assert.match(of('sqlite'), /^ok: the log is healthy/)
  assert.match(of('agent_claude'), /^ok: 2\.1\.325, signed in/, 'the key is in its environment only')
  assert.equal(new Set(checks.map(({ name }) => name)).size, checks.length, 'each check once')
})

test('a listener that could not be opened is a warning', async (t) => {
  const home = realpathSync(mkdtempSync(join(tmpdir(), 'corral-doctor-')))
  writeFileSync(join(home, 'taken'), '')
  const daemon = await startDaemon({ home, env: { CORRAL_HUMANLAYER_SOCKET: join(home, 'taken', 'x.sock') } })
  t.after(() => daemon.stop())
  assert.match((await examined(daemon.env)).of('listener_humanlayer'), /^warn: humanlayer is not listening: /)
})

test('a daemon that was killed is not running', async (t) => {
  const daemon = await daemonFor(t)
  await daemon.kill9()
  const { of } = await examined(daemon.env)
  assert.equal(of('daemon'), 'skipped: not running')
  assert.match(of('sqlite'), /^ok: the log is healthy/)
})

test('a process that only says that it is the daemon is a warning', async (t) => {
  const { env, corralHome } = newUser(t)
  mkdirSync(corralHome, { mode: 0o700 })
  writeFileSync(join(corralHome, 'run.json'), JSON.stringify({ pid: process.pid }))
  assert.match(
    (await examined(env)).of('daemon'),
    new RegExp(`^warn: process ${process.pid} calls itself the daemon`),
  )
})

test('a daemon of another version is a warning, also when it knows no doctor', async (t) => {
  const { env, corralHome } = newUser(t)
  const socket = join(corralHome, 'corral.sock')
  mkdirSync(dirname(socket), { mode: 0o700 })
  const server = createServer((connection) => {
    connection.on('data', (data: Buffer) => {
      for (const line of data.toString().split('\n').filter(Boolean)) {
        const { id, method } = JSON.parse(line) as { id: number; method: string }
        const answer =
          method === 'daemon.status'
            ? { result: { version: '0.0.1', pid: 1 } }
            : { error: { code: -32601, message: 'no such method' } }
        connection.write(`${JSON.stringify({ jsonrpc: '2.0', id, ...answer })}\n`)
      }
    })
  })
  await new Promise<void>((resolve) => server.listen(socket, resolve))
  t.after(() => server.close())
  const { of } = await examined(env)
  assert.match(of('version'), /^warn: the daemon is 0\.0\.1, this command /)
  assert.match(of('agent_demo'), /^ok: /)
})
