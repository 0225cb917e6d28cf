import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { demoSession, refusal, turn } from './support.ts'

let daemon: TestDaemon
let client: NativeClient

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
})

const call = (tool: string, input: object): string =>
  `[[call ${tool} ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`

const task = (description: string, prompt: string): string => call('Task', { description, prompt })

const agentsOf = async (sessionId: string, turnId?: string) =>
  (await client.call('subagents.list', { sessionId, ...(turnId !== undefined && { turnId }) })).agents

test('sub-agents are a tree: who runs whom, what they did and what they have used', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const inner = task('Dig deeper', call('Shell', { command: '[[say found]]' }))
  const [first] = await turn(client, sessionId, task('Look around', inner))
  await turn(client, sessionId, call('Fail', { command: 'x' }))
  const second = await turn(client, sessionId, task('Look again', '[[say nothing]]'))
  const [outer, nested, again] = await agentsOf(sessionId)
  assert.deepEqual(
    [outer, nested, again].map((one) => [one!.title, one!.kind, one!.state, one!.calls, one!.openApprovals]),
    [
      ['Look around', 'Task', 'done', 1, 0],
      ['Dig deeper', 'Task', 'done', 1, 0],
      ['Look again', 'Task', 'done', 0, 0],
    ],
  )
  assert.deepEqual([outer!.parent, nested!.parent], [null, outer!.callId])
  assert.ok(outer!.startedAt <= nested!.startedAt && nested!.endedAt! <= outer!.endedAt!)
  assert.deepEqual([nested!.usage!.modelCalls, nested!.usage!.outputTokens], [2, 2])
  assert.deepEqual(await agentsOf(sessionId, first!.turnId!), [outer, nested])
  assert.deepEqual(await agentsOf(sessionId, second[0]!.turnId!), [again])
  const { items } = await client.call('history.read', { sessionId })
  assert.ok(items.some((item) => item.kind === 'tool' && item.parent === outer!.callId))
})

test('a sub-agent that works, and asks, says so; one that may not is refused', async () => {
  const { id: sessionId } = await demoSession(client, daemon, 'ask')
  const question = async () => {
    const open = async () => (await client.call('approval.list', { sessionId })).approvals[0]
    return until(open, 'the agent asks')
  }
  await client.call('session.send', { sessionId, content: task('Build', '[[shell make]]') })
  const start = await question()
  assert.deepEqual(
    (await agentsOf(sessionId)).map(({ state, endedAt, openApprovals }) => [state, endedAt, openApprovals]),
    [['running', null, 0]],
  )
  await client.call('approval.decide', { approvalId: start.id, behavior: 'allow' })
  const make = await until(async () => {
    const open = await question()
    return open.id === start.id ? null : open
  }, 'the sub-agent asks')
  const [agent] = await agentsOf(sessionId)
  assert.deepEqual([agent!.callId, agent!.state, agent!.openApprovals], [make.parent, 'running', 1])
  assert.deepEqual([agent!.usage, agent!.endedAt, agent!.calls], [null, null, 1])
  await client.call('session.interrupt', { sessionId })
  await until(async () => (await client.call('session.get', { sessionId })).turn === null)
  assert.equal((await agentsOf(sessionId))[0]!.state, 'failed')
  await client.call('session.send', { sessionId, content: task('Never', '[[say no]]') })
  const refused = await question()
  await client.call('approval.decide', { approvalId: refused.id, behavior: 'deny' })
  await until(async () => (await client.call('session.get', { sessionId })).turn === null)
  const last = (await agentsOf(sessionId)).at(-1)!
  assert.deepEqual([last.title, last.state, last.usage], ['Never', 'refused', null])
})

test('sub-agents of nobody, of a message that waits, and of what is not there', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  assert.deepEqual(await agentsOf(sessionId), [])
  await client.call('session.pause', { sessionId })
  const { turnId } = await client.call('session.send', { sessionId, content: 'waits' })
  assert.deepEqual(await agentsOf(sessionId, turnId), [])
  assert.equal((await refusal(agentsOf(sessionId, 'nobody'))).code, 'turn_not_found')
  assert.equal((await refusal(agentsOf('nowhere'))).code, 'session_not_found')
})

test('usage is a series: by turn, by hour and by day, of a session and of all', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  await turn(client, sessionId, '[[say one]]')
  await turn(client, sessionId, '[[say two]]')
  await client.call('session.send', { sessionId, content: '[[fail 500]]' })
  await until(async () => (await client.call('session.get', { sessionId })).lastOutcome === 'failed')
  const { points, truncated } = await client.call('usage.series', { sessionId, by: 'turn' })
  const { turns } = await client.call('turn.list', { sessionId })
  assert.equal(truncated, false)
  assert.deepEqual(
    points,
    turns.toReversed().map(({ id, endedAt, usage }) => {
      return { at: endedAt, turns: 1, agent: 'demo', sessionId, turnId: id, usage }
    }),
  )
  const [day, ...days] = (await client.call('usage.series', { sessionId, by: 'day', offsetMinutes: 0 }))
    .points
  const total = (await client.call('session.get', { sessionId })).usage
  if (days.length === 0) {
    assert.deepEqual([day!.turns, day!.usage, day!.agent, day!.sessionId], [3, total, 'demo', sessionId])
    assert.equal(day!.at % 86_400_000, 0)
  }
  const hours = await client.call('usage.series', { by: 'hour', since: points[0]!.at })
  assert.ok(hours.points.reduce((sum, point) => sum + point.turns, 0) >= 3)
  assert.deepEqual(
    hours.points.map((point) => [point.sessionId, point.turnId]),
    hours.points.map(() => [null, null]),
  )
  const until1 = points[1]!.at
  const early = await client.call('usage.series', { sessionId, by: 'turn', until: until1 })
  assert.ok(early.points.every(({ at }) => at < until1))
  const since = Date.now() + 1000
  assert.deepEqual((await client.call('usage.series', { by: 'day', since })).points, [])
  const nowhere = client.call('usage.series', { sessionId: 'nowhere', by: 'day' })
  assert.equal((await refusal(nowhere)).code, 'session_not_found')
})

test('days begin by the clock that is asked for', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  await turn(client, sessionId, '[[say x]]')
  const at = async (offsetMinutes: number) =>
    (await client.call('usage.series', { sessionId, by: 'day', offsetMinutes })).points[0]!.at
  assert.equal((await at(330)) % 86_400_000, 86_400_000 - 330 * 60_000)
  assert.equal((await at(-60)) % 86_400_000, 60 * 60_000)
})
