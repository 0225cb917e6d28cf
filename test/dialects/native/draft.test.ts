import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { clientFor, demoSession, readTo, refusal, turn } from './support.ts'

let daemon: TestDaemon
let desk: NativeClient
before(async () => {
  daemon = await startDaemon()
  desk = await connect(daemon.socket, { reconnect: true })
})
after(async () => {
  desk.close()
  await daemon.stop()
})

const newSession = async (): Promise<string> => (await demoSession(desk, daemon)).id

test('what is typed at the desk is on the phone, while it is typed', async (t) => {
  const phone = await clientFor(t, daemon)
  const sessionId = await newSession()
  const stream = phone.events({ sessionId, types: ['session.drafted'] })
  await stream.ready
  const { revision } = await desk.call('draft.set', { sessionId, text: 'Dear agent,', revision: 0 })
  const [event] = await readTo(stream, 'session.drafted')
  assert.ok(event?.type === 'session.drafted')
  assert.deepEqual([event.text, event.revision], ['Dear agent,', revision])
  const got = await phone.call('draft.get', { sessionId })
  assert.deepEqual(got, { text: 'Dear agent,', revision, updatedAt: event.at })
})

test('who did not see the last change is told of it, and loses nothing', async (t) => {
  const phone = await clientFor(t, daemon)
  const sessionId = await newSession()
  const { revision } = await desk.call('draft.set', { sessionId, text: 'from the desk' })
  const late = await refusal(phone.call('draft.set', { sessionId, text: 'from the phone', revision: 0 }))
  const { text, revision: current, updatedAt } = late.data
  assert.equal(late.code, 'conflict')
  assert.deepEqual({ text, revision: current, updatedAt }, await desk.call('draft.get', { sessionId }))
  assert.deepEqual([text, current], ['from the desk', revision])
  const mine = await phone.call('draft.set', { sessionId, text: 'both', revision })
  assert.equal(mine.revision, revision + 1)
})

test('a draft is there after kill -9, and is no message', async () => {
  const sessionId = await newSession()
  await turn(desk, sessionId, '[[say hi]]')
  const history = await desk.call('history.read', { sessionId })
  await desk.call('draft.set', { sessionId, text: 'one' })
  const kept = await desk.call('draft.set', { sessionId, text: 'two\u2028"three"\n😀' })
  await daemon.kill9()
  await daemon.restart()
  assert.deepEqual(await desk.call('draft.get', { sessionId }), { text: 'two\u2028"three"\n😀', ...kept })
  assert.deepEqual((await desk.call('history.read', { sessionId })).items, history.items)
  const { events } = await desk.call('events.read', { sessionId, after: 0, types: ['session.drafted'] })
  assert.equal(events.length, 1, 'the one before has left the log')
  await desk.call('draft.set', { sessionId, text: '' })
  assert.equal((await desk.call('draft.get', { sessionId })).text, '')
})

test('drafts have a limit, and belong to a session', async () => {
  const sessionId = await newSession()
  await desk.call('draft.set', { sessionId, text: 'x'.repeat(100_000) })
  const long = await refusal(desk.call('draft.set', { sessionId, text: 'x'.repeat(100_001) }))
  assert.deepEqual([long.code, long.data['field']], ['invalid', 'text'])
  const wrong = await refusal(desk.call('draft.set', { sessionId, text: '', revision: -1 }))
  assert.deepEqual([wrong.code, wrong.data['field']], ['invalid', 'revision'])
  for (const call of [
    desk.call('draft.get', { sessionId: 'nobody' }),
    desk.call('draft.set', { sessionId: 'nobody', text: '' }),
  ]) {
    assert.equal((await refusal(call)).code, 'session_not_found')
  }
})
