import assert from 'node:assert/strict'
import { dirname } from 'node:path'
import { test } from 'node:test'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { driversWith } from '../../src/agents/drivers.ts'
import { ABILITIES } from '../../src/core/capability.ts'
import { CorralError } from '../../src/core/error.ts'
import type { Capabilities } from '../../src/core/capabilities.ts'
import { eventsOf, newSession } from '../support/asking.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

type Capability = keyof Capabilities

const IMAGE = { type: 'image', mediaType: 'image/png', data: 'AA==' } as const
const OPEN = '[[shell ls]]'

/** An approval that the session's own agent waits for. */
async function asked(t: TestEngine, sessionId: string): Promise<string> {
  const { seq } = await t.engine.turns.send({ sessionId, input: [{ type: 'text', text: OPEN }] })
  return (await t.event('approval.requested', { sessionId, after: seq })).approval.id
}

/** What is asked of an agent that can, by capability. Those that are not here are nothing that one asks for. */
const WISHES: Partial<Record<Capability, (t: TestEngine, agent: string) => Promise<unknown>>> = {
  async images(t, agent) {
    return t.engine.turns.send({ sessionId: await newSession(t, { agent }), input: [IMAGE] })
  },
  resume: (t, agent) => newSession(t, { agent, nativeId: 'an earlier one' }),
  async relocate(t, agent) {
    const sessionId = await newSession(t, { agent })
    const { seq } = await t.engine.turns.send({ sessionId, input: [{ type: 'text', text: 'hello' }] })
    await t.event('turn.completed', { sessionId, after: seq })
    const { nativeId, cwd } = t.engine.sessions.get(sessionId)
    return newSession(t, { agent, nativeId, cwd: dirname(cwd) })
  },
  async fork(t, agent) {
    return t.engine.sessions.fork({ sessionId: await newSession(t, { agent }) })
  },
  async setModel(t, agent) {
    return t.engine.sessions.configure({ sessionId: await newSession(t, { agent }), model: 'another' })
  },
  async setMode(t, agent) {
    return t.engine.sessions.configure({ sessionId: await newSession(t, { agent }), mode: 'code' })
  },
  async steer(t, agent) {
    const sessionId = await newSession(t, { agent })
    await asked(t, sessionId)
    return t.engine.turns.steer({ sessionId, input: [{ type: 'text', text: 'another way' }] })
  },
  async compact(t, agent) {
    return t.engine.turns.compact({ sessionId: await newSession(t, { agent }) })
  },
  async pause(t, agent) {
    const sessionId = await newSession(t, { agent })
    await asked(t, sessionId)
    return t.engine.sessions.pause(sessionId)
  },
  async editInput(t, agent) {
    const approvalId = await asked(t, await newSession(t, { agent }))
    return t.engine.approvals.decide({
      approvalId,
      decision: { behavior: 'allow', input: { command: 'pwd' } },
      by: 'me',
    })
  },
}

const ALL = Object.fromEntries(Object.keys(ABILITIES).map((name) => [name, true])) as unknown as Capabilities

/** The demo agent, as able as another. */
function able(name: string, capabilities: Capabilities): AgentDriver {
  return { ...demoDriver, name, title: `Agent ${name}`, capabilities }
}

function refusalOf(capability: Capability, agent: string): (error: unknown) => boolean {
  return (error) => {
    assert.ok(error instanceof CorralError, String(error))
    assert.equal(error.code, 'unsupported')
    assert.deepEqual({ ...error.data }, { agent, capability })
    assert.ok(error.message.includes(agent), error.message)
    return true
  }
}

for (const capability of Object.keys(WISHES) as Capability[]) {
  test(`an agent without ${capability} refuses it, one with it does not`, async (t) => {
    const drivers = [able('with', ALL), able('without', { ...ALL, [capability]: false })]
    const engine = await startEngine({ drivers })
    t.after(() => engine.stop())
    await WISHES[capability]!(engine, 'with')
    await assert.rejects(WISHES[capability]!(engine, 'without'), refusalOf(capability, 'without'))
  })
}

for (const { name, capabilities } of driversWith({ custom: { command: 'custom' } })) {
  const lacks = (Object.keys(WISHES) as Capability[]).filter((one) => !capabilities[one])
  test(`${name} is refused all that it cannot: ${lacks.join(', ') || 'nothing'}`, async (t) => {
    const engine = await startEngine({ drivers: [able(name, capabilities)] })
    t.after(() => engine.stop())
    for (const capability of Object.keys(WISHES) as Capability[]) {
      const wish = WISHES[capability]!(engine, name)
      if (capabilities[capability]) await wish
      else await assert.rejects(wish, refusalOf(capability, name))
    }
  })
}

test('a refused input leaves the question open, and it can be answered after', async (t) => {
  const engine = await startEngine({ drivers: [able('without', { ...ALL, editInput: false })] })
  t.after(() => engine.stop())
  const sessionId = await newSession(engine, { agent: 'without' })
  const approvalId = await asked(engine, sessionId)
  const other = { behavior: 'allow' as const, input: { command: 'pwd' } }
  await assert.rejects(
    engine.engine.approvals.decide({ approvalId, decision: other, by: 'me' }),
    /cannot run a tool/,
  )
  assert.equal(engine.engine.approvals.get(approvalId).decision, null)
  await engine.engine.approvals.decide({ approvalId, decision: { behavior: 'allow' }, by: 'me' })
  await engine.event('turn.completed', { sessionId })
})

/** Says no, or something else, and returns what the session is told about the words that go with it. */
async function noticesAfter(
  t: TestEngine,
  agent: string,
  decision: { behavior: 'deny'; comment: string },
): Promise<string[]> {
  const sessionId = await newSession(t, { agent })
  const approvalId = await asked(t, sessionId)
  await t.engine.approvals.decide({ approvalId, decision, by: 'me' })
  await t.event('turn.completed', { sessionId })
  assert.deepEqual(t.engine.approvals.get(approvalId).decision, decision)
  return eventsOf(t, sessionId, 'agent.notice').map(({ code, message }) => `${code} ${message}`)
}

test('a no is a no also for an agent that cannot hear why; whoever says why is told', async (t) => {
  const engine = await startEngine({
    drivers: [able('deaf', { ...ALL, denyComment: false }), able('with', ALL)],
  })
  t.after(() => engine.stop())
  const [notice, ...more] = await noticesAfter(engine, 'deaf', { behavior: 'deny', comment: 'too risky' })
  assert.match(notice!, /^comment_unheard Agent deaf \(deaf\) cannot hear why a human said no/)
  assert.deepEqual(more, [])
  assert.deepEqual(await noticesAfter(engine, 'deaf', { behavior: 'deny', comment: '' }), [])
  assert.deepEqual(await noticesAfter(engine, 'with', { behavior: 'deny', comment: 'too risky' }), [])
})

test('what is asked from outside is answered to whoever asked, whatever the agent can', async (t) => {
  const less = { ...ALL, editInput: false, denyComment: false }
  const engine = await startEngine({ drivers: [able('less', less)] })
  t.after(() => engine.stop())
  const sessionId = await newSession(engine, { agent: 'less' })
  const question = { sessionId, kind: 'tool', tool: 'Bash', input: { command: 'ls' } } as const
  const [first, second] = [
    await engine.engine.approvals.ask(question),
    await engine.engine.approvals.ask(question),
  ]
  const other = { behavior: 'allow' as const, input: { command: 'pwd' } }
  await engine.engine.approvals.decide({ approvalId: first.id, decision: other, by: 'me' })
  await engine.engine.approvals.decide({
    approvalId: second.id,
    decision: { behavior: 'deny', comment: 'no' },
    by: 'me',
  })
  assert.deepEqual(eventsOf(engine, sessionId, 'agent.notice'), [])
})
