import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rigFor, type Client, type Json, type Rig } from './support.ts'

/** What the demo agent's tools say when they have run, without having done anything. */
const RAN = /^\(pretend\) wrote 5 characters/

async function waiting(
  rig: Rig,
  client: Client,
  permissions: unknown,
): Promise<{ sessionId: string; toolCallId: string }> {
  const sessionId = await rig.session(client, { permissions })
  await client.call('session.sendMessage', { sessionId, content: '[[write made.txt hello]]' })
  await client.until(() => pending(client) !== undefined)
  return { sessionId, toolCallId: pending(client)! }
}

/** The call that waits: it is told when it begins. */
function pending(client: Client): string | undefined {
  for (const { params } of client.pushes) {
    const call = params['toolCall'] as Json | undefined
    if (call?.['status'] === 'pending') return call['id'] as string
  }
  return undefined
}

test('by default tools run without a question', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const pushes = await client.turn(sessionId, '[[write made.txt hello]]')
  assert.ok(pushes.some(({ params }) => params['status'] === 'done' && RAN.test(String(params['output']))))
  assert.equal(pending(client), undefined)
})

test('a call that waits is approved and runs; the session is running meanwhile', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const call = await waiting(rig, client, [])
  const session = await client.call('session.get', { sessionId: call.sessionId })
  assert.equal(session['status'], 'running')
  assert.deepEqual(session['pendingToolCalls'], [call.toolCallId])
  const answer = await client.call('tool.approve', {
    session_id: call.sessionId,
    tool_call_id: call.toolCallId,
  })
  assert.equal(answer['status'], 'approved')
  const done = await client.push('session.toolCallUpdated', ({ status }) => status === 'done')
  assert.match(String(done['output']), RAN)
  await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
  const told = client.pushes
    .filter(({ method }) => method === 'session.toolCallUpdated')
    .map(({ params }) => params['status'])
  assert.deepEqual(told, ['running', 'done'])
  assert.equal((await client.refusal('tool.approve', call)).data['reason'], 'approval_resolved')
})

test('a call can be approved the moment it is told, time after time', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client, { permissions: [] })
  const answers: Promise<unknown>[] = []
  client.ws.on('message', () => {
    const { method, params } = client.pushes.at(-1) ?? {}
    const call = params?.['toolCall'] as Json | undefined
    if (method !== 'session.toolCallCreated' || answers.length === calls().length) return
    answers.push(client.call('tool.approve', { sessionId, toolCallId: call!['id'] }))
  })
  const calls = (): unknown[] => client.pushes.filter(({ method }) => method === 'session.toolCallCreated')
  for (let n = 1; n <= 10; n++) await client.turn(sessionId, `[[write made-${n}.txt hello]]`)
  assert.equal(calls().length, 10)
  assert.equal((await Promise.all(answers)).length, 10)
})

test('one that is rejected does not run, and stays rejected', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const call = await waiting(rig, client, { fileWrite: false })
  await client.call('tool.reject', { ...call, reason: 'not here' })
  await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
  const last = client.pushes.findLast(({ method }) => method === 'session.toolCallUpdated')
  assert.equal(last?.params['status'], 'rejected')
  const messages = await client.call<Json[]>('session.getMessages', { sessionId: call.sessionId })
  const tool = messages.find(({ role }) => role === 'tool')
  assert.equal((tool!['toolCall'] as Json)['status'], 'rejected')
})

test('what is in the list of permissions passes', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client, { permissions: ['file_write'] })
  assert.deepEqual((await client.call('session.get', { sessionId }))['permissions'], ['file_write'])
  const pushes = await client.turn(sessionId, '[[write made.txt hello]]')
  assert.ok(pushes.some(({ params }) => params['status'] === 'done' && RAN.test(String(params['output']))))
  await client.call('session.sendMessage', { sessionId, content: '[[shell echo hi]]' })
  await client.until(() => pending(client) !== undefined)
  await client.call('session.cancel', { sessionId })
})

test('calls that are not there, or of another session, are refused', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const call = await waiting(rig, client, [])
  const other = await rig.session(client)
  for (const method of ['tool.approve', 'tool.reject']) {
    const unknown = await client.refusal(method, { ...call, toolCallId: 'nothing' })
    assert.equal(unknown.code, -32602)
    assert.equal(unknown.data['reason'], 'tool_call_not_found')
    assert.equal((await client.refusal(method, { ...call, sessionId: other })).code, -32602)
    assert.equal((await client.refusal(method, { ...call, sessionId: 'none' })).code, -32001)
  }
  await client.call('tool.reject', call)
})

test('in FORGE mode approving a change is -32016', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const call = await waiting(rig, client, [])
  await client.call('session.setMode', { sessionId: call.sessionId, mode: 'FORGE' })
  assert.equal((await client.refusal('tool.approve', call)).code, -32016)
})

test('what waits can be answered from another dialect, and everybody hears of it', async (t) => {
  const rig = await rigFor(t)
  const [client, other] = [await rig.client(), await rig.client()]
  const call = await waiting(rig, client, [])
  const [row] = rig.engine.approvals.list({ sessionId: call.sessionId, open: true, limit: 1 })
  await rig.engine.approvals.decide({ approvalId: row!.id, decision: { behavior: 'allow' }, by: 'test' })
  for (const one of [client, other]) {
    await one.push(
      'session.toolCallUpdated',
      ({ status, toolCallId }) => status === 'done' && toolCallId === call.toolCallId,
    )
  }
})
