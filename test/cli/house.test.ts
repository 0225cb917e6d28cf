import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { makeRepository } from '../support/repository.ts'
import { aPlace, type Place } from '../workspace/support.ts'
import { dial } from '../dialects/clawde/support.ts'
import { MAIN } from '../support/program.ts'
import { corral, newSession, type Outcome } from './support.ts'

let daemon: TestDaemon
let place: Place
before(async () => {
  place = aPlace()
  const env = { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }
  daemon = await startDaemon({ env })
})
after(async () => {
  await daemon.stop()
  place.close()
})

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args)
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

async function failed(code: number, ...args: string[]): Promise<string> {
  const outcome = await corral(daemon.env, args)
  assert.equal(outcome.code, code, outcome.stdout + outcome.stderr)
  return outcome.stderr
}

interface Pin {
  pin: string
  url: string
  qr: string
  reachable: boolean
  svg?: string
}

test('a PIN lets a device in, which is listed, renamed and put out', async (t) => {
  assert.match((await ok('device', 'ls')).stderr, /corral pair/)
  const waiting = spawn(process.execPath, [MAIN, 'pair', '--wait', '--json'], { env: daemon.env })
  t.after(() => waiting.kill('SIGKILL'))
  const exited = once(waiting, 'exit')
  const lines = createInterface({ input: waiting.stdout })[Symbol.asyncIterator]()
  const read = async (): Promise<unknown> => JSON.parse(String((await lines.next()).value))
  const { pin, url, reachable, qr } = (await read()) as Pin
  assert.deepEqual([url, reachable], [daemon.listeners['clawde'], false])
  const payload = JSON.parse(qr) as Record<string, unknown>
  assert.deepEqual([payload['url'], payload['pin'], payload['relay']], [url, pin, ''])
  assert.match(String(payload['daemonId']), /^[0-9a-f]{64}$/)

  const phone = await dial(t, url)
  const paired = await phone.call('device.pair', { pin, name: 'My phone', platform: 'ios' })
  const id = String(paired['deviceId'])
  assert.deepEqual(await read(), { deviceId: id, name: 'My phone', platform: 'ios' })
  assert.equal((await exited)[0], 0)
  await phone.call('daemon.auth', { token: paired['deviceToken'] })

  const { stdout } = await ok('device', 'ls')
  assert.ok(
    stdout.includes(id.slice(-8)) && stdout.includes('My phone') && !stdout.includes('\u001b'),
    stdout,
  )
  await ok('device', 'rename', id.slice(-8), 'Old', 'phone')
  const [listed] = (await ok('--json', 'device', 'ls')).json()
  assert.deepEqual([listed?.['name'], listed?.['scopes']], ['Old phone', ['use']])
  assert.match(await failed(1, 'device', 'rm', 'ffff'), /no device/)
  assert.deepEqual((await ok('device', 'rm', id, '--json')).json(), [{ deviceId: id }])
  assert.equal(await phone.closed, 1008)
  assert.deepEqual((await ok('device', 'ls', '--json')).json(), [])
})

test('pair draws the code for people, and says when only this machine gets there', async () => {
  const { stdout, stderr } = await ok('pair')
  assert.match(stdout, /^(█{40,}\n)(██[ ▀▄█]+██\n){15,}/)
  assert.match(stdout, /^PIN +\d{3} \d{3}$/m)
  assert.match(stdout, /^connect +ws:\/\/127\.0\.0\.1:\d+$/m)
  assert.match(stdout, /^valid +(9|10) min, for one device$/m)
  assert.match(stderr, /clawde\.host/)
  const file = join(daemon.project, 'pair.svg')
  await ok('pair', '--svg', file)
  assert.match(readFileSync(file, 'utf8'), /^<svg [^]*<\/svg>/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
})

test('a device with --manage may let another in', async (t) => {
  const [made] = (await ok('pair', '--manage', '--json')).json<Pin & Record<string, unknown>>()
  const boss = await dial(t, made!.url)
  const paired = await boss.call('device.pair', { pin: made!.pin, name: 'Laptop' })
  await boss.call('daemon.auth', { token: paired['deviceToken'] })
  assert.match(String((await boss.call('daemon.pairPin'))['pin']), /^\d{6}$/)
  await ok('device', 'rm', String(paired['deviceId']))
})

test('projects are made, get repositories, lose them and are forgotten', async () => {
  assert.match((await ok('project', 'ls')).stderr, /project add/)
  const [one, two] = ['one', 'two'].map((name) => makeRepository(join(daemon.project, name)))
  const [made] = (await ok('project', 'add', 'Big', 'plan', '--repo', one!, '--json')).json<{
    id: string
    repos: { path: string }[]
  }>()
  assert.deepEqual(
    made?.repos.map(({ path }) => path),
    [one],
  )
  const added = await corral(daemon.env, ['project', 'add-repo', 'Big plan'], { cwd: two! })
  assert.equal(added.code, 0, added.stderr)
  assert.match((await ok('project', 'ls')).stdout, new RegExp(`Big plan.*\\n  ${one}\\n  ${two}\\n$`))
  assert.match(await failed(1, 'project', 'add-repo', 'Big plan', daemon.home), /repository/)
  await ok('project', 'rm-repo', made!.id.slice(-8), one!)
  assert.deepEqual((await ok('project', 'ls', '-q')).stdout.trim(), made!.id)
  assert.match((await ok('project', 'rm', 'Big plan')).stdout, /removed Big plan/)
  assert.deepEqual((await ok('project', 'ls', '--json')).json(), [])
  assert.ok(existsSync(two!))
})

test('a session in a worktree: show, diff, merge, rm', async () => {
  const repo = place.repo('cli')
  const created = ['new', '--agent', 'demo', '--cwd', repo.path, '--worktree']
  const id = (await ok(...created)).stdout.trim()
  const tree = join(daemon.corralHome, 'worktrees', id)
  writeFileSync(join(tree, 'new.txt'), 'new\n')
  assert.match((await ok('worktree', 'ls')).stdout, new RegExp(`${id.slice(-8)} +corral/${id} +${tree}`))
  assert.match((await ok('worktree', 'diff', id.slice(-8))).stdout, /^\+new$/m)
  assert.match(
    await failed(1, 'worktree', 'rm', id),
    /: 1 uncommitted file; keep it with: corral worktree merge [0-9a-f]{8}; lose it with: corral worktree rm [0-9a-f]{8} --force$/m,
  )
  assert.match((await ok('worktree', 'merge', id, '-m', 'Brought in')).stdout, /^merged as [0-9a-f]{12}$/m)
  assert.equal(repo.git('log', '-1', '--format=%s').trim(), 'Brought in')
  writeFileSync(join(tree, 'a.txt'), 'theirs\n')
  repo.write('a.txt', 'ours\n')
  repo.commit()
  assert.match(await failed(1, 'worktree', 'merge', id), /nothing was changed[^]*a\.txt/)
  assert.match((await ok('rm', id)).stderr, /its worktree was kept/)
  assert.deepEqual((await ok('worktree', 'rm', id, '--force', '--json')).json(), [{ sessionId: id }])
  assert.ok(!existsSync(tree))
  assert.match((await ok('worktree', 'ls')).stderr, /no session has a worktree/)
  const plain = (await ok('new', '--agent', 'demo', '--cwd', repo.path)).stdout.trim()
  assert.match(await failed(1, 'worktree', 'show', plain.slice(-8)), /has no worktree of its own; make one/)
  assert.match(
    await failed(1, 'worktree', 'show', 'ffff-none'),
    /no worktree has ffff-none in its id or in its title/,
  )
  assert.match(await failed(2, 'new', '--agent', 'demo', '--carry'), /--worktree/)
})

test('top has the daemon and every session with a process', async () => {
  const id = await newSession(daemon, '--title', 'Busy bee')
  await ok('send', id, '[[say hi]]')
  const { stdout } = await ok('top')
  assert.match(stdout, /daemon +\d+\.\d MiB/)
  assert.match(stdout, new RegExp(`${id.slice(-8)} +demo +warm +\\d+ +\\d+\\.\\d MiB +.* ago +Busy bee`))
  const [now] = (await ok('top', '--json')).json<{ sessions: { sessionId: string }[] }>()
  assert.deepEqual(
    now?.sessions.map(({ sessionId }) => sessionId),
    [id],
  )
})

test('where nobody listens for devices no PIN is made', async (t) => {
  const other = await startDaemon({ env: { CORRAL_CLAWDE_ENABLED: 'false', CORRAL_HTTP_ENABLED: 'false' } })
  t.after(() => other.stop())
  assert.deepEqual(
    [other.listeners['corral'], existsSync(join(other.corralHome, 'token'))],
    [undefined, false],
  )
  const { code, stdout, stderr } = await corral(other.env, ['pair'])
  assert.deepEqual([code, stdout], [1, ''])
  assert.match(stderr, /http\.enabled and clawde\.enabled/)
})

test('a wrong command of a command is wrong usage', async () => {
  assert.match(
    await failed(2, 'device', 'rm'),
    /missing required argument 'device'; see corral device rm --help/,
  )
  assert.match(
    await failed(2, 'worktree', 'merg', 'x'),
    /unknown command 'worktree merg' \(did you mean merge\?\)/,
  )
})
