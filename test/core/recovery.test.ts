import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { eventsOf, newSession } from '../support/asking.ts'
import { goOn, HELD } from '../support/held.ts'

/*
 * The engine goes down after the commit and before its agent has been told. The next one does what the events call for; the
 * command is gone.
 */

/** An engine that loses what it has to tell agents in these ways, and the next one on the same log, which does not. */
async function losing(
  context: TestContext,
  ...ways: ('end' | 'pause' | 'resume' | 'retract' | 'interrupt')[]
): Promise<{ t: TestEngine; next: () => Promise<TestEngine> }> {
  let t = await startEngine()
  context.after(() => t.stop())
  for (const way of ways) Object.assign(t.host, { [way]: async () => {} })
  return {
    t,
    async next() {
      await t.abandon()
      t = await startEngine({ home: t.home })
      return t
    },
  }
}

test('a process that holds another conversation than the one that goes on is ended, and gets no message', async (context) => {
  const { t, next } = await losing(context, 'end')
  const id = await newSession(t)
  await t.turn(id, 'hello')
  const first = t.engine.sessions.get(id)
  await t.engine.sessions.configure({ sessionId: id, nativeId: null })
  // The message is in the log as well, and waits for the new process.
  await t.engine.sessions.pause(id)
  await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: '[[say fresh]]' }] })
  const later = await next()
  await later.engine.sessions.resume(id)
  const { text } = await later.event('turn.completed', { sessionId: id, after: t.engine.events.head })
  assert.equal(text, 'fresh')
  assert.equal(eventsOf(later, id, 'agent.exited')[0]?.runId, first.run?.id)
  assert.notEqual(later.engine.sessions.get(id).run?.id, first.run?.id)
  assert.notEqual(later.engine.sessions.get(id).nativeId, first.nativeId)
})

test('an agent that stands still although its session does not is woken', async (context) => {
  const { t, next } = await losing(context, 'resume')
  const id = await newSession(t)
  const { seq } = await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: HELD }] })
  await t.event('approval.requested', { sessionId: id })
  await t.engine.sessions.pause(id)
  await t.engine.sessions.resume(id)
  const later = await next()
  await goOn(later, id)
  assert.equal((await later.event('turn.completed', { sessionId: id, after: seq })).text, 'gone on')
})

test('a message to a turn that was taken back does not come up again', async (context) => {
  const { t, next } = await losing(context, 'retract', 'interrupt')
  const id = await newSession(t)
  const { seq } = await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: HELD }] })
  await t.event('approval.requested', { sessionId: id })
  await t.engine.turns.steer({ sessionId: id, input: [{ type: 'text', text: '[[say unwanted]]' }] })
  await t.engine.sessions.configure({ sessionId: id, model: 'other' })
  await t.engine.turns.interrupt({ sessionId: id, clearQueue: true })
  const later = await next()
  await later.event('turn.interrupted', { sessionId: id, after: seq })
  await later.turn(id, '[[say wanted]]')
  const said = eventsOf(later, id, 'message.completed').map(({ text }) => text)
  assert.ok(!said.includes('unwanted'), said.join(', '))
})
