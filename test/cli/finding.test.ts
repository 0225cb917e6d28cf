import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { TurnView } from '../../src/dialects/native/wire.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { corral, newSession, type Outcome } from './support.ts'

let daemon: TestDaemon
before(async () => {
  daemon = await startDaemon()
})
after(() => daemon.stop())

async function ok(...args: string[]): Promise<Outcome> {
  const outcome = await corral(daemon.env, args)
  assert.equal(outcome.code, 0, outcome.stderr)
  return outcome
}

test('an empty id is no id, not even of the only session there is', async () => {
  const id = await newSession(daemon)
  for (const args of [
    ['rm', ''],
    ['send', '', 'hi'],
    ['approve', ''],
    ['project', 'rm', ''],
  ]) {
    const { code, stderr } = await corral(daemon.env, args)
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^corral: the id of the \w+ is empty; see corral /)
  }
  assert.match((await ok('ls', '-q')).stdout, new RegExp(id))
})

test('a part of a title that is too short is told to be', async () => {
  await newSession(daemon)
  const { code, stderr } = await corral(daemon.env, ['send', 'qx', 'hi'])
  assert.equal(code, 1)
  assert.match(
    stderr,
    /no id of a session begins or ends with qx, and a part of a title has 3 characters or more/,
  )
})

test('search finds what was said, in all sessions or in one', async () => {
  const one = await newSession(daemon)
  const two = await newSession(daemon)
  await ok('send', one, '[[say a needle in hay]]')
  await ok('send', two, '[[say another needle]]')
  const found = (await ok('search', 'needle', '--json')).json<{ sessionId: string; role: string }>()
  assert.equal(found.length, 4)
  const inOne = (await ok('search', 'nee*', 'hay', '--session', one, '--json')).json<{ sessionId: string }>()
  assert.deepEqual(new Set(inOne.map(({ sessionId }) => sessionId)), new Set([one]))
  const { stdout } = await ok('search', 'needle', '--session', two)
  assert.match(stdout, /agent +another needle/)
  assert.equal((await ok('search', '"(*')).stderr.trim(), 'nothing found')
  assert.equal((await ok('search', 'needle', '--limit', '1', '--json')).json().length, 1)
})

test('export writes a document, to stdout or into a file that is complete or not there', async () => {
  const id = await newSession(daemon, '--title', 'A tale')
  await ok('send', id, '[[say once upon a time]]')
  assert.match((await ok('export', id)).stdout, /^# A tale\n[^]*## Agent\n\nonce upon a time\n/)
  const [document] = [
    JSON.parse((await ok('export', id, '--format', 'json')).stdout) as { events: unknown[] },
  ]
  assert.ok(document.events.length > 5)
  const file = join(daemon.project, 'tale.md')
  await ok('export', id, '--format', 'md', '-o', file)
  assert.match(readFileSync(file, 'utf8'), /once upon a time/)
  assert.equal(statSync(file).mode & 0o777, 0o600)
  const bad = await corral(daemon.env, ['export', id, '--format', 'pdf'])
  assert.equal(bad.code, 2)
  const nowhere = await corral(daemon.env, ['export', id, '-o', join(daemon.project, 'no', 'such', 'x.md')])
  assert.equal(nowhere.code, 1)
  assert.ok(!existsSync(`${file}.part`))
})

test('queue shows what waits and puts it in another order', async () => {
  const id = await newSession(daemon)
  await ok('pause', id)
  for (const word of ['one', 'two', 'three']) await ok('send', '--no-wait', id, word)
  const waiting = async (...more: string[]): Promise<string[]> =>
    (await ok('queue', ...more, '--json'))
      .json<TurnView>()
      .map(({ input }) => (input[0]?.type === 'text' ? input[0].text : ''))
  assert.deepEqual(await waiting('ls', id), ['one', 'two', 'three'])
  const turns = (await ok('queue', 'ls', id, '--json')).json<TurnView>()
  assert.deepEqual(await waiting('move', id, turns[2]!.id), ['three', 'one', 'two'])
  assert.deepEqual(await waiting('move', id, turns[2]!.id, '--to', '2'), ['one', 'three', 'two'])
  const both = await corral(daemon.env, ['queue', id, '--move', turns[0]!.id, '--remove', turns[0]!.id])
  assert.equal(both.code, 2)
})
