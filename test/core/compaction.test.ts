import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isCompaction } from '../../src/core/compaction.ts'
import type { Event } from '../../src/core/event.ts'
import { eventsOf, newSession } from '../support/asking.ts'
import { startEngine } from '../support/engine.ts'

test('only the message itself is the wish to have a conversation summed up', () => {
  const said = (...texts: string[]) => texts.map((text) => ({ type: 'text' as const, text }))
  assert.deepEqual([said('/compact'), said(' /compact\n')].map(isCompaction), [true, true])
  const image = { type: 'image', mediaType: 'image/png', data: 'AA==' } as const
  const others = [said('/compact now'), said('say /compact'), [...said('/compact'), image], []]
  assert.deepEqual(others.map(isCompaction), [false, false, false, false])
})

test('a conversation is summed up in a turn, which is told to those who know only notices, too', async (t) => {
  const engine = await startEngine()
  t.after(() => engine.stop())
  const sessionId = await newSession(engine, { mode: 'auto' })
  await engine.turn(sessionId, '[[words 40]]')
  const key = 'once'
  const sent = await engine.engine.turns.compact({ sessionId, key })
  await engine.event('turn.completed', { sessionId, after: sent.seq })
  assert.equal((await engine.engine.turns.compact({ sessionId, key })).repeated, true)
  const [begun] = eventsOf(engine, sessionId, 'agent.compacting')
  const [done, ...more] = eventsOf(engine, sessionId, 'agent.compacted')
  assert.deepEqual(
    [begun?.turnId, begun?.tokens, done?.tokensBefore, done?.tokensAfter, more],
    [sent.turnId, 41, 41, 3, []],
  )
  const [notice] = eventsOf(engine, sessionId, 'agent.notice')
  assert.deepEqual([notice?.level, notice?.code], ['info', 'compacted'])
  assert.equal(notice?.message, 'The conversation was summed up (41 tokens, now 3)')
})

test('one that fails says why, and one that is interrupted has failed', async (t) => {
  const engine = await startEngine()
  t.after(() => engine.stop())
  const sessionId = await newSession(engine, { mode: 'auto' })
  const told = (events: Event[]) =>
    events.flatMap((event) => (event.type === 'agent.compacted' ? [event.error] : []))
  assert.match(told(await engine.turn(sessionId, '/compact [[fail 500]]'))[0]!, /status 500/)
  const { seq } = await engine.engine.turns.send({
    sessionId,
    input: [{ type: 'text', text: '/compact [[hang]]' }],
  })
  await engine.event('agent.compacting', { sessionId, after: seq })
  await engine.engine.turns.interrupt({ sessionId })
  assert.equal((await engine.event('agent.compacted', { sessionId, after: seq })).error, 'interrupted')
  const codes = eventsOf(engine, sessionId, 'agent.notice').map(({ code }) => code)
  assert.deepEqual(codes, ['compaction_failed', 'compaction_failed'])
})
