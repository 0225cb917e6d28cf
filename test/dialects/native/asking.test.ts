import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { connect, NativeError, type NativeClient } from '../../../src/client/client.ts'
import { METHODS } from '../../../src/dialects/native/methods.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { demoSession, readTo } from './support.ts'

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

const view = METHODS.find((method) => method.name === 'approval.request')!.result

async function session(): Promise<string> {
  return (await demoSession(client, daemon, 'ask')).id
}

test('a question from outside waits, shows in the session, and its answer ends the wait', async () => {
  const sessionId = await session()
  const asked = await client.call('approval.request', {
    sessionId,
    tool: 'Deploy',
    input: { command: 'make deploy' },
  })
  view.parse(asked)
  assert.equal(asked.external, true)
  assert.equal(asked.timeoutAt, null)
  assert.equal((await client.call('session.get', { sessionId })).status, 'waiting')
  const waiting = client.call('approval.wait', { approvalId: asked.id })
  await client.call('approval.decide', {
    approvalId: asked.id,
    behavior: 'allow',
    input: { command: 'make dry' },
  })
  assert.deepEqual((await waiting).decision, { behavior: 'allow', input: { command: 'make dry' } })
  assert.equal((await client.call('session.get', { sessionId })).status, 'idle')
})

test('a wait ends with its time, the question stays', async () => {
  const asked = await client.call('approval.request', { sessionId: await session(), tool: 'Deploy' })
  assert.equal((await client.call('approval.wait', { approvalId: asked.id, timeoutMs: 10 })).decision, null)
})

test('the same id twice is one question', async () => {
  const sessionId = await session()
  const id = randomUUID()
  await client.call('approval.request', { sessionId, tool: 'Deploy', id })
  await client.call('approval.request', { sessionId, tool: 'Deploy', id })
  const { approvals } = await client.call('approval.list', { sessionId })
  assert.deepEqual(
    approvals.map((approval) => approval.id),
    [id],
  )
})

test('a human may answer a question in words, but a tool wants a yes or a no', async () => {
  const sessionId = await session()
  const question = { sessionId, kind: 'question', tool: 'contact_human', input: { questions: [] } } as const
  const { id } = await client.call('approval.request', question)
  const respond = { behavior: 'respond', text: 'the blue one' } as const
  assert.deepEqual((await client.call('approval.decide', { approvalId: id, ...respond })).decision, respond)
  const tool = await client.call('approval.request', { sessionId, tool: 'Deploy' })
  await assert.rejects(
    client.call('approval.decide', { approvalId: tool.id, ...respond }),
    (error: unknown) => error instanceof NativeError && error.code === 'invalid',
  )
})

test('a question is refused when its time is up', async () => {
  const asked = await client.call('approval.request', {
    sessionId: await session(),
    tool: 'Deploy',
    timeoutMs: 50,
  })
  // The clock is read for the one, then for the other.
  assert.ok(asked.timeoutAt! <= asked.requestedAt + 50)
  const { decision, decidedBy } = await client.call('approval.wait', { approvalId: asked.id })
  assert.deepEqual([decision?.behavior, decidedBy], ['deny', 'timeout'])
})

test('a question can be taken back until it is answered', async () => {
  const asked = await client.call('approval.request', { sessionId: await session(), tool: 'Deploy' })
  const taken = await client.call('approval.withdraw', { approvalId: asked.id })
  assert.equal(taken.decision?.behavior, 'cancelled')
  assert.deepEqual(await client.call('approval.withdraw', { approvalId: asked.id }), taken)
})

test('what the agent itself waits for cannot be taken back, and an id is of one session only', async () => {
  const sessionId = await session()
  const { seq } = await client.call('session.send', { sessionId, content: '[[shell ls]]' })
  await readTo(client.events({ after: seq - 1, sessionId }), 'approval.requested')
  const { approvals } = await client.call('approval.list', { sessionId })
  await assert.rejects(
    client.call('approval.withdraw', { approvalId: approvals[0]!.id }),
    (error: unknown) => error instanceof NativeError && error.code === 'unsupported',
  )
  const { id } = await client.call('approval.request', { sessionId, tool: 'Deploy', id: randomUUID() })
  await assert.rejects(
    client.call('approval.request', { sessionId: await session(), tool: 'Deploy', id }),
    (error: unknown) => error instanceof NativeError && error.data['field'] === 'id',
  )
})

test('rules of a project answer what is open and what comes, there and below', async () => {
  const sessionId = await session()
  const ask = { sessionId, tool: 'Bash', input: { command: 'git push' } }
  const open = await client.call('approval.request', ask)
  const project = await client.call('directory.configure', {
    path: daemon.project,
    rules: { deny: ['Bash(git push*)'] },
  })
  assert.deepEqual(project.rules, {
    allow: [],
    deny: ['Bash(git push*)'],
    acceptEdits: false,
    skipUntil: null,
  })
  assert.equal((await client.call('approval.get', { approvalId: open.id })).decidedBy, 'rule')
  assert.equal((await client.call('approval.request', ask)).decision?.behavior, 'deny')
  const { directories } = await client.call('directory.list')
  assert.deepEqual(directories, [project])
  await client.call('directory.configure', { path: join(daemon.project, '/'), rules: { deny: [] } })
  assert.equal((await client.call('approval.request', ask)).decision, null)
})

test('an agent that runs elsewhere has a session that is answered, not written to', async () => {
  const { id, agent } = await client.call('session.create', { agent: 'external', cwd: daemon.project })
  assert.equal(agent, 'external')
  await assert.rejects(
    client.call('session.send', { sessionId: id, content: 'hello' }),
    (error: unknown) => error instanceof NativeError && error.code === 'unsupported',
  )
  await assert.rejects(
    client.call('session.configure', { sessionId: id, model: 'big' }),
    (error: unknown) => error instanceof NativeError && error.code === 'unsupported',
  )
  await client.call('session.configure', { sessionId: id, mode: 'auto' })
  const asked = await client.call('approval.request', { sessionId: id, tool: 'Deploy' })
  assert.equal(asked.decidedBy, 'mode:auto')
})

test('an archived session is in the list of those, and in no other', async () => {
  const sessionId = await session()
  await client.call('session.configure', { sessionId, archived: true })
  const ids = async (archived: boolean): Promise<string[]> =>
    (await client.call('session.list', { archived, limit: 500 })).sessions.map((one) => one.id)
  assert.ok((await ids(true)).includes(sessionId))
  assert.ok(!(await ids(false)).includes(sessionId))
})
