import assert from 'node:assert/strict'
import { test } from 'node:test'
import { join } from 'node:path'
import { demoDriver } from '../../../src/agents/demo/driver.ts'
import { routed } from '../../../src/dialects/clawde/route.ts'
import { goOn, HELD } from '../../support/held.ts'
import { rigFor, type Json } from './support.ts'

const GONE = '00000000-0000-7000-8000-000000000000'

test('create, list, get, delete', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  assert.deepEqual(await client.call('session.list'), [])
  const made = await client.call('session.create', {
    repoPath: rig.cwd,
    provider: 'demo',
    title: 'A title',
    model: 'big',
  })
  const { id, createdAt, createdAtUnix, ...rest } = made
  assert.equal(typeof id, 'string')
  assert.deepEqual([typeof createdAt, createdAt], ['number', createdAtUnix])
  assert.equal(rest['provider'], 'demo')
  assert.equal(rest['repoPath'], rig.cwd)
  assert.equal(rest['repo_path'], rig.cwd)
  assert.equal(rest['title'], 'A title')
  assert.equal(rest['status'], 'idle')
  assert.equal(rest['messageCount'], 0)
  assert.equal(rest['message_count'], 0)
  assert.equal(rest['modelOverride'], 'big')
  assert.equal(rest['tier'], 'cold')
  assert.equal((await client.push('session.statusChanged'))['status'], 'idle')
  assert.deepEqual(await client.call('session.list'), [made])
  for (const params of [{ sessionId: id }, { session_id: id }, { id }]) {
    assert.deepEqual(await client.call('session.get', params), made)
  }
  assert.deepEqual(await client.call('session.getMessages', { sessionId: id }), [])
  assert.equal((await client.call('session.delete', { sessionId: id }))['deleted'], true)
  assert.deepEqual(await client.call('session.list'), [])
  assert.equal((await client.push('session.deleted'))['sessionId'], id)
  assert.equal((await client.refusal('session.get', { sessionId: id })).code, -32001)
})

test('sessions of other dialects are in the list, the newest first', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const first = await rig.session(client)
  const { id } = await rig.engine.sessions.create({ agent: 'demo', cwd: rig.cwd })
  const list = await client.call<Json[]>('session.list')
  assert.deepEqual(
    list.map((one) => one['id']),
    [id, first],
  )
  assert.equal(list[0]!['title'], 'New Session')
})

for (const method of ['get', 'delete', 'sendMessage', 'getMessages', 'pause', 'resume', 'cancel']) {
  test(`session.${method} of a session that is not there: -32001`, async (t) => {
    const client = await (await rigFor(t)).client()
    const { code, data } = await client.refusal(`session.${method}`, { sessionId: GONE, content: 'x' })
    assert.equal(code, -32001)
    assert.equal(data['reason'], 'session_not_found')
  })
}

const wrong: [params: Json, code: number, reason?: string][] = [
  [{ provider: 'nobody' }, -32602],
  [{ provider: 'cursor' }, -32002, 'unsupported_provider'],
  [{ provider: 'claude' }, -32602], // this rig drives the demo agent only
  [{ provider: 'demo', repoPath: '/no/such/place' }, -32005],
  [{ provider: 'claude', repoPath: '/no/such/place' }, -32005, 'path_not_found'],
  [{ provider: 'demo', repoPath: 'relative' }, -32602],
  [{ provider: 'demo', repoPath: '/tmp/../etc' }, -32602],
  [{ provider: 'demo', permissions: ['fly'] }, -32602],
  [{ provider: 'demo', permissions: { fly: true } }, -32602],
  [{ provider: 'demo', worktree: true }, -32005],
]

for (const [params, code, reason] of wrong) {
  test(`session.create with ${JSON.stringify(params)}: ${code}`, async (t) => {
    const rig = await rigFor(t)
    const client = await rig.client()
    const refusal = await client.refusal('session.create', { repoPath: rig.cwd, ...params })
    assert.equal(refusal.code, code)
    if (reason) assert.equal(refusal.data['reason'], reason)
  })
}

test('no session works in the data directory', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const repoPath = join(rig.home, 'runs')
  assert.equal((await client.refusal('session.create', { repoPath, provider: 'demo' })).code, -32602)
})

test('the limit of sessions is -32007, and deleting one makes room', async (t) => {
  const rig = await rigFor(t, { limits: { maxSessions: 2 } })
  const client = await rig.client()
  const id = await rig.session(client)
  await rig.session(client)
  const params = { repoPath: rig.cwd, provider: 'demo' }
  assert.equal((await client.refusal('session.create', params)).code, -32007)
  await client.call('session.delete', { id })
  await client.call('session.create', params)
})

test('the same key twice is one session, and one message', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const [one, two] = [await rig.session(client, { key: 'k' }), await rig.session(client, { key: 'k' })]
  assert.equal(one, two)
  const message = { sessionId: one, content: '[[say hi]]', key: 'm' }
  const first = await client.call('session.sendMessage', message)
  assert.equal((await client.call('session.sendMessage', message))['id'], first['id'])
  const again = await client.call('session.sendMessage', { ...message, content: 'something else' })
  assert.deepEqual([again['id'], again['content']], [first['id'], '[[say hi]]'])
})

test('without a directory a session works where the daemon was started', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  assert.equal((await client.call('session.create', { provider: 'demo' }))['repoPath'], rig.cwd)
})

test('busy is -32002, paused -32006, and paused wins', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.call('session.sendMessage', { sessionId, content: '[[hang]]' })
  await client.push('session.statusChanged', ({ status }) => status === 'running')
  const busy = await client.refusal('session.sendMessage', { sessionId, content: 'x' })
  assert.equal(busy.code, -32002)
  assert.equal(busy.data['reason'], 'busy')
  assert.equal((await client.call('session.pause', { sessionId }))['status'], 'paused')
  assert.equal((await client.refusal('session.sendMessage', { sessionId, content: 'x' })).code, -32006)
  assert.equal((await client.call('session.resume', { sessionId }))['status'], 'running')
  await client.call('session.cancel', { sessionId })
  await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
  assert.deepEqual(statuses(client.pushes), ['idle', 'running', 'paused', 'running', 'idle'])
  assert.equal((await client.turn(sessionId, '[[say again]]')).at(-1)?.params['status'], 'idle')
})

test('of two messages at the same time one is refused', async (t) => {
  const rig = await rigFor(t)
  const [one, two] = [await rig.client(), await rig.client()]
  const sessionId = await rig.session(one)
  const send = (client: typeof one) =>
    client.call('session.sendMessage', { sessionId, content: '[[hang]]' }).then(
      () => 0,
      (error: { code: number }) => error.code,
    )
  assert.deepEqual((await Promise.all([send(one), send(two)])).sort(), [-32002, 0])
})

test('with queue: true a message waits instead', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.call('session.sendMessage', { sessionId, content: HELD })
  const second = await client.call('session.sendMessage', { sessionId, content: '[[say two]]', queue: true })
  assert.equal(second['queued'], true)
  await goOn(rig, sessionId)
  await client.push('session.messageUpdated', ({ content }) => content === 'two')
  await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
})

test('pause and resume of an idle session leave it idle, and it is not active', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.call('session.pause', { sessionId })
  assert.equal((await client.call('session.resume', { sessionId }))['status'], 'idle')
  await client.call('session.pause', { sessionId })
  assert.equal((await client.call('session.cancel', { sessionId }))['status'], 'idle')
  await client.turn(sessionId, '[[say hi]]')
  assert.equal((await client.call('daemon.status'))['activeSessions'], 0)
})

test('nothing is told while a session is paused, and the same message goes on', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const [sessionId, other] = [await rig.session(client), await rig.session(client)]
  const told = (): number => client.pushes.filter(({ params }) => params['sessionId'] === sessionId).length
  await client.call('session.sendMessage', { sessionId, content: '[[drip 40 50]]' })
  const { message } = await client.push(
    'session.messageCreated',
    ({ message }) => (message as Json)['role'] === 'assistant',
  )
  await client.call('session.pause', { sessionId })
  await client.push('session.statusChanged', ({ status }) => status === 'paused')
  // What was on its way when the process was stopped may still arrive, while another session talks as fast.
  await client.turn(other, '[[drip 5 50]]')
  const before = told()
  await client.turn(other, '[[drip 10 50]]')
  assert.equal(told(), before)
  await client.call('session.resume', { sessionId })
  const done = await client.push(
    'session.messageUpdated',
    ({ status, sessionId: of }) => status === 'done' && of === sessionId,
  )
  assert.equal(done['messageId'], (message as Json)['id'])
  assert.match(done['content'] as string, /^w1 .* w40$/)
})

test('cancel answers how the session is after it: at rest, and free for the next message', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  for (const isPaused of [false, true]) {
    await client.call('session.sendMessage', { sessionId, content: '[[hang]]' })
    await client.call('session.sendMessage', { sessionId, content: 'waits', queue: true })
    if (isPaused) await client.call('session.pause', { sessionId })
    const { status, queued } = await client.call('session.cancel', { sessionId })
    assert.deepEqual([status, queued], ['idle', 0])
  }
  await client.turn(sessionId, '[[say again]]')
})

test('a null is not given, unless it says something; an empty array is no parameters', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client, { mode: null, key: null, model: 'small' })
  await client.turn(sessionId, '[[say hi]]')
  const messages = { session_id: sessionId, limit: null, before: null }
  assert.equal((await client.call<Json[]>('session.getMessages', messages)).length, 2)
  assert.equal((await client.call<Json[]>('session.list', [])).length, 1)
  assert.equal((await client.call('session.get', { sessionId: null, id: sessionId }))['id'], sessionId)
  assert.ok(!('model' in (await client.call('session.setModel', { sessionId, model: null }))))
  const missing = await client.refusal('session.get', [])
  assert.deepEqual([missing.code, missing.data['field']], [-32602, 'sessionId'])
  const none = await client.refusal('session.get', { sessionId: null })
  assert.deepEqual([none.code, none.data['field']], [-32602, 'sessionId'])
})

test('cancel leaves no message streaming, and context survives it', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.turn(sessionId, '[[remember blue]] [[say noted]]')
  await client.call('session.sendMessage', { sessionId, content: '[[drip 1000 50]]' })
  await client.push('session.messageUpdated', ({ content }) => String(content).startsWith('w1 w2'))
  await client.call('session.cancel', { sessionId })
  await client.until(() => client.pushes.at(-1)?.params['status'] === 'idle')
  const messages = await client.call<Json[]>('session.getMessages', { sessionId })
  assert.deepEqual(new Set(messages.map(({ status }) => status)), new Set(['done']))
  assert.equal(messages.at(-1)?.['aborted'], true)
  const pushes = await client.turn(sessionId, '[[recall]]')
  assert.ok(pushes.some(({ params }) => params['content'] === 'recall: blue'))
})

test('an agent that fails puts the session into error, with the reason; the next message runs', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  const failed = (await client.turn(sessionId, '[[fail 429]]')).at(-1)!.params
  assert.equal(failed['status'], 'error')
  assert.equal(failed['reason'], 'RATE_LIMITED')
  assert.equal((await client.call('session.get', { sessionId }))['status'], 'error')
  assert.equal((await client.turn(sessionId, '[[say fine]]')).at(-1)!.params['status'], 'idle')
})

test('auto takes the agent that fits what is asked for, and another one where it is not installed', async (t) => {
  const drivers = ['claude', 'codex'].map((name) => ({ ...demoDriver, name }))
  const installed = new Set(['claude', 'codex'])
  const providers = async () =>
    drivers.map(({ name, title }) => {
      const there = installed.has(name)
      return { name, title, installed: there, path: null, version: null, problem: null, signedIn: there }
    })
  const rig = await rigFor(t, { drivers, parts: { providers } })
  const client = await rig.client()
  const routes = async (initialMessage: string): Promise<unknown> => {
    const params = { repoPath: rig.cwd, provider: 'auto', initialMessage }
    const { provider, routedProvider } = await client.call('session.create', params)
    assert.equal(provider, routedProvider)
    return provider
  }
  assert.equal(await routes('explain the parser'), 'codex')
  assert.equal(await routes('implement a cache'), 'claude')
  installed.delete('codex')
  assert.equal(await routes('explain the parser'), 'claude')
})

test('the user’s home directory is not in what is said about errors', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const home = join(rig.home, 'user')
  for (const repoPath of [join(home, 'nothing here'), '~/nothing here']) {
    const { code, message } = await client.refusal('session.create', { repoPath, provider: 'demo' })
    assert.equal(code, -32005)
    assert.ok(message.includes('~/nothing here') && !message.includes(home), message)
  }
})

test('auto is routed by what is asked for', () => {
  for (const text of ['debug this', 'explain the parser', 'please review my change', 'why?']) {
    assert.equal(routed(text), 'codex', text)
  }
  for (const text of ['implement a cache', 'refactor it', 'explain and implement', '']) {
    assert.equal(routed(text), 'claude', text)
  }
})

function statuses(pushes: { method: string; params: Json }[]): unknown[] {
  return pushes
    .filter(({ method }) => method === 'session.statusChanged')
    .map(({ params }) => params['status'])
}
