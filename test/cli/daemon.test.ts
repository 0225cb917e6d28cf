import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { askUntil, until } from '../support/wait.ts'
import { corral, newSession, stranger } from './support.ts'

/** Of the tests that only want one to be there. */
let daemon: TestDaemon

before(async () => {
  daemon = await startDaemon()
})

after(() => daemon.stop())

test('every client command says how to start when no daemon runs, and ends with 3', async (t) => {
  const { env, home } = stranger(t)
  for (const args of [['ls'], ['status'], ['stop'], ['history', 'x'], ['approve', 'x']]) {
    const { code, stderr } = await corral(env, args)
    assert.equal(code, 3, args.join(' '))
    assert.equal(stderr, `corral: no daemon is running for ${home}; start one with: corral start --detach\n`)
  }
})

const misuses: [args: string[], says: RegExp][] = [
  [['strat'], /unknown command 'strat' \(did you mean .*\bstart\b.*\?\); see corral --help/],
  [['ls', '--nope'], /unknown option '--nope'.*; see corral ls --help/],
  [['send'], /missing required argument 'session'/],
  [['ls', 'extra'], /too many arguments/],
  [['ls', '--limit', 'x'], /--limit must be a whole number/],
  [['completion', 'tcsh'], /no completion for tcsh; use bash, zsh or fish/],
  [['start', '--codecast-port', 'x'], /--codecast-port: must be a whole number from 0 to 65535/],
]

test('wrong usage ends with 2 and says what is wrong', async () => {
  for (const [args, says] of misuses) {
    const { code, stderr } = await corral(daemon.env, args)
    assert.match(stderr, says)
    assert.equal(code, 2, args.join(' '))
  }
})

test('a wrong configuration file is named and ends with 2', async (t) => {
  const { env, home } = stranger(t)
  mkdirSync(home)
  writeFileSync(join(home, 'config.yaml'), 'agents: { maxWarm: lots }\n')
  const { code, stderr } = await corral(env, ['start'])
  assert.equal(code, 2)
  assert.match(stderr, /config\.yaml: agents\.maxWarm must be a whole number from 0 to 1000, not "lots"/)
})

test('help and version end with 0', async (t) => {
  const { env } = stranger(t)
  const help = await corral(env, ['--help'])
  assert.equal(help.code, 0)
  assert.match(help.stdout, /Exit codes: 0 success/)
  assert.match((await corral(env, ['--version'])).stdout, /^\d+\.\d+\.\d+\n$/)
})

test('start tells where it listens, which agents it found and where the dashboard is', async () => {
  await until(() => daemon.output().includes('agents:'), daemon.output)
  assert.match(daemon.output(), new RegExp(`is ready \\(pid ${daemon.pid}, data in ${daemon.corralHome}\\)`))
  assert.ok(daemon.output().includes(daemon.socket))
  assert.match(daemon.output(), /dashboard: http:.*corral open/)
  assert.match(daemon.output(), /agents: .*demo/)
})

test('a second start on the same directory says who has it', async () => {
  for (const args of [['start'], ['start', '--detach']]) {
    const { code, stderr } = await corral(daemon.env, args)
    assert.equal(code, 1)
    assert.ok(stderr.includes(String(daemon.pid)), stderr)
  }
})

test('start --detach answers when the daemon is ready, and stop when it is gone', async (t) => {
  const { env } = stranger(t)
  const started = await corral(env, ['start', '--detach', '--json'])
  assert.equal(started.code, 0, started.stderr)
  const [status] = started.json<{ pid: number }>()
  assert.equal((await corral(env, ['status', '--json'])).json<{ pid: number }>()[0]?.pid, status?.pid)
  const stopped = await corral(env, ['stop'])
  assert.equal(stopped.stdout, `stopped (pid ${status?.pid})\n`)
  assert.equal((await corral(env, ['status'])).code, 3)
})

test('stop says at once that it waits for running turns', async (t) => {
  const { env, project } = stranger(t)
  env['CORRAL_STOP_GRACE_MS'] = '500'
  await corral(env, ['start', '--detach'])
  const sent = await corral(env, ['new', '--agent', 'demo', '--cwd', project, '--no-wait', '[[hang]]'])
  assert.equal(sent.code, 0, sent.stderr)
  await until(async () => {
    const [session] = (await corral(env, ['ls', '--json'])).json<{ turn: { accepted: boolean } | null }>()
    return session?.turn?.accepted
  }, 'the turn runs')
  const { stderr, code } = await corral(env, ['stop'])
  assert.equal(code, 0)
  assert.equal(stderr, 'waiting up to 0.5 s for 1 running turn (--now interrupts it)\n')
})

test('a daemon that cannot start in the background says why', async (t) => {
  const { env, home } = stranger(t)
  mkdirSync(home)
  mkdirSync(join(home, 'corral.db'))
  const { code, stderr } = await corral(env, ['start', '--detach'])
  assert.equal(code, 1)
  assert.match(stderr, /the daemon did not start: it ended with code 1\ncorral: /)
})

test('a restart leaves a running turn running', async (t) => {
  const { env, project } = stranger(t)
  await corral(env, ['start', '--detach'])
  const created = await corral(env, ['new', '--agent', 'demo', '--cwd', project])
  const id = created.stdout.trim()
  const watched = corral(env, ['send', id, '[[drip 80 50]]'])
  interface Seen {
    turn: { accepted: boolean } | null
    turnCount: number
  }
  const list = async () => (await corral(env, ['ls', '--json'])).json<Seen>()
  const hasBegun = ([session]: Seen[]): boolean => session!.turn?.accepted ?? session!.turnCount > 0
  await askUntil(list, hasBegun, 'the turn has begun')
  const before = (await corral(env, ['status', '--json'])).json<{ pid: number }>()[0]!.pid
  const restarted = await corral(env, ['restart'])
  assert.equal(restarted.code, 0, restarted.stderr)
  const after = (await corral(env, ['status', '--json'])).json<{ pid: number }>()[0]!.pid
  assert.notEqual(before, after)
  const { code, stdout } = await watched
  assert.equal(code, 0)
  assert.equal(
    stdout.match(/\bw\d+\b/g)?.join(' '),
    Array.from({ length: 80 }, (_, index) => `w${index + 1}`).join(' '),
  )
})

test('a restart ends agents that rest, so that they start anew in the new environment', async (t) => {
  const { env, project } = stranger(t)
  await corral(env, ['start', '--detach'])
  const { stdout } = await corral(env, ['new', '--agent', 'demo', '--cwd', project, '[[remember PLUM]]'])
  const idle = async () =>
    (await corral(env, ['status', '--json'])).json<{ agents: { idle: number } }>()[0]!.agents.idle
  assert.equal(await idle(), 1, stdout)
  assert.equal((await corral(env, ['restart'])).code, 0)
  assert.equal(await idle(), 0)
  const [session] = (await corral(env, ['ls', '--json'])).json<{ id: string }>()
  assert.match((await corral(env, ['send', session!.id, '[[recall]]'])).stdout, /PLUM/)
})

test('the completion scripts are valid and know every command', async (t) => {
  const { env } = stranger(t)
  for (const shell of ['bash', 'zsh', 'fish']) {
    const { stdout, code } = await corral(env, ['completion', shell])
    assert.equal(code, 0)
    assert.match(stdout, /keep-agents/)
    const check = spawnSync(shell, ['-n'], { input: stdout })
    if (!check.error) assert.equal(check.status, 0, `${shell}: ${check.stderr.toString()}`)
  }
})

/** What bash offers after these words. */
function offered(script: string, ...words: string[]): string[] {
  const line = `COMP_WORDS=(corral ${words.join(' ')} ""); COMP_CWORD=${words.length + 1}; _corral`
  const { stdout } = spawnSync('bash', ['-c', `${script}\n${line}; echo "\${COMPREPLY[@]}"`])
  return stdout.toString().trim().split(' ')
}

test('bash completes commands, options and their values', async (t) => {
  if (spawnSync('bash', ['--version']).error) return t.skip('needs bash')
  const { env } = stranger(t)
  const script = (await corral(env, ['completion', 'bash'])).stdout
  assert.ok(offered(script).includes('attach'))
  assert.ok(offered(script, 'approve').includes('--answer'))
  assert.deepEqual(offered(script, 'new', '--mode'), ['auto', 'code', 'plan', 'ask'])
  assert.deepEqual(offered(script, 'completion').slice(-3), ['bash', 'zsh', 'fish'])
  assert.ok(!offered(script).includes('rename') && !offered(script).includes('devices'))
  assert.ok(offered(script, 'device').includes('rm'))
  assert.ok(offered(script, 'worktree', 'rm').includes('--force'))
  const asking = `corral() { echo "asked:$1"; }\n${script}`
  assert.ok(offered(asking, 'device', 'rm').includes('asked:device'))
})

test('the command in bin runs', async () => {
  await newSession(daemon)
  const bin = join(import.meta.dirname, '../../bin/corral.js')
  const { status, stdout } = spawnSync(process.execPath, [bin, 'ls', '-q'], { env: daemon.env })
  assert.equal(status, 0)
  assert.match(stdout.toString(), /^[0-9a-f-]{36}\n$/)
})
