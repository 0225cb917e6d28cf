import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { textOf } from '../../src/core/content.ts'
import * as decide from '../../src/core/decide.ts'
import { emptyConversation, step } from '../../src/core/conversation/conversation.ts'
import { CorralError } from '../../src/core/error.ts'
import type { Event, EventOf, EventType } from '../../src/core/event.ts'
import { editTurn } from '../../src/core/queueing.ts'
import { NO_USAGE } from '../../src/core/usage.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../support/engine.ts'
import { after, running } from '../support/session.ts'

async function engineFor(context: TestContext, options: TestEngineOptions = {}): Promise<TestEngine> {
  const t = await startEngine(options)
  context.after(() => t.stop())
  return t
}

const input = (text: string) => [{ type: 'text' as const, text }]
const code = (wanted: string) => (error: unknown) => error instanceof CorralError && error.code === wanted

async function newSession(t: TestEngine, agent = 'demo'): Promise<string> {
  return (await t.engine.sessions.create({ agent, cwd: t.cwd, mode: 'ask' })).id
}

function say(t: TestEngine, sessionId: string, text: string, key?: string) {
  return t.engine.turns.send({ sessionId, input: input(text), ...(key !== undefined && { key }) })
}

/** A turn that waits for an answer, so that there is another round of it, and a message that waits behind it. */
async function busy(t: TestEngine, sessionId: string, waiting: string, key?: string) {
  const { turnId, seq } = await say(t, sessionId, '[[shell make]]')
  const { approval } = await t.event('approval.requested', { sessionId, after: seq })
  const queued = await say(t, sessionId, waiting, key)
  return { turnId, approvalId: approval.id, queued: queued.turnId }
}

const allow = (t: TestEngine, approvalId: string) =>
  t.engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'test' })

async function ended(t: TestEngine, sessionId: string, turnId: string): Promise<void> {
  const isEnd = (event: Event): boolean => event.type === 'turn.completed' && event.turnId === turnId
  await t.read({ after: 0, sessionId }, `the end of ${turnId}`, ({ event }) => isEnd(event))
}

function eventsOf(t: TestEngine, sessionId: string): Event[] {
  return t.engine.events.read({ sessionId, after: 0, limit: 1000, whole: true }).map(({ event }) => event)
}

function only<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event) => event.type === type) as unknown as EventOf<T>[]
}

/** What users have said, as the conversation tells it. */
function said(t: TestEngine, sessionId: string): string[] {
  const conversation = emptyConversation()
  return eventsOf(t, sessionId)
    .flatMap((event) => step(conversation, event))
    .flatMap((change) => (change.type === 'said' ? [textOf(change.message.content)] : []))
}

const answers = (t: TestEngine, sessionId: string) =>
  only(eventsOf(t, sessionId), 'message.completed').map(({ text }) => text)

const hits = (t: TestEngine, text: string) =>
  t.engine.search({ text, limit: 10 }).hits.filter(({ role }) => role === 'user')

test('a message that was edited while it waited is told once, as it was when its turn began, and is found by that', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { approvalId, queued } = await busy(t, id, '[[say walrus]]')
  await t.engine.turns.edit({ sessionId: id, turnId: queued, input: input('[[say penguin]]') })
  const turn = await t.engine.turns.edit({ sessionId: id, turnId: queued, input: input('[[say ostrich]]') })
  assert.deepEqual([turn.id, turn.state, turn.input], [queued, 'queued', input('[[say ostrich]]')])
  assert.deepEqual(t.engine.turns.get(queued).input, input('[[say ostrich]]'))
  assert.deepEqual([hits(t, 'walrus'), hits(t, 'penguin')], [[], []])
  assert.deepEqual(
    hits(t, 'ostrich').map(({ text, turnId }) => [text, turnId]),
    [['[[say ostrich]]', queued]],
  )
  await allow(t, approvalId)
  await ended(t, id, queued)
  assert.deepEqual(said(t, id), ['[[shell make]]', '[[say ostrich]]'])
  assert.equal(answers(t, id).at(-1), 'ostrich')
  const late = t.engine.turns.edit({ sessionId: id, turnId: queued, input: input('too late') })
  await assert.rejects(late, code('turn_not_found'))
})

test('an edited message that is taken out of the queue is found no more', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { queued } = await busy(t, id, 'walrus')
  await t.engine.turns.edit({ sessionId: id, turnId: queued, input: input('penguin') })
  await t.engine.turns.cancel(id, queued)
  assert.deepEqual([hits(t, 'walrus'), hits(t, 'penguin')], [[], []])
})

test('only what waits can be edited, and only into what the agent can be told', async (context) => {
  const blind = { ...demoDriver, name: 'blind', capabilities: { ...demoDriver.capabilities, images: false } }
  const t = await engineFor(context, { drivers: [demoDriver, blind] })
  const id = await newSession(t, 'blind')
  const { turnId, queued } = await busy(t, id, 'waits')
  const edit = (which: string) => t.engine.turns.edit({ sessionId: id, turnId: which, input: input('x') })
  await assert.rejects(edit(turnId), code('turn_not_found'))
  await assert.rejects(edit('nobody'), code('turn_not_found'))
  const image = { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' }
  const shown = t.engine.turns.edit({ sessionId: id, turnId: queued, input: [image] })
  await assert.rejects(shown, code('unsupported'))
  assert.deepEqual(only(eventsOf(t, id), 'turn.edited'), [])
})

test('what came too late for a turn the agent may have read: it cannot be edited, only taken out', () => {
  const steered = after(running(), decide.steer(running(), 'x1', { sessionId: 's1', input: [] }, 10))
  const over = after(steered, [
    { type: 'session.changed', paused: true },
    { type: 'turn.completed', turnId: 't1', usage: NO_USAGE, text: null },
  ])
  const late = after(over, decide.promote(over))
  const waiting = after(late, decide.send(late, 't2', { sessionId: 's1', input: [] }, 10))
  assert.deepEqual(waiting.queue, ['x1', 't2'])
  assert.throws(() => editTurn(waiting, 'x1', input('other')), code('turn_not_found'))
  assert.equal(editTurn(waiting, 't2', input('other')).length, 1)
  const gone = after(waiting, decide.cancelTurn(waiting, 'x1'))
  assert.deepEqual([gone.queue, gone.lateTurns], [['t2'], []])
})

test('an edited message runs as edited with the next engine', async (context) => {
  let t = await startEngine()
  context.after(() => t.stop())
  const id = await newSession(t)
  const { approvalId, queued } = await busy(t, id, '[[say before]]')
  await t.engine.turns.edit({ sessionId: id, turnId: queued, input: input('[[say after]]') })
  const { home } = t
  await t.abandon()
  t = await startEngine({ home })
  await allow(t, approvalId)
  await ended(t, id, queued)
  assert.equal(answers(t, id).at(-1), 'after')
})

test('a message that waits becomes a steer of the running turn, once, under its own id', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { turnId, approvalId, queued } = await busy(t, id, '[[say joined]]', 'k')
  const [one, two] = await Promise.all([
    t.engine.turns.steerQueued(id, queued),
    t.engine.turns.steerQueued(id, queued),
  ])
  assert.deepEqual([one.steerId, one.turnId, one.repeated], [queued, turnId, false])
  assert.deepEqual(two, { ...one, repeated: true })
  const { queue, steers } = t.engine.sessions.get(id)
  assert.deepEqual([queue, steers.map((steer) => [steer.id, steer.seq])], [[], [[queued, one.seq]]])
  assert.equal(eventsOf(t, id).find(({ seq }) => seq === one.seq)?.type, 'turn.steered')
  assert.equal((await say(t, id, '[[say joined]]', 'k')).turnId, queued, 'its key is still known')
  await allow(t, approvalId)
  await ended(t, id, turnId)
  assert.deepEqual(said(t, id), ['[[shell make]]', '[[say joined]]'])
  assert.deepEqual(answers(t, id), ['joined'])
  assert.equal(t.engine.turns.get(queued).state, 'cancelled')
  assert.deepEqual(await t.engine.turns.steerQueued(id, queued), { ...one, repeated: true })
  assert.equal(hits(t, 'joined').length, 1)
})

test('a queued message that comes too late as a steer is the next turn, before what waits', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { seq, turnId } = await say(t, id, '[[drip 30 100]]')
  const first = await say(t, id, '[[say first]]')
  const second = await say(t, id, '[[say second]]', 'k')
  await t.event('message.delta', { sessionId: id, after: seq })
  const { turnId: steered } = await t.engine.turns.steerQueued(id, second.turnId)
  assert.equal(steered, turnId)
  await ended(t, id, first.turnId)
  assert.deepEqual(answers(t, id).slice(1), ['second', 'first'])
  const turn = t.engine.turns.get(second.turnId)
  assert.deepEqual([turn.state, turn.key], ['completed', 'k'])
  assert.equal((await say(t, id, '[[say second]]', 'k')).turnId, second.turnId)
  assert.equal(hits(t, 'second').length, 1)
})

test('an edit that is on its way to the log is what the steer says', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { turnId, approvalId, queued } = await busy(t, id, '[[say before]]')
  const edited = t.engine.turns.edit({ sessionId: id, turnId: queued, input: input('[[say after]]') })
  await Promise.all([edited, t.engine.turns.steerQueued(id, queued)])
  await allow(t, approvalId)
  await ended(t, id, turnId)
  assert.deepEqual(answers(t, id), ['after'])
})

test('what cannot be brought to the running turn stays in the queue', async (context) => {
  const deaf = { ...demoDriver, name: 'deaf', capabilities: { ...demoDriver.capabilities, steer: false } }
  const t = await engineFor(context, { drivers: [demoDriver, deaf] })
  const id = await newSession(t)
  const { turnId, queued } = await busy(t, id, '/compact')
  const steer = (sessionId: string, which: string) => t.engine.turns.steerQueued(sessionId, which)
  await assert.rejects(steer(id, queued), code('unsupported'))
  await assert.rejects(steer(id, turnId), code('turn_not_found'))
  await assert.rejects(steer(id, 'nobody'), code('turn_not_found'))
  const other = await newSession(t, 'deaf')
  const waits = await busy(t, other, 'waits')
  await assert.rejects(steer(other, waits.queued), code('unsupported'))
  const paused = await newSession(t)
  await t.engine.sessions.pause(paused)
  const held = await say(t, paused, 'held')
  await assert.rejects(steer(paused, held.turnId), code('not_running'))
  for (const session of [id, other, paused]) {
    assert.equal(t.engine.sessions.get(session).queue.length, 1)
    assert.deepEqual(only(eventsOf(t, session), 'turn.cancelled'), [])
  }
})

test('taken up by another engine, a queued message that was made a steer arrives once', async (context) => {
  let t = await startEngine()
  context.after(() => t.stop())
  const id = await newSession(t)
  const { turnId, approvalId, queued } = await busy(t, id, '[[say again]]')
  await t.engine.turns.steerQueued(id, queued)
  const { home } = t
  await t.abandon()
  t = await startEngine({ home })
  assert.equal(t.engine.sessions.get(id).steers[0]?.id, queued)
  await allow(t, approvalId)
  await ended(t, id, turnId)
  assert.deepEqual(answers(t, id), ['again'])
  assert.equal(only(eventsOf(t, id), 'turn.steer_accepted').length, 1)
})

test('a steer that is taken back with the queue is found no more', async (context) => {
  const t = await engineFor(context)
  const id = await newSession(t)
  const { queued } = await busy(t, id, 'walrus')
  await t.engine.turns.steerQueued(id, queued)
  await t.engine.turns.interrupt({ sessionId: id, clearQueue: true })
  assert.deepEqual(hits(t, 'walrus'), [])
  assert.equal(t.engine.turns.get(queued).state, 'cancelled')
})
