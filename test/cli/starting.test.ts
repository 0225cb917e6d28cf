import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { MAIN } from '../support/program.ts'
import { exitOf, until } from '../support/wait.ts'
import { corral, stranger } from './support.ts'

const demo = ['new', '--agent', 'demo', '--mode', 'auto']

test('new, send and open start a daemon where none runs, and say so', async (t) => {
  const { env, home, project } = stranger(t)
  const first = await corral(env, [...demo, '[[say hello]]'], { cwd: project })
  assert.equal(first.code, 0, first.stderr)
  const says = `no daemon is running for ${home}; starting one (corral stop ends it)\n`
  assert.ok(first.stderr.startsWith(says), first.stderr)
  assert.match(first.stdout, /^hello$/m)
  const [session] = (await corral(env, ['ls', '--json'])).json<{ id: string }>()
  assert.equal((await corral(env, ['send', session!.id, '[[say again]]'])).stderr, '')
  await corral(env, ['stop', '--now'])
  const later = await corral(env, ['send', session!.id, '[[say later]]'])
  assert.match(later.stdout, /^later$/m)
  assert.equal(later.stderr, says)
  await corral(env, ['stop', '--now'])
  assert.match((await corral(env, ['open', '--print'])).stderr, /starting one/)
})

test('attach starts one too, before it looks for the session', async (t) => {
  const { env, home } = stranger(t)
  const { code, stderr } = await corral(env, ['attach', 'nobody'])
  assert.equal(code, 1)
  assert.equal(
    stderr,
    `no daemon is running for ${home}; starting one (corral stop ends it)\ncorral: no session has nobody in its id or in its title; see corral ls\n`,
  )
})

test('two of them at once start one daemon', async (t) => {
  const { env, project } = stranger(t)
  const both = await Promise.all([1, 2].map(() => corral(env, [...demo, '[[say hi]]'], { cwd: project })))
  assert.deepEqual(
    both.map(({ code }) => code),
    [0, 0],
    both.map(({ stderr }) => stderr).join('\n'),
  )
  assert.equal(both.filter(({ stderr }) => stderr.includes('starting one')).length, 1)
  assert.equal((await corral(env, ['ls', '-q'])).stdout.trim().split('\n').length, 2)
})

test('one that is stopping is named and waited for', async (t) => {
  const { env, project, home } = stranger(t)
  env['CORRAL_STOP_GRACE_MS'] = '3600000'
  const made = await corral(env, [...demo, '--no-wait', '[[hang]]'], { cwd: project })
  const { pid } = JSON.parse(readFileSync(join(home, 'run.json'), 'utf8')) as { pid: number }
  await until(async () => {
    const [session] = (await corral(env, ['ls', '--json'])).json<{ turn: { accepted: boolean } | null }>()
    return session?.turn?.accepted
  }, 'the turn runs')
  const stopped = corral(env, ['stop'])
  await until(async () => {
    const [status] = (await corral(env, ['status', '--json'])).json<{ stopping: boolean }>()
    return status?.stopping
  }, 'it has begun to stop')
  const next = spawn(process.execPath, [MAIN, ...demo, '[[say next]]'], { env, cwd: project })
  t.after(() => next.kill('SIGKILL'))
  let said = ''
  next.stdout.resume()
  next.stderr.setEncoding('utf8').on('data', (text: string) => (said += text))
  const waits = `the daemon for ${home} (pid ${pid}) is stopping; waiting until it has ended\n`
  await until(() => said === waits, 'it waits')
  const ended = exitOf(next, () => said)
  await corral(env, ['interrupt', made.stdout.trim()])
  assert.equal((await stopped).code, 0)
  assert.equal(await ended, 0, said)
  assert.ok(said.startsWith(`${waits}no daemon`), said)
})

test('wrong usage starts nothing', async (t) => {
  const { env } = stranger(t)
  assert.equal((await corral(env, ['new', '--mode', 'nope', 'x'])).code, 2)
  assert.equal((await corral(env, ['send', 'x'])).code, 2)
  assert.equal((await corral(env, ['status'])).code, 3)
})

test('a data directory that cannot be used is named, with what to do', async (t) => {
  const { env, project } = stranger(t)
  const file = join(project, 'file')
  writeFileSync(file, '')
  const inFile = { ...env, CORRAL_HOME: join(file, 'corral') }
  for (const args of [['new', 'x'], ['start', '--detach'], ['restart']]) {
    const { code, stderr } = await corral(inFile, args)
    assert.equal(code, 1)
    assert.equal(
      stderr,
      `corral: the data directory ${file}/corral cannot be used: a part of this path is a file; choose another one with --home or CORRAL_HOME\n`,
    )
  }
})

test('a daemon that cannot start says why', async (t) => {
  const { env, home } = stranger(t)
  const { code, stderr } = await corral({ ...env, CORRAL_AGENTS_MAX_WARM: 'lots' }, ['new', 'x'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /the daemon did not start: it ended with code 2\ncorral: CORRAL_AGENTS_MAX_WARM: must be/,
  )
  assert.ok(stderr.startsWith(`no daemon is running for ${home}`))
})

test('start --detach and whoever starts one say which ports were taken', async (t) => {
  const { env, project } = stranger(t)
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => server.close())
  const { port: taken } = server.address() as AddressInfo
  const busy = { ...env, CORRAL_PORT: String(taken) }
  const started = await corral(busy, ['start', '--detach'])
  assert.equal(started.code, 0, started.stderr)
  assert.match(started.stderr, new RegExp(`^warning: corral: port ${taken} is taken, using \\d+$`, 'm'))
  await corral(env, ['stop', '--now'])
  const made = await corral(busy, ['new', '--agent', 'demo'], { cwd: project })
  assert.match(made.stderr, new RegExp(`^warning: corral: port ${taken} is taken`, 'm'))
})
