import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startTime } from '../../src/agents/host/process.ts'
import { CorralError } from '../../src/core/error.ts'
import type { Event, EventOf, EventType } from '../../src/core/event.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { goOn, HELD } from '../support/held.ts'

let t: TestEngine
before(async () => {
  t = await startEngine({ maxQueue: 3 })
})
after(() => t.stop())

async function newSession(mode: 'auto' | 'code' | 'plan' | 'ask' = 'auto'): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode })).id
}

function say(sessionId: string, text: string, key?: string) {
  return t.engine.turns.send({ sessionId, input: [{ type: 'text', text }], ...(key ? { key } : {}) })
}

function only<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event) => event.type === type) as unknown as EventOf<T>[]
}

const code = (wanted: string) => (error: unknown) => error instanceof CorralError && error.code === wanted

test('a message becomes a turn with streamed text, a complete message and usage', async () => {
  const id = await newSession()
  const events = await t.turn(id, '[[words 4]]')
  const text = only(events, 'message.delta')
    .map((e) => e.text)
    .join('')
  assert.equal(text, 'w1 w2 w3 w4')
  assert.equal(only(events, 'message.completed')[0]!.text, text)
  const [end] = only(events, 'turn.completed')
  assert.ok(end!.usage.outputTokens > 0)
  const session = t.engine.sessions.get(id)
  assert.equal(session.usage.outputTokens, end!.usage.outputTokens)
  assert.equal(session.turnCount, 1)
  assert.equal(
    t.log.events({ sessionId: id, after: 0, types: ['message.delta'], limit: 10 }).length,
    0,
    'deltas are gone',
  )
})

test('messages sent while a turn runs wait in order and run one at a time', async () => {
  const id = await newSession()
  const first = await say(id, HELD)
  const second = await say(id, '[[say two]]')
  const third = await say(id, '[[say three]]')
  assert.deepEqual(
    [first, second, third].map((sent) => sent.position),
    [0, 1, 2],
  )
  await goOn(t, id)
  await t.event('turn.completed', { sessionId: id, after: (await untilTurn(id, third.turnId)) - 1 })
  const order = t.engine.events
    .read({ sessionId: id, after: 0, limit: 1000, types: ['turn.started', 'turn.completed'] })
    .map(({ event }) => [event.type, event.turnId])
  assert.deepEqual(
    order,
    [first, second, third].flatMap(({ turnId }) => [
      ['turn.started', turnId],
      ['turn.completed', turnId],
    ]),
  )
})

async function untilTurn(sessionId: string, turnId: string): Promise<number> {
  for (let after = 0; ;) {
    const event = await t.event('turn.completed', { sessionId, after })
    if (event.turnId === turnId) return event.seq
    after = event.seq
  }
}

test('the same key is the same message, at the same time and later', async () => {
  const id = await newSession()
  const [one, two] = await Promise.all([say(id, 'hi', 'k1'), say(id, 'hi', 'k1')])
  assert.equal(one.turnId, two.turnId)
  await untilTurn(id, one.turnId)
  const later = await say(id, 'hi', 'k1')
  assert.deepEqual([later.turnId, later.repeated], [one.turnId, true])
  assert.equal(t.engine.sessions.get(id).turnCount, 1)
  const [a, b] = await Promise.all(
    [1, 2].map(() => t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, key: 'same' })),
  )
  assert.equal(a!.id, b!.id)
})

test('a full queue refuses with its limit', async () => {
  const id = await newSession()
  for (let i = 0; i < 4; i++) await say(id, '[[hang]]')
  await assert.rejects(say(id, 'one too many'), code('queue_full'))
  const { cancelled } = await t.engine.turns.interrupt({ sessionId: id, clearQueue: true })
  assert.equal(cancelled.length, 3)
})

test('an interrupt ends the running turn and the session goes on', async () => {
  const id = await newSession()
  const { seq } = await say(id, '[[drip 100000 30]]')
  await t.event('message.delta', { sessionId: id, after: seq })
  assert.deepEqual(await t.engine.turns.interrupt({ sessionId: id }), { interrupted: true, cancelled: [] })
  await t.event('turn.interrupted', { sessionId: id, after: seq })
  const [message] = only(
    t.engine.events.read({ sessionId: id, after: seq, limit: 99 }).map((e) => e.event),
    'message.completed',
  )
  assert.equal(message!.aborted, true)
  assert.match(message!.text, /^w1/)
  const events = await t.turn(id, '[[say back]]')
  assert.equal(only(events, 'message.completed')[0]!.text, 'back')
  assert.deepEqual(await t.engine.turns.interrupt({ sessionId: id }), { interrupted: false, cancelled: [] })
})

test('an interrupt before the agent has started stops the turn too', async () => {
  const id = await newSession()
  const { seq, turnId } = await say(id, '[[hang]]')
  await t.engine.turns.interrupt({ sessionId: id })
  assert.equal((await t.event('turn.interrupted', { sessionId: id, after: seq })).turnId, turnId)
  assert.equal(only(await t.turn(id, '[[say on]]'), 'message.completed')[0]!.text, 'on')
})

test('auto allows, plan denies, ask waits for a human, whose answer is taken exactly once', async () => {
  const auto = await t.turn(await newSession('auto'), '[[shell ls]]')
  assert.equal(only(auto, 'approval.resolved')[0]!.decision.behavior, 'allow')
  const plan = await t.turn(await newSession('plan'), '[[shell ls]]')
  assert.equal(only(plan, 'approval.resolved')[0]!.decision.behavior, 'deny')
  assert.equal(only(plan, 'tool.completed')[0]!.isError, true)

  const id = await newSession('ask')
  const { seq } = await say(id, '[[shell ls]]')
  const { approval } = await t.event('approval.requested', { sessionId: id, after: seq })
  assert.equal(t.engine.approvals.list({ sessionId: id, open: true, limit: 9 }).length, 1)
  const waiting = await t.event('session.status', { sessionId: id, after: seq + 3 })
  assert.equal(waiting.status, 'waiting')
  const decide = (behavior: 'allow' | 'deny') =>
    t.engine.approvals.decide({ approvalId: approval.id, by: 'test', decision: { behavior, comment: 'no' } })
  const answers = await Promise.allSettled([decide('deny'), decide('allow')])
  assert.deepEqual(
    answers.map((a) => a.status),
    ['fulfilled', 'rejected'],
  )
  await t.event('turn.completed', { sessionId: id, after: seq })
  await assert.rejects(decide('allow'), code('approval_resolved'))
  const result = await t.event('tool.completed', { sessionId: id, after: seq })
  assert.equal(result.isError, true)
})

test('an interrupt cancels open approvals', async () => {
  const id = await newSession('ask')
  const { seq } = await say(id, '[[shell ls]]')
  await t.event('approval.requested', { sessionId: id, after: seq })
  await t.engine.turns.interrupt({ sessionId: id })
  assert.equal(
    (await t.event('approval.resolved', { sessionId: id, after: seq })).decision.behavior,
    'cancelled',
  )
  await t.event('turn.interrupted', { sessionId: id, after: seq })
  assert.equal(t.engine.approvals.list({ sessionId: id, open: true, limit: 9 }).length, 0)
})

test('a question to the human waits even in auto and its answer reaches the agent', async () => {
  const id = await newSession('auto')
  const { seq } = await say(id, '[[ask Which colour?]]')
  const { approval } = await t.event('approval.requested', { sessionId: id, after: seq })
  assert.equal(approval.kind, 'question')
  const decision = { behavior: 'allow', answers: { 'Which colour?': 'blue' } } as const
  await t.engine.approvals.decide({ approvalId: approval.id, by: 'test', decision })
  const result = await t.event('tool.completed', { sessionId: id, after: seq })
  assert.match(result.output, /blue/)
})

test('a paused session holds its queue and its process, and goes on when resumed', async () => {
  const id = await newSession()
  const { seq } = await say(id, HELD)
  await t.event('approval.requested', { sessionId: id, after: seq })
  await t.engine.sessions.pause(id)
  await say(id, '[[say after]]')
  await goOn(t, id, '[[drip 6 20]]')
  assert.equal(t.engine.sessions.get(id).paused, true)
  assert.equal((await t.engine.sessions.resume(id)).paused, false)
  const first = await t.event('turn.completed', { sessionId: id, after: seq })
  assert.equal(first.text, 'w1 w2 w3 w4 w5 w6')
  assert.equal((await t.event('turn.completed', { sessionId: id, after: first.seq })).text, 'after')
})

test('a fork remembers what was said before it and goes its own way', async () => {
  const id = await newSession()
  await t.turn(id, 'hello [[remember plum]]')
  const fork = await t.engine.sessions.fork({ sessionId: id })
  assert.equal(fork.parentId, id)
  const text = async (session: string): Promise<string> =>
    only(await t.turn(session, '[[recall]]'), 'message.completed')[0]!.text
  assert.equal(await text(fork.id), 'recall: plum')
  await t.turn(fork.id, 'now [[remember fig]]')
  assert.equal(await text(id), 'recall: plum')
  assert.equal(await text(fork.id), 'recall: fig')
})

test('a fork is like the session it branches off, but for what is given', async () => {
  const rules = { allow: ['Bash(ls)'], deny: ['Write'], acceptEdits: true, skipUntil: null }
  const settings = { appendSystemPrompt: 'short', approvalTimeoutMs: 5000 }
  const given = {
    agent: 'demo',
    cwd: t.cwd,
    mode: 'code',
    title: 'first',
    model: 'm1',
    settings,
    rules,
  } as const
  const parent = await t.engine.sessions.create(given)
  const like = await t.engine.sessions.fork({ sessionId: parent.id })
  const { id: _, parentId, createdAt: __, activeAt: ___, ...rest } = like
  assert.equal(parentId, parent.id)
  assert.deepEqual(
    { mode: rest.mode, title: rest.title, model: rest.model, settings: rest.settings, rules: rest.rules },
    { mode: 'code', title: 'first', model: 'm1', settings, rules },
  )
  const changes = {
    title: null,
    model: 'm2',
    settings: { maxTurns: 3 },
    id: 'chosen-by-the-caller',
    key: 'fork',
  }
  const other = await t.engine.sessions.fork({ sessionId: parent.id, ...changes })
  assert.equal(other.id, 'chosen-by-the-caller')
  assert.deepEqual([other.title, other.model, other.settings], [null, 'm2', { maxTurns: 3 }])
  assert.equal(
    (await t.engine.sessions.fork({ sessionId: parent.id, ...changes })).id,
    other.id,
    'the same key',
  )
  const again = t.engine.sessions.fork({ sessionId: parent.id, id: other.id })
  await assert.rejects(again, code('invalid'), 'an id is taken once')
  await t.engine.sessions.configure({ sessionId: parent.id, rules: { deny: [] } })
  assert.deepEqual(t.engine.sessions.get(like.id).rules, rules, 'each goes its own way')
  const leaves = t.engine.sessions.list({ leaves: true, limit: 99 }).map(({ id }) => id)
  assert.deepEqual(
    [parent.id, like.id, other.id].map((id) => leaves.includes(id)),
    [false, true, true],
  )
})

test('a session is put away and taken out again, and found by the conversation it goes on with', async () => {
  const id = await newSession()
  await t.turn(id, '[[say last words]]')
  assert.equal(t.engine.turns.list(id, 1)[0]?.text, 'last words')
  const { nativeId } = t.engine.sessions.get(id)
  assert.equal(t.engine.sessions.byNativeId(nativeId!)?.id, id)
  assert.equal(t.engine.sessions.byNativeId('nobody'), null)
  assert.equal((await t.engine.sessions.configure({ sessionId: id, archived: true })).archived, true)
  const archived = (): string[] => t.engine.sessions.list({ archived: true, limit: 99 }).map((one) => one.id)
  assert.deepEqual(archived(), [id])
  await t.turn(id, 'still there')
  assert.deepEqual(archived(), [id], 'out of sight, not gone')
  await t.engine.sessions.configure({ sessionId: id, archived: false })
  assert.deepEqual(archived(), [])
  assert.equal(t.engine.sessions.recentPaths(1)[0]?.path, t.cwd)
})

test('a destroyed session is gone, with its process, queue and approvals', async () => {
  const id = await newSession()
  const { seq } = await say(id, '[[hang]]')
  const queued = await say(id, 'never')
  const { run } = await t.event('agent.started', { sessionId: id, after: seq })
  await t.engine.sessions.destroy(id)
  assert.equal(startTime(run.pid), null, 'the process is gone')
  assert.throws(() => t.engine.sessions.get(id), code('session_not_found'))
  await assert.rejects(say(id, 'hello?'), code('session_not_found'))
  assert.equal(t.engine.turns.get(queued.turnId).state, 'cancelled')
})

test('one event for every change of status, none for what is no change', async () => {
  const id = await newSession()
  await t.turn(id, 'one')
  await t.turn(id, '[[shell ls]]')
  const statuses = t.engine.events.read({ sessionId: id, after: 0, limit: 99, types: ['session.status'] })
  const changes = statuses.map(({ event }) => (event.type === 'session.status' ? event.status : ''))
  assert.deepEqual(changes, ['running', 'idle', 'running', 'idle'])
})

test('unknown agents, missing directories and unknown ids are refused', async () => {
  await assert.rejects(t.engine.sessions.create({ agent: 'nobody', cwd: t.cwd }), code('agent_unknown'))
  await assert.rejects(
    t.engine.sessions.create({ agent: 'demo', cwd: '/no/such/dir' }),
    code('path_not_found'),
  )
  await assert.rejects(say('nope', 'x'), code('session_not_found'))
  const decision = { behavior: 'allow' } as const
  await assert.rejects(
    t.engine.approvals.decide({ approvalId: 'nope', by: 'x', decision }),
    code('approval_not_found'),
  )
})

test('an engine that is on its way out starts nothing any more', async () => {
  const other = await startEngine()
  try {
    const { id } = await other.engine.sessions.create({ agent: 'demo', cwd: other.cwd })
    other.stopping()
    const send = other.engine.turns.send({ sessionId: id, input: [{ type: 'text', text: 'late' }] })
    await assert.rejects(send, code('stopping'))
    await assert.rejects(other.engine.sessions.create({ agent: 'demo', cwd: other.cwd }), code('stopping'))
  } finally {
    await other.stop()
  }
})
