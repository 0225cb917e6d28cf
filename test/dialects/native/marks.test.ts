import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { demoSession, readTo, refusal, turn } from './support.ts'

let daemon: TestDaemon
let client: NativeClient
before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket, { reconnect: true })
})
after(async () => {
  client.close()
  await daemon.stop()
})

const HOUR = 3_600_000

async function marked(sessionId: string): Promise<object[]> {
  const { events } = await client.call('events.read', { sessionId, after: 0, types: ['session.marked'] })
  return events.map((event) => {
    const { seq: _, at: __, sessionId: ___, turnId: ____, ...body } = event
    return body
  })
}

test('marks change what they name, and only a change is an event', async () => {
  const { id: sessionId, marks, attention } = await demoSession(client, daemon)
  assert.deepEqual(marks, { readSeq: 0, pinned: false, snoozedUntil: null, settled: false, flags: [] })
  assert.equal(attention, 'quiet')
  await client.call('session.mark', { sessionId, pinned: true })
  await client.call('session.mark', { sessionId, pinned: true, flags: ['red'] })
  const last = await client.call('session.mark', { sessionId })
  assert.deepEqual(last.marks, { ...marks, pinned: true, flags: ['red'] })
  assert.deepEqual((await client.call('session.get', { sessionId })).marks, last.marks)
  const { sessions } = await client.call('session.list', {})
  assert.deepEqual(
    sessions.find(({ id }) => id === sessionId),
    last,
  )
  assert.deepEqual(await marked(sessionId), [
    { type: 'session.marked', pinned: true },
    { type: 'session.marked', flags: ['red'] },
  ])
})

test('a mark makes a session no younger', async () => {
  const made = await demoSession(client, daemon)
  const { activeAt } = await client.call('session.mark', { sessionId: made.id, pinned: true })
  assert.equal(activeAt, made.activeAt)
})

test('a new message takes back that it is settled, in the same batch', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  await turn(client, sessionId, '[[say one]]')
  assert.equal((await client.call('session.get', { sessionId })).attention, 'done')
  assert.equal((await client.call('session.mark', { sessionId, settled: true })).attention, 'quiet')
  const { seq } = await client.call('session.send', { sessionId, content: '[[say two]]' })
  const events = await readTo(client.events({ after: seq - 1, sessionId }), 'turn.completed')
  const taken = events.find(({ type }) => type === 'session.marked')!
  assert.deepEqual([taken.type === 'session.marked' && taken.settled, taken.seq - seq <= 2], [false, true])
  const { attention, marks } = await client.call('session.get', { sessionId })
  assert.deepEqual([attention, marks.settled], ['done', false])
})

test('a question ends a snooze', async () => {
  const { id: sessionId } = await demoSession(client, daemon, 'ask')
  const { seq } = await client.call('session.send', { sessionId, content: '[[shell [[shell done]]]]' })
  await readTo(client.events({ after: seq - 1, sessionId }), 'approval.requested')
  const first = await client.call('approval.list', { sessionId, open: true })
  const snoozed = await client.call('session.mark', { sessionId, snoozedUntil: Date.now() + HOUR })
  assert.equal(snoozed.attention, 'snoozed', 'what was asked before may wait')
  const after = client.events({ sessionId })
  await after.ready
  await client.call('approval.decide', { approvalId: first.approvals[0]!.id, behavior: 'allow' })
  await readTo(after, 'approval.requested')
  const asked = await client.call('session.get', { sessionId })
  assert.deepEqual([asked.attention, asked.marks.snoozedUntil], ['needs_you', null])
})

test('what is too much, or no mark at all, is refused', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const wrong: [object, string][] = [
    [{ flags: Array.from({ length: 9 }, (_, index) => `f${index}`) }, 'flags'],
    [{ flags: ['x'.repeat(33)] }, 'flags.0'],
    [{ flags: [''] }, 'flags.0'],
    [{ flags: ['two\nlines'] }, 'flags'],
    [{ readSeq: -1 }, 'readSeq'],
    [{ readSeq: 1.5 }, 'readSeq'],
    [{ snoozedUntil: 1e300 }, 'snoozedUntil'],
    [{ snoozedUntil: 'tomorrow' }, 'snoozedUntil'],
    [{ settled: 1 }, 'settled'],
    [{ colour: 'red' }, 'colour'],
  ]
  for (const [params, field] of wrong) {
    const error = await refusal(client.call('session.mark', { sessionId, ...params }))
    assert.deepEqual([error.code, error.data['field']], ['invalid', field], JSON.stringify(params))
  }
  assert.equal((await refusal(client.call('session.mark', { sessionId: 'no' }))).code, 'session_not_found')
  assert.deepEqual(await marked(sessionId), [])
})

test('nobody has read what has not happened', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const { marks } = await client.call('session.mark', { sessionId, readSeq: Number.MAX_SAFE_INTEGER })
  await turn(client, sessionId, '[[say later]]')
  const { attention } = await client.call('session.get', { sessionId })
  assert.ok(marks.readSeq < 1000)
  assert.equal(attention, 'done')
})
