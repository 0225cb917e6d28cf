import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { CorralError } from '../../src/core/error.ts'
import { EXTERNAL_AGENT } from '../../src/core/external.ts'
import { statusOf } from '../../src/core/session.ts'
import { allow, answerTo, ask, code, eventsOf, newSession, resolved, statusesOf } from '../support/asking.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

/** An agent that was there when the session was made and is not any more. */
const broken: AgentDriver = {
  ...demoDriver,
  name: 'broken',
  plan() {
    throw new CorralError('agent_missing', 'It has been removed')
  },
}

let t: TestEngine
before(async () => {
  t = await startEngine({ drivers: [demoDriver, broken], options: { idleMs: 100 } })
})
after(() => t.stop())

const say = (sessionId: string, text: string) =>
  t.engine.turns.send({ sessionId, input: [{ type: 'text', text }] })
const open = (sessionId: string): string[] =>
  t.engine.approvals.list({ sessionId, open: true, limit: 9 }).map(({ id }) => id)

test('a question from outside makes the session wait and is decided once', async () => {
  const id = await newSession(t)
  const asked = await ask(t, id, { summary: 'list files', callId: 'call-1' })
  assert.deepEqual(
    [asked.external, asked.timeoutAt, asked.decision, asked.turnId, asked.summary, asked.callId],
    [true, null, null, null, 'list files', 'call-1'],
  )
  assert.equal(statusOf(t.engine.sessions.get(id)), 'waiting')
  assert.equal(t.engine.sessions.count().waiting, 1)
  const decided = await allow(t, asked.id)
  assert.deepEqual([decided.decision, decided.decidedBy], [{ behavior: 'allow' }, 'me'])
  await assert.rejects(allow(t, asked.id, 'somebody else'), {
    code: 'approval_resolved',
    data: { decision: { behavior: 'allow' } },
  })
  assert.equal(answerTo(t, asked.id), 'allow by me')
  assert.equal(eventsOf(t, id, 'approval.resolved').length, 1)
  assert.equal(eventsOf(t, id, 'approval.delivered').length, 0, 'there is nobody to deliver it to')
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
  assert.deepEqual(t.engine.sessions.get(id).approvals, [])
})

test('of two answers at the same time one counts and the other one is told so', async () => {
  const asked = await ask(t, await newSession(t))
  const answers = await Promise.allSettled([allow(t, asked.id, 'first'), allow(t, asked.id, 'second')])
  assert.equal(answerTo(t, asked.id), 'allow by first')
  assert.equal(answers[0].status, 'fulfilled')
  assert.ok(answers[1].status === 'rejected')
  assert.equal(answers[1].reason.code, 'approval_resolved')
})

test('the same id twice is one question, later and at the same time, open or answered at once', async () => {
  for (const mode of ['ask', 'auto'] as const) {
    const sessionId = await newSession(t, { mode })
    const id = `question-${mode}`
    const both = await Promise.allSettled([ask(t, sessionId, { id }), ask(t, sessionId, { id })])
    const later = await ask(t, sessionId, { id })
    for (const one of both) assert.deepEqual(one, { status: 'fulfilled', value: later })
    assert.equal(eventsOf(t, sessionId, 'approval.requested').length, 1)
  }
})

test('an id that a question of an agent may get is not to be had', async () => {
  const [one, other] = [await newSession(t), await newSession(t)]
  await assert.rejects(ask(t, one, { id: `${other}.1` }), code('invalid'))
})

test('two are open, one is answered: the session still waits', async () => {
  const id = await newSession(t)
  const [one, two] = [await ask(t, id), await ask(t, id)]
  await allow(t, one.id)
  assert.equal(statusOf(t.engine.sessions.get(id)), 'waiting')
  assert.deepEqual(open(id), [two.id])
  await t.engine.approvals.decide({
    approvalId: two.id,
    decision: { behavior: 'deny', comment: 'no' },
    by: 'me',
  })
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
})

test('mode and rules answer at once: nobody is asked and the session does not wait', async () => {
  const answers = async (given: Parameters<typeof newSession>[1]): Promise<string> => {
    const id = await newSession(t, given)
    const asked = await ask(t, id, { timeoutMs: 1000 })
    assert.equal(asked.timeoutAt, null)
    assert.deepEqual(
      eventsOf(t, id, 'approval.requested').map((event) => event.open),
      [false],
    )
    assert.deepEqual(statusesOf(t, id), [])
    return answerTo(t, asked.id)
  }
  const rules = { allow: [], deny: [], acceptEdits: false, skipUntil: null }
  assert.equal(await answers({ mode: 'auto' }), 'allow by mode:auto')
  assert.equal(await answers({ mode: 'plan' }), 'deny by mode:plan')
  assert.equal(await answers({ rules: { ...rules, allow: ['Bash'] } }), 'allow by rule')
  assert.equal(await answers({ mode: 'auto', rules: { ...rules, deny: ['Bash'] } }), 'deny by rule')
})

test('a change of mode or rules answers what is open', async () => {
  for (const change of [{ mode: 'auto' as const }, { rules: { allow: ['Bash(l*)'] } }]) {
    const id = await newSession(t)
    const asked = await ask(t, id)
    const other = await ask(t, id, { kind: 'question', tool: 'Ask' })
    await t.engine.sessions.configure({ sessionId: id, ...change })
    assert.match(answerTo(t, asked.id), /^allow by (mode:auto|rule)$/)
    assert.deepEqual(open(id), [other.id], 'a question is for the human')
  }
})

test('allowed for the session: the same thing passes from then on, in this session only', async () => {
  const id = await newSession(t)
  const [one, same, other] = [
    await ask(t, id),
    await ask(t, id),
    await ask(t, id, { input: { command: 'rm x' } }),
  ]
  await t.engine.approvals.decide({
    approvalId: one.id,
    decision: { behavior: 'allow', forSession: true },
    by: 'me',
  })
  assert.equal(answerTo(t, same.id), 'allow by rule')
  assert.deepEqual(open(id), [other.id])
  assert.equal(answerTo(t, (await ask(t, id)).id), 'allow by rule')
  assert.equal(answerTo(t, (await ask(t, await newSession(t))).id), 'open')
})

test('an interrupt of a session that waits without a turn cancels what is open', async () => {
  const id = await newSession(t)
  const asked = await ask(t, id)
  assert.deepEqual(await t.engine.turns.interrupt({ sessionId: id }), { interrupted: false, cancelled: [] })
  assert.equal(answerTo(t, asked.id), 'cancelled by corral')
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
  await assert.rejects(allow(t, asked.id), code('approval_resolved'))
})

test('what was asked during a turn ends with it; what was asked before outlives it and the process', async () => {
  const id = await newSession(t)
  const outside = await ask(t, id, { kind: 'question' })
  const { turnId } = await say(id, '[[drip 20 100]]')
  const inside = await ask(t, id, { kind: 'question' })
  assert.equal(inside.turnId, turnId)
  assert.equal(await resolved(t, inside), 'cancelled by corral')
  await t.event('agent.exited', { sessionId: id })
  assert.deepEqual(open(id), [outside.id])
  assert.equal(statusOf(t.engine.sessions.get(id)), 'waiting')
  assert.equal((await allow(t, outside.id)).decidedBy, 'me')
})

test('a turn that cannot even start takes along what was asked during it, and says so', async () => {
  const id = await newSession(t, { agent: 'broken' })
  const { seq } = await say(id, 'hello')
  const asked = await ask(t, id)
  await t.event('turn.failed', { sessionId: id, after: seq })
  assert.equal(answerTo(t, asked.id), 'cancelled by corral')
  assert.equal(statusOf(t.engine.sessions.get(id)), 'idle')
})

test('whoever asked can give up; what was decided before stays', async () => {
  const id = await newSession(t)
  const [one, two] = [await ask(t, id), await ask(t, id)]
  const gone = await t.engine.approvals.withdraw(one.id, 'asker')
  assert.deepEqual([gone.decision?.behavior, gone.decidedBy], ['cancelled', 'asker'])
  await assert.rejects(allow(t, one.id), code('approval_resolved'))
  await allow(t, two.id)
  assert.equal((await t.engine.approvals.withdraw(two.id, 'asker')).decidedBy, 'me')
  await assert.rejects(t.engine.approvals.withdraw('nope', 'asker'), code('approval_not_found'))
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
})

test('giving up at the same time as an answer comes tells what became of it, also while the log is busy', async () => {
  const id = await newSession(t)
  for (let round = 0; round < 5; round++) {
    // So many rows that commits take longer than the way to them.
    await t.turn(id, '[[burst 4000 20]]')
    const { id: first } = await ask(t, id)
    const [, late] = await Promise.all([allow(t, first), t.engine.approvals.withdraw(first, 'asker')])
    assert.equal(late.decidedBy, 'me')
    const { id: second } = await ask(t, id)
    const [gone, refused] = await Promise.allSettled([
      t.engine.approvals.withdraw(second, 'asker'),
      allow(t, second),
    ])
    assert.equal(gone.status === 'fulfilled' && gone.value.decidedBy, 'asker')
    assert.equal(refused.status === 'rejected' && refused.reason.code, 'approval_resolved')
  }
})

test("a human's own words answer questions, from outside and of the agent, and never a tool", async () => {
  const id = await newSession(t)
  const words = { behavior: 'respond', text: 'green, please' } as const
  const tool = await ask(t, id)
  await assert.rejects(
    t.engine.approvals.decide({ approvalId: tool.id, decision: words, by: 'me' }),
    code('invalid'),
  )
  assert.equal(answerTo(t, tool.id), 'open')
  const question = await ask(t, id, { kind: 'question', tool: 'Ask' })
  const { decision } = await t.engine.approvals.decide({ approvalId: question.id, decision: words, by: 'me' })
  assert.deepEqual(decision, words)

  const talking = await newSession(t)
  const { seq } = await say(talking, '[[ask Which colour?]]')
  const { approval } = await t.event('approval.requested', { sessionId: talking, after: seq })
  await t.engine.approvals.decide({ approvalId: approval.id, decision: words, by: 'me' })
  assert.match((await t.event('tool.completed', { sessionId: talking, after: seq })).output, /green, please/)
})

test('a session of an agent elsewhere asks and is answered, and cannot be written to', async () => {
  const id = await newSession(t, { agent: EXTERNAL_AGENT })
  await assert.rejects(say(id, 'hello'), code('unsupported'))
  assert.equal(t.engine.sessions.get(id).turnCount, 0)
  const asked = await ask(t, id)
  assert.equal(statusOf(t.engine.sessions.get(id)), 'waiting')
  const waiting = t.engine.sessions.list({ agent: EXTERNAL_AGENT, limit: 9 })
  assert.deepEqual(
    waiting.map((session) => session.id),
    [id],
  )
  await allow(t, asked.id)
  assert.deepEqual(statusesOf(t, id), ['waiting', 'idle'])
  const last = await ask(t, id)
  await t.engine.sessions.destroy(id)
  assert.equal(answerTo(t, last.id), 'cancelled by corral')
  await assert.rejects(ask(t, id), code('session_not_found'))
})

test('the mode of such a session answers its questions; what only an agent here can do is refused', async () => {
  const id = await newSession(t, { agent: EXTERNAL_AGENT })
  const asked = await ask(t, id)
  await t.engine.sessions.configure({ sessionId: id, mode: 'auto' })
  assert.equal(answerTo(t, asked.id), 'allow by mode:auto')
  assert.equal(answerTo(t, (await ask(t, id)).id), 'allow by mode:auto')
  await assert.rejects(t.engine.sessions.fork({ sessionId: id }), code('unsupported'))
  await assert.rejects(t.engine.sessions.configure({ sessionId: id, model: 'm' }), code('unsupported'))
})

test('every change of status is one event, with how the last turn that is over ended', async () => {
  const id = await newSession(t, { mode: 'auto' })
  const asked = await ask(t, id, { kind: 'question' })
  await allow(t, asked.id)
  await t.turn(id, 'one')
  await t.turn(id, '[[fail 500]]')
  const { seq } = await say(id, '[[hang]]')
  await t.event('turn.accepted', { sessionId: id, after: seq })
  await t.engine.turns.interrupt({ sessionId: id })
  await t.event('turn.interrupted', { sessionId: id, after: seq })
  await t.engine.sessions.destroy(id)
  assert.deepEqual(
    eventsOf(t, id, 'session.status').map((e) => [e.previous, e.status, e.outcome]),
    [
      ['idle', 'waiting', null],
      ['waiting', 'idle', null],
      ['idle', 'running', null],
      ['running', 'idle', 'completed'],
      ['idle', 'running', 'completed'],
      ['running', 'idle', 'failed'],
      ['idle', 'running', 'failed'],
      ['running', 'idle', 'interrupted'],
      ['idle', 'destroyed', 'interrupted'],
    ],
  )
})

test('what comes from outside has its bounds: how much, and how many', async () => {
  const id = await newSession(t)
  await assert.rejects(ask(t, id, { input: { command: 'x'.repeat(2 ** 20) } }), code('invalid'))
  for (let asked = 0; asked < 100; asked++) await ask(t, id)
  assert.ok(t.engine.approvals.count() >= 100)
  await assert.rejects(ask(t, id), code('queue_full'))
})

test('another input is an object, and only where whoever asked can take it', async () => {
  const id = await newSession(t)
  const with_ = (approvalId: string, input: unknown) =>
    t.engine.approvals.decide({ approvalId, decision: { behavior: 'allow', input }, by: 'me' })
  const { id: open } = await ask(t, id)
  for (const input of ['ls', 5, null, ['ls']]) await assert.rejects(with_(open, input), code('invalid'))
  assert.equal((await with_(open, { command: 'pwd' })).decidedBy, 'me')
  const { id: fixed } = await ask(t, id, { fixed: true })
  await assert.rejects(with_(fixed, { command: 'pwd' }), code('unsupported'))
  assert.equal(answerTo(t, fixed), 'open')
})
