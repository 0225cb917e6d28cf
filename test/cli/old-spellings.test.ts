import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { NOUNS } from '../../src/cli/program.ts'
import type { SessionView, TurnView } from '../../src/dialects/native/wire.ts'
import { dial } from '../dialects/clawde/support.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { makeRepository } from '../support/repository.ts'
import { aPlace, type Place } from '../workspace/support.ts'
import { corral, newSession, type Outcome } from './support.ts'

let daemon: TestDaemon
let place: Place
before(async () => {
  place = aPlace()
  daemon = await startDaemon({ env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })
})
after(async () => {
  await daemon.stop()
  place.close()
})

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args, { cwd: daemon.project })
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

/** Both spellings, which must do the same. */
async function same(old: string[], now: string[]): Promise<void> {
  const [one, other] = [await ok(...old), await ok(...now)]
  // Some time later, and so in columns of another width.
  const still = (text: string): string =>
    text.replaceAll(/\d+(\.\d)? (ms|s|min)\b/g, 'a while').replaceAll(/ +/g, ' ')
  assert.equal(still(one.stdout), still(other.stdout), old.join(' '))
  assert.equal(one.stderr, other.stderr, old.join(' '))
}

test('a noun without a verb lists, in the plural too', async () => {
  await newSession(daemon)
  const listing = NOUNS.filter(
    ({ name }) => !['queue', 'rule', 'token', 'checkpoint', 'backup', 'service'].includes(name),
  )
  for (const { name, plural } of listing) {
    for (const old of [name, plural]) await same([old, '--json'], [name, 'ls', '--json'])
    await same([plural, 'ls'], [name, 'ls'])
  }
  for (const name of ['devices', 'projects', 'worktree', 'agents', 'approvals']) await ok(name, '-q')
})

test('agents NAME, agents --capabilities', async () => {
  await same(['agents', 'demo'], ['agent', 'show', 'demo'])
  await same(['agents', '--capabilities'], ['agent', 'ls', '--capabilities'])
  assert.equal((await ok('agents', 'demo', '-q')).stdout, 'demo\n')
})

test('login without a name', async () => {
  await same(['login'], ['account', 'ls'])
})

test('token, token --new', async () => {
  await same(['token'], ['token', 'show'])
  const before = (await ok('token')).stdout
  const replaced = (await ok('token', '--new')).stdout
  assert.notEqual(replaced, before)
  assert.equal((await ok('token', 'show')).stdout, replaced)
  assert.notEqual((await ok('token', 'new')).stdout, replaced)
})

test('devices revoke, devices rename', async (t) => {
  const [made] = (await ok('device', 'add', '--json')).json<{ pin: string; url: string }>()
  const phone = await dial(t, made!.url)
  const { deviceId } = await phone.call('device.pair', { pin: made!.pin, name: 'Phone' })
  await ok('devices', 'rename', String(deviceId), 'Old', 'phone')
  assert.match((await ok('device', 'show', String(deviceId))).stdout, /^name +Old phone$/m)
  assert.deepEqual((await ok('devices', '--json', 'revoke', String(deviceId))).json(), [{ deviceId }])
})

test('projects create, add-repo, remove-repo, delete', async () => {
  const repo = makeRepository(join(daemon.project, 'repo'))
  await ok('projects', 'create', 'Old', 'one', '--description', 'about')
  await ok('projects', 'add-repo', 'Old one', repo)
  assert.match((await ok('project', 'show', 'Old one')).stdout, new RegExp(`^repository +${repo}$`, 'm'))
  await ok('projects', 'remove-repo', 'Old one', repo)
  await ok('project', 'rename', 'Old one', 'New', 'one')
  await ok('project', 'set', 'New one', '--description', 'more')
  const shown = (await ok('project', 'show', 'New one')).stdout
  assert.match(shown, /^description +more$/m)
  assert.doesNotMatch(shown, /repository/)
  await ok('projects', 'delete', 'New one')
  assert.deepEqual((await ok('project', 'ls', '--json')).json(), [])
})

test('worktree discard', async () => {
  const repo = place.repo('old')
  const id = (await ok('new', '--agent', 'demo', '--cwd', repo.path, '--worktree')).stdout.trim()
  const tree = join(daemon.corralHome, 'worktrees', id)
  assert.match((await ok('worktree', 'show', id)).stdout, new RegExp(`^directory +${tree}$`, 'm'))
  await ok('worktree', 'discard', '--force', id)
  assert.ok(!existsSync(tree))
})

test('set', async () => {
  const id = await newSession(daemon)
  await ok('set', id, '--title', 'Old way', '--mode', 'plan', '--archive')
  const [session] = (await ok('session', 'show', id, '--json')).json<SessionView>()
  assert.deepEqual([session?.title, session?.mode, session?.archived], ['Old way', 'plan', true])
  assert.match((await ok('session', 'show', id)).stdout, /^title +Old way\nstatus +idle, archived$/m)
  await ok('session', 'set', id, '--title', 'Again')
})

test('queue SESSION, with --move and --remove', async () => {
  const id = await newSession(daemon)
  await ok('pause', id)
  for (const word of ['one', 'two', 'three']) await ok('send', '--no-wait', id, word)
  await same(['queue', id], ['queue', 'ls', id])
  const turns = (await ok('queue', 'ls', id, '--json')).json<TurnView>().map((turn) => turn.id)
  const order = async (...args: string[]): Promise<string[]> =>
    (await ok('queue', ...args, '--json')).json<TurnView>().map((turn) => turn.id)
  assert.deepEqual(await order(id, '--move', turns[2]!), [turns[2], turns[0], turns[1]])
  assert.deepEqual(await order(id, '--move', turns[2]!, '--to', '2'), [turns[0], turns[2], turns[1]])
  const both = await corral(daemon.env, ['queue', id, '--move', turns[0]!, '--remove', turns[0]!])
  assert.equal(both.code, 2)
  await ok('queue', id, '--remove', turns[0]!)
  assert.deepEqual(await order('ls', id), [turns[2], turns[1]])
})

test('rules SESSION and rules --project, with their changes as options', async () => {
  const id = await newSession(daemon)
  await ok('rules', id, '--allow', 'edit', '--allow', 'read', '--deny', 'shell(rm *)', '--accept-edits')
  await same(['rules', id], ['rule', 'ls', '--session', id])
  await ok('rules', id, '--remove', 'edit', '--no-accept-edits', '--skip', '0')
  const [rules] = (await ok('rules', id, '--json')).json()
  assert.deepEqual(rules, { allow: ['read'], deny: ['shell(rm *)'], acceptEdits: false, skipUntil: null })
  await ok('rules', '--project', '.', '--allow', 'shell(npm test*)')
  await same(['rules', '--project', '.'], ['rule', 'ls', '--project', '.'])
  assert.match((await ok('rule', 'ls')).stdout, /and below\nallow {2}shell\(npm test\*\)\n/)
})

test('every verb of a noun has its short form, and the other way round', async () => {
  const id = await newSession(daemon)
  await same(['session', 'history', id], ['history', id])
  await same(['sessions', 'pause', id], ['pause', id])
  assert.equal((await ok('session', 'rm', id)).stdout, `removed ${id.slice(-8)}\n`)
})
