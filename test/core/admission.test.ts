import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import * as decide from '../../src/core/decide.ts'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import type { WhenBusy } from '../../src/core/command.ts'
import { CorralError } from '../../src/core/error.ts'
import type { Event, EventBody } from '../../src/core/event.ts'
import type { Session } from '../../src/core/session.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../support/engine.ts'
import { after, AROUND, aSession, running } from '../support/session.ts'

/*
 * What becomes of a message to a session that is busy.
 */

test('a message that no model would take is refused before it is anywhere', async (t) => {
  const given = await engineFor(t)
  const id = await newSession(given)
  const head = given.engine.events.head
  const large = 'x'.repeat(32 * 1024 ** 2)
  await assert.rejects(send(given, id, `${large}!`, 'queue'), { code: 'invalid', data: { field: 'content' } })
  assert.equal(given.engine.events.head, head)
})

const types = (bodies: EventBody[]): string[] => bodies.map((body) => body.type)
const refused = (code: string, reason?: string) => (error: unknown) =>
  error instanceof CorralError && error.code === code && error.data['reason'] === reason
const wish = (busy: WhenBusy) => ({ sessionId: 's1', input: [], busy })

async function engineFor(context: TestContext, options: TestEngineOptions = {}): Promise<TestEngine> {
  const t = await startEngine(options)
  context.after(() => t.stop())
  return t
}

const newSession = async (t: TestEngine, agent = 'demo') =>
  (await t.engine.sessions.create({ agent, cwd: t.cwd, mode: 'ask' })).id
const send = (t: TestEngine, sessionId: string, text: string, busy: WhenBusy, key?: string) =>
  t.engine.turns.send({ sessionId, input: [{ type: 'text', text }], busy, ...(key !== undefined && { key }) })
const told = (t: TestEngine, sessionId: string): Event[] =>
  t.engine.events.read({ sessionId, after: 0, limit: 1000, whole: true }).map(({ event }) => event)

test('a message that is not to wait begins at once or is refused, with the reason', () => {
  const idle = aSession()
  assert.deepEqual(types(decide.send(idle, 't1', wish('refuse'), 10)), ['turn.queued', 'turn.started'])
  const busy = after(idle, decide.send(idle, 't1', wish('refuse'), 10))
  assert.throws(
    () => decide.send(busy, 't2', wish('refuse'), 10),
    refused('conversation_busy', 'turn_running'),
  )
  const paused = after(busy, decide.setPaused(busy, true))
  assert.throws(() => decide.send(paused, 't2', wish('refuse'), 10), refused('conversation_busy', 'paused'))
  const held = after(idle, decide.setPaused(idle, true))
  const waiting = after(held, decide.send(held, 't1', wish('queue'), 10))
  const resumed = after(waiting, decide.setPaused(waiting, false))
  assert.throws(() => decide.send(resumed, 't2', wish('refuse'), 10), refused('conversation_busy', 'queue'))
})

test('a message that may steer goes to the turn that runs, and is a turn of its own where none does', () => {
  assert.deepEqual(types(decide.send(running(), 's', wish('steer'), 10)), ['turn.steered'])
  assert.deepEqual(types(decide.send(aSession(), 's', wish('steer'), 10)), ['turn.queued', 'turn.started'])
  const stopping = after(running(), decide.interrupt(running(), false))
  assert.deepEqual(types(decide.send(stopping, 's', wish('steer'), 10)), ['turn.queued'])
})

test('a message that interrupts is the next, before all that wait, and stops nothing where nothing runs', () => {
  const busy = after(running(), decide.send(running(), 'waits', wish('queue'), 10))
  const events = decide.send(busy, 'now', wish('interrupt'), 10)
  assert.deepEqual(types(events), ['turn.interrupting', 'turn.queued', 'turn.moved'])
  assert.deepEqual(after(busy, events).queue, ['now', 'waits'])
  assert.deepEqual(types(decide.send(aSession(), 't', wish('interrupt'), 10)), [
    'turn.queued',
    'turn.started',
  ])
})

test('of many that come at once and are not to wait, one begins and nobody hears of the others', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const came = await Promise.allSettled([1, 2, 3, 4].map((n) => send(t, id, `[[hang ${n}]]`, 'refuse')))
  assert.deepEqual(
    came.map(({ status }) => status),
    ['fulfilled', 'rejected', 'rejected', 'rejected'],
  )
  const about = told(t, id).filter(({ type }) => type === 'turn.queued' || type === 'turn.cancelled')
  assert.equal(about.length, 1)
})

test('a message that may steer says which turn has it, also when it comes again', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const first = await send(t, id, '[[hang]]', 'steer')
  assert.deepEqual([first.position, first.steered], [0, undefined])
  const steered = await send(t, id, 'and this', 'steer', 'k')
  assert.equal(steered.steered, first.turnId)
  assert.deepEqual(await send(t, id, 'and this', 'steer', 'k'), { ...steered, repeated: true })
  assert.equal(told(t, id).filter(({ type }) => type === 'turn.steered').length, 1)
})

test('an agent that takes nothing in the middle of a turn refuses to be steered, and nothing is written', async (context) => {
  const capabilities = { ...demoDriver.capabilities, steer: false }
  const deaf = { ...demoDriver, name: 'deaf', capabilities } as AgentDriver
  const t = await engineFor(context, { drivers: [demoDriver, deaf] })
  const id = await newSession(t, 'deaf')
  await send(t, id, '[[hang]]', 'steer')
  const before = t.engine.events.head
  await assert.rejects(send(t, id, 'and this', 'steer'), refused('unsupported'))
  assert.equal(told(t, id).filter(({ type, seq }) => seq > before && type.startsWith('turn.')).length, 0)
})

test('a message that interrupts runs when the turn before it has stopped', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const first = await send(t, id, '[[hang]]', 'queue')
  const second = await send(t, id, '[[say later]]', 'queue')
  const { turnId, position, seq } = await send(t, id, '[[say now]]', 'interrupt')
  assert.equal(position, 1)
  assert.equal(told(t, id).find((event) => event.seq === seq)?.type, 'turn.queued')
  await t.event('turn.interrupted', { sessionId: id })
  const now = await t.event('turn.completed', { sessionId: id })
  const later = await t.event('turn.completed', { sessionId: id, after: now.seq })
  assert.deepEqual([now.turnId, later.turnId], [turnId, second.turnId])
  assert.equal(t.engine.turns.get(first.turnId).state, 'interrupted')
})

test('an interrupt of one message takes it out of the queue, stops it, or does nothing to those after it', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const first = await send(t, id, '[[hang]]', 'queue')
  const second = await send(t, id, '[[hang]]', 'queue')
  const third = await send(t, id, '[[say last]]', 'queue')
  const stop = (turnId: string) => t.engine.turns.interrupt({ sessionId: id, turnId })
  assert.deepEqual(await stop(second.turnId), { interrupted: false, cancelled: [second.turnId] })
  assert.deepEqual(await stop(first.turnId), { interrupted: true, cancelled: [] })
  await t.event('turn.interrupted', { sessionId: id })
  assert.deepEqual(await stop(first.turnId), { interrupted: false, cancelled: [] })
  assert.equal((await t.event('turn.completed', { sessionId: id })).turnId, third.turnId)
})

test('out of a plan a session goes back to the mode that it had before, whoever put it there', () => {
  const plan = (state: Session, wanted: boolean): Session =>
    after(state, decide.configure(state, { sessionId: 's1', plan: wanted }, AROUND))
  const code = aSession({ mode: 'code' })
  assert.equal(plan(code, true).mode, 'plan')
  assert.equal(plan(plan(code, true), false).mode, 'code')
  assert.equal(plan(plan(plan(code, true), true), false).mode, 'code', 'twice is once')
  assert.equal(plan(code, false), code, 'nothing changes outside of a plan')
  const byHand = after(code, decide.configure(code, { sessionId: 's1', mode: 'plan' }, AROUND))
  assert.equal(plan(byHand, false).mode, 'code')
  const byItself = after(code, decide.absorb(code, { type: 'mode.observed', mode: 'plan' }, AROUND))
  assert.equal(plan(byItself, false).mode, 'code')
  assert.equal(plan(aSession({ mode: 'plan' }), false).mode, 'ask', 'it never had another')
})
