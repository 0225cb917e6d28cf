import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { CorralError } from '../../src/core/error.ts'
import type { Event, EventOf, EventType } from '../../src/core/event.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../support/engine.ts'

async function engineFor(context: TestContext, options: TestEngineOptions = {}): Promise<TestEngine> {
  const t = await startEngine(options)
  context.after(() => t.stop())
  return t
}

async function newSession(t: TestEngine, mode: 'auto' | 'ask' = 'ask'): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode })).id
}

const input = (text: string) => [{ type: 'text' as const, text }]
const say = (t: TestEngine, sessionId: string, text: string) =>
  t.engine.turns.send({ sessionId, input: input(text) })
const steer = (t: TestEngine, sessionId: string, text: string, key?: string) =>
  t.engine.turns.steer({ sessionId, input: input(text), ...(key === undefined ? {} : { key }) })
const code = (wanted: string) => (error: unknown) => error instanceof CorralError && error.code === wanted

function eventsOf(t: TestEngine, sessionId: string): Event[] {
  return t.engine.events.read({ sessionId, after: 0, limit: 1000, whole: true }).map(({ event }) => event)
}

function only<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event) => event.type === type) as unknown as EventOf<T>[]
}

const texts = (t: TestEngine, sessionId: string) =>
  only(eventsOf(t, sessionId), 'message.completed').map(({ text }) => text)

/** A turn that waits for an answer about a tool, so that there is another round of it. */
async function asked(t: TestEngine, sessionId: string): Promise<{ turnId: string; approvalId: string }> {
  const { turnId, seq } = await say(t, sessionId, '[[shell make]]')
  const { approval } = await t.event('approval.requested', { sessionId, after: seq })
  return { turnId, approvalId: approval.id }
}

const allow = (t: TestEngine, approvalId: string) =>
  t.engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'test' })

async function ended(t: TestEngine, sessionId: string, turnId: string): Promise<void> {
  for (let after = 0; ;) {
    const event = await t.event('turn.completed', { sessionId, after })
    if (event.turnId === turnId) return
    after = event.seq
  }
}

test('a steer is part of the running turn, at its place in it', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { turnId, approvalId } = await asked(t, id)
  const { steerId, turnId: steered, seq } = await steer(t, id, '[[say steered]]')
  assert.equal(steered, turnId)
  assert.equal(t.engine.sessions.get(id).steers.length, 1)
  await allow(t, approvalId)
  await ended(t, id, turnId)
  const events = eventsOf(t, id)
  const [accepted, ...more] = only(events, 'turn.steer_accepted')
  assert.deepEqual(
    [accepted!.steerId, accepted!.turnId, accepted!.input, more.length],
    [steerId, turnId, input('[[say steered]]'), 0],
  )
  // That the decision has been written may be noted at any time after it.
  const order = events
    .filter(({ type, seq: at }) => at > seq && type !== 'approval.delivered')
    .map(({ type }) => type)
  assert.ok(order.indexOf('tool.completed') < order.indexOf('turn.steer_accepted'))
  assert.deepEqual(order.slice(-4, -1), ['turn.steer_accepted', 'message.completed', 'turn.completed'])
  assert.deepEqual(texts(t, id), ['steered'])
  assert.deepEqual([t.engine.sessions.get(id).turnCount, t.engine.sessions.get(id).steers], [1, []])
})

test('a steer that comes too late is the next turn, before what waits, and runs once', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { seq } = await say(t, id, '[[drip 30 100]]')
  const waiting = await say(t, id, '[[say waited]]')
  await t.event('message.delta', { sessionId: id, after: seq })
  const first = await steer(t, id, '[[say late]]')
  const second = await steer(t, id, '[[say later]]')
  await ended(t, id, waiting.turnId)
  assert.deepEqual(texts(t, id).slice(1), ['late', 'later', 'waited'])
  const queued = only(eventsOf(t, id), 'turn.queued').filter((event) => event.late)
  assert.deepEqual(
    queued.map(({ turnId }) => turnId),
    [first.steerId, second.steerId],
  )
  assert.equal(t.engine.turns.get(first.steerId).state, 'completed')
  assert.deepEqual(only(eventsOf(t, id), 'turn.steer_accepted'), [])
})

test('a steer before the agent has even started reaches it', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { turnId } = await say(t, id, '[[shell make]]')
  await steer(t, id, '[[say early]]')
  const { approval } = await t.event('approval.requested', { sessionId: id })
  await allow(t, approval.id)
  await ended(t, id, turnId)
  assert.deepEqual(texts(t, id), ['early'])
})

test('no turn, no steer; nor for an agent that cannot', async (context) => {
  const deaf = { ...demoDriver, name: 'deaf', capabilities: { ...demoDriver.capabilities, steer: false } }
  const t = await engineFor(context, { drivers: [demoDriver, deaf] })
  const id = await newSession(t)
  await assert.rejects(steer(t, id, 'hi'), code('not_running'))
  const { seq } = await say(t, id, '[[hang]]')
  await t.event('turn.accepted', { sessionId: id, after: seq })
  await t.engine.turns.interrupt({ sessionId: id })
  await assert.rejects(steer(t, id, 'hi'), code('not_running'))
  const other = (await t.engine.sessions.create({ agent: 'deaf', cwd: t.cwd })).id
  await say(t, other, '[[hang]]')
  await assert.rejects(steer(t, other, 'hi'), code('unsupported'))
  assert.deepEqual(only(eventsOf(t, other), 'turn.steered'), [])
})

test('the same key is the same steer, at the same time and after its turn', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { turnId, approvalId } = await asked(t, id)
  const [one, two] = await Promise.all([steer(t, id, '[[say x]]', 'k'), steer(t, id, '[[say x]]', 'k')])
  assert.equal(one.steerId, two.steerId)
  await allow(t, approvalId)
  await ended(t, id, turnId)
  const again = await steer(t, id, '[[say x]]', 'k')
  assert.deepEqual([again.steerId, again.turnId, again.repeated], [one.steerId, turnId, true])
  assert.equal(only(eventsOf(t, id), 'turn.steered').length, 1)
})

test('an interrupt leaves what was not taken for the next turn; clearing the queue takes it back', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const hang = async () => {
    const { seq } = await say(t, id, '[[hang]]')
    await t.event('turn.accepted', { sessionId: id, after: seq })
  }
  await hang()
  const kept = await steer(t, id, '[[say kept]]')
  await t.engine.turns.interrupt({ sessionId: id })
  await ended(t, id, kept.steerId)
  await hang()
  const dropped = await steer(t, id, '[[say dropped]]')
  const { cancelled } = await t.engine.turns.interrupt({ sessionId: id, clearQueue: true })
  assert.deepEqual(cancelled, [dropped.steerId])
  const { seq } = await t.event('turn.interrupted', { sessionId: id, after: dropped.seq })
  await t.turn(id, '[[say after]]')
  assert.deepEqual(texts(t, id), ['kept', 'after'])
  assert.deepEqual(only(eventsOf(t, id).slice(seq), 'turn.steer_accepted'), [])
})

test('an agent that dies under a steer leaves it to the next one', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  await asked(t, id)
  const { steerId } = await steer(t, id, '[[say survived]]')
  process.kill(-t.engine.sessions.get(id).run!.pid, 'SIGKILL')
  await ended(t, id, steerId)
  assert.deepEqual(texts(t, id), ['survived'])
})

test('a steer that was never written is, by the next engine', async (context) => {
  const mute: AgentDriver = {
    ...demoDriver,
    encode: (intent) => (intent.kind === 'steer' ? [] : demoDriver.encode(intent)),
  }
  let t = await startEngine({ drivers: [mute] })
  context.after(() => t.stop())
  const id = await newSession(t)
  const { turnId, approvalId } = await asked(t, id)
  await steer(t, id, '[[say at last]]')
  const { home } = t
  await t.abandon()
  t = await startEngine({ home })
  await allow(t, approvalId)
  await ended(t, id, turnId)
  const [taken, late] = [
    only(eventsOf(t, id), 'turn.steer_accepted').length,
    only(eventsOf(t, id), 'turn.queued').filter((event) => event.late).length,
  ]
  assert.equal(taken + late, 1)
})

test('taken up by another engine a steer arrives once, whether it was written or not', async (context) => {
  let t = await startEngine()
  context.after(() => t.stop())
  const id = await newSession(t)
  const { turnId, approvalId } = await asked(t, id)
  const { home } = t
  const { steerId } = await steer(t, id, '[[say again]]')
  await t.abandon()
  t = await startEngine({ home })
  assert.equal(t.engine.sessions.get(id).steers[0]?.id, steerId)
  await allow(t, approvalId)
  await ended(t, id, turnId)
  assert.deepEqual(texts(t, id), ['again'])
  assert.equal(only(eventsOf(t, id), 'turn.steer_accepted').length, 1)
})
