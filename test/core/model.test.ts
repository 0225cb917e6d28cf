import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as decide from '../../src/core/decide.ts'
import type { EventBody } from '../../src/core/event.ts'
import { modelInUse } from '../../src/core/model.ts'
import { apply, type Session } from '../../src/core/session.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { after, aSession } from '../support/session.ts'

const init = (model: string | null): EventBody => {
  return { type: 'agent.init', nativeId: null, model, version: null, raw: null }
}
const choose = (model: string | null): EventBody => ({ type: 'session.changed', model })
const uses = (model: string): EventBody => ({ type: 'agent.model', model })
const done = (turnId: string): EventBody => ({ type: 'turn.completed', turnId, usage: NO_USAGE, text: null })
const begun = (state: Session, turnId: string): Session =>
  after(state, decide.send(state, turnId, { sessionId: 's1', input: [] }, 10))

test('the model in use is what the agent has said since the last choice, and before that the choice', () => {
  const own = aSession({ model: null })
  assert.equal(modelInUse(own), null)
  assert.equal(modelInUse(after(own, [init(null)])), null)
  assert.equal(modelInUse(after(own, [init('a-1')])), 'a-1')
  assert.equal(modelInUse(after(own, [init('a-1'), choose('b')])), 'b')
  assert.equal(modelInUse(after(own, [init('a-1'), choose('b'), uses('b-2')])), 'b-2')
  assert.equal(modelInUse(after(own, [init('a-1'), choose('b'), choose(null)])), null)
  assert.equal(modelInUse(after(own, [choose('b'), init('b-2'), uses('c')])), 'c', 'a fallback')
})

test('what a turn says that began before the last choice is about that turn only', () => {
  const running = begun(aSession({ model: 'a' }), 't1')
  assert.deepEqual([running.turn?.mode, running.turn?.model], ['ask', 'a'])
  const rechosen = after(running, [choose('b'), init('a-1')])
  assert.deepEqual([modelInUse(rechosen), rechosen.turn?.model], ['b', 'a-1'])
  const next = begun(after(rechosen, [done('t1')]), 't2')
  assert.equal(next.turn?.model, 'b')
  const told = after(next, [init('b-2')])
  assert.deepEqual([modelInUse(told), told.turn?.model], ['b-2', 'b-2'])
})

test('a mode holds at once, for the running turn as well', () => {
  const running = begun(aSession({ mode: 'ask' }), 't1')
  assert.equal(after(running, [{ type: 'session.changed', mode: 'plan' }]).turn?.mode, 'plan')
})

test('sessions and turns of older logs have no such facts, and go on', () => {
  const { usedModel: _, ...older } = aSession({ model: 'a' })
  assert.equal(modelInUse(older), 'a')
  const event = { seq: 1, at: 1, sessionId: 's1', type: 'turn.started', turnId: 't1' } as const
  const running = apply(older, event)
  const { chosenModel: __, mode: ___, model: ____, ...turn } = running.turn!
  assert.equal(modelInUse(after({ ...running, turn }, [init('a-1')])), 'a-1')
})
