import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { SessionView } from '../../src/dialects/native/wire.ts'
import { corral, daemonFor, newSession } from './support.ts'

test('sessions are pinned, snoozed and done with from the command line', async (t) => {
  const daemon = await daemonFor(t)
  const id = await newSession(daemon)
  const run = async (...args: string[]): Promise<SessionView> => {
    const { code, stderr, json } = await corral(daemon.env, [...args, '--json'])
    assert.equal(code, 0, stderr)
    return json<SessionView>()[0]!
  }
  assert.equal((await run('pin', id)).marks.pinned, true)
  assert.equal((await run('session', 'pin', id, '--off')).marks.pinned, false)

  const before = Date.now()
  const { attention, marks } = await run('snooze', id, '2h')
  assert.equal(attention, 'snoozed')
  assert.ok(marks.snoozedUntil! >= before + 7_200_000 && marks.snoozedUntil! <= Date.now() + 7_200_000)
  assert.equal((await run('snooze', id, '--off')).marks.snoozedUntil, null)

  await corral(daemon.env, ['send', id, '[[say hi]]'])
  const listed = async () => (await corral(daemon.env, ['ls', '--json'])).json<SessionView>()[0]!
  assert.equal((await listed()).attention, 'done')
  assert.equal((await run('done', id)).attention, 'quiet')
  assert.equal((await listed()).marks.settled, true)
  assert.equal((await run('done', id, '--off')).marks.settled, false)
  assert.equal((await corral(daemon.env, ['done', id])).stdout, `done ${id.slice(-8)}\n`)

  for (const time of [[], ['soon'], ['0h'], ['2 hours'], ['12345d']]) {
    const { code, stderr } = await corral(daemon.env, ['snooze', id, ...time])
    assert.equal(code, 2)
    assert.match(stderr, /30m, 2h, 3d or 1w/)
  }
})
