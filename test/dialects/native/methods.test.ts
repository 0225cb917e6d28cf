import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { connect, type Api, type MethodName, type NativeClient } from '../../../src/client/client.ts'
import { METHODS } from '../../../src/dialects/native/methods.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { demoSession, refusal, turn, readTo } from './support.ts'
import { CALLED_ELSEWHERE } from './called-elsewhere.ts'

let daemon: TestDaemon
let client: NativeClient
const called = new Set<string>()

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
})

/** Calls, and holds the answer against the schema that the documentation is made from. */
async function call<M extends MethodName>(name: M, params: Api[M]['params']): Promise<Api[M]['result']> {
  called.add(name)
  const result = await (client.call as (method: M, params: Api[M]['params']) => Promise<Api[M]['result']>)(
    name,
    params,
  )
  METHODS.find((method) => method.name === name)!.result.parse(result)
  return result
}

test('the daemon tells how it is doing', async () => {
  const status = await call('daemon.status', {})
  assert.equal(status.pid, daemon.pid)
  assert.deepEqual(
    status.listeners.find((listener) => listener.name === 'native'),
    { name: 'native', address: daemon.socket },
  )
  assert.ok(status.memory.rss > 0)
})

test('the daemon looks at itself and all around it', async () => {
  const { status, checks } = await call('daemon.doctor', {})
  const named = (name: string) => checks.find((check) => check.name === name)
  for (const name of ['node', 'data_dir', 'rights', 'disk_space', 'sqlite', 'config', 'agent_demo']) {
    assert.equal(named(name)?.status, 'ok', `${name}: ${named(name)?.message}`)
  }
  assert.equal(named('listener_native')?.message, daemon.socket)
  const worst = ['error', 'warn', 'ok'].find((one) => checks.some((check) => check.status === one))
  assert.equal(status, worst)
})

test('agents are listed with what they can do', async () => {
  const { agents } = await call('agents.list', {})
  const demo = agents.find((agent) => agent.name === 'demo')
  assert.equal(demo?.installed, true)
  assert.equal(demo?.capabilities.approvals, true)
})

test('a session says how long its agent thinks, and the agent which models it has', async () => {
  const { id: sessionId, effort } = await call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    effort: 'low',
  })
  assert.equal(effort, 'low')
  const said = async (id: string) => {
    const events = await turn(client, id, '[[effort]]')
    return events.flatMap((event) => (event.type === 'message.completed' ? [event.text] : []))
  }
  assert.deepEqual(await said(sessionId), ['effort: low'])
  const { pid } = await call('session.get', { sessionId })
  await call('session.configure', { sessionId, effort: 'max' })
  assert.deepEqual(await said(sessionId), ['effort: max'])
  assert.equal((await call('session.get', { sessionId })).pid, pid, 'the same process')
  const fork = await call('session.fork', { sessionId })
  assert.equal(fork.effort, 'max')
  await call('session.configure', { sessionId, effort: null })
  assert.deepEqual(await said(sessionId), ['effort: none'])

  const { models } = await call('agents.models', { agent: 'demo' })
  assert.deepEqual(
    models.map(({ id, efforts }) => [id, efforts]),
    [['demo', ['off', 'low', 'medium', 'high']]],
  )
  assert.deepEqual((await call('agents.models', { agent: 'gemini' })).models, [])
  const wish = { agent: 'gemini', cwd: daemon.project, effort: 'high' } as const
  assert.equal((await refusal(call('session.create', wish))).code, 'unsupported')
})

test('a session is created, found and listed', async () => {
  const made = await call('session.create', {
    agent: 'demo',
    cwd: daemon.project,
    mode: 'plan',
    title: 'mine',
  })
  assert.equal(made.status, 'idle')
  assert.equal(made.tier, 'cold')
  assert.deepEqual(await call('session.get', { sessionId: made.id }), made)
  const { sessions } = await call('session.list', {})
  assert.ok(sessions.some((session) => session.id === made.id))
})

test('the same key makes one session', async () => {
  const params = { agent: 'demo', cwd: daemon.project, key: 'once' }
  const [one, two] = await Promise.all([call('session.create', params), call('session.create', params)])
  assert.equal(one.id, two.id)
})

test('a session may be given its id, and nobody else gets it', async () => {
  const params = { agent: 'demo', cwd: daemon.project, id: randomUUID() }
  assert.equal((await call('session.create', params)).id, params.id)
  await assert.rejects(call('session.create', params), /A session with the id .* exists already/)
  await assert.rejects(call('session.create', { ...params, id: 'mine' }), { code: 'invalid' })
})

test('a list is read page by page, each session once', async () => {
  for (let index = 0; index < 5; index++) await demoSession(client, daemon)
  const all = (await call('session.list', { limit: 500 })).sessions.map((session) => session.id)
  const paged: string[] = []
  let cursor: string | null = null
  do {
    const page: Api['session.list']['result'] = await call('session.list', {
      limit: 2,
      ...(cursor && { cursor }),
    })
    paged.push(...page.sessions.map((session) => session.id))
    cursor = page.next
  } while (cursor)
  assert.deepEqual(paged, all)
})

test('a cursor that nobody gave out is refused, naming the field', async () => {
  const error = await refusal(call('session.list', { cursor: 'nonsense' }))
  assert.equal(error.code, 'invalid')
  assert.equal(error.data['field'], 'cursor')
})

test('a message runs as a turn, and its key makes it one message', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const params = { sessionId, content: '[[say hello]]', key: 'k' }
  const sent = await call('session.send', params)
  await readTo(client.events({ after: sent.seq - 1, sessionId }), 'turn.completed')
  const again = await call('session.send', params)
  assert.equal(again.repeated, true)
  assert.equal(again.turnId, sent.turnId)
  const finished = await call('turn.get', { turnId: sent.turnId })
  assert.equal(finished.state, 'completed')
  assert.equal((await call('turn.list', { sessionId })).turns.length, 1)
})

test('content may be pieces of text and images', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const data = Buffer.from('not really a picture').toString('base64')
  const content: Api['session.send']['params']['content'] = [
    { type: 'text', text: '[[attachments]]' },
    { type: 'image', mediaType: 'image/png', data },
  ]
  const sent = await call('session.send', { sessionId, content })
  const events = await readTo(client.events({ after: sent.seq - 1, sessionId }), 'turn.completed')
  const said = events.find((event) => event.type === 'message.completed')
  assert.equal(said?.text, 'attachments: 1 image/png/20')
})

test('the history is the conversation in order, without deltas, and pages backwards', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  await turn(client, sessionId, '[[shell ls]]')
  await turn(client, sessionId, '[[say two]]')
  const all = await call('history.read', { sessionId })
  const kinds = all.items
    .map((item) => item.kind)
    .filter((kind) => kind !== 'approval' && kind !== 'decision')
  assert.deepEqual(kinds, ['user', 'tool', 'result', 'assistant', 'end', 'user', 'assistant', 'end'])
  assert.equal(all.next, null)
  const first = all.items[0]
  assert.ok(first?.kind === 'user')
  assert.deepEqual(first.content, [{ type: 'text', text: '[[shell ls]]' }])

  const pages: typeof all.items = []
  let before: number | null | undefined
  do {
    const page: typeof all = await call('history.read', { sessionId, limit: 3, ...(before && { before }) })
    pages.unshift(...page.items)
    before = page.next
  } while (before)
  assert.deepEqual(pages, all.items)
})

test('the log is read on from a cursor and backwards, with and without deltas', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  await turn(client, sessionId, '[[say hello]]')
  const all = await call('events.read', { after: 0, sessionId, limit: 1000 })
  assert.equal(all.more, false)
  assert.deepEqual(
    all.events.map((event) => event.seq).toSorted((a, b) => a - b),
    all.events.map((event) => event.seq),
  )
  const last = all.events.at(-1)!
  const before = await call('events.read', { before: last.seq, sessionId, limit: 2 })
  assert.deepEqual(before.events, all.events.slice(-3, -1))
  const completed = await call('events.read', {
    sessionId,
    types: ['message.completed'],
    whole: true,
    after: 0,
  })
  assert.equal(completed.events.length, 1)
})

test('an approval is listed, decided once, and the second decision is told who was first', async () => {
  const { id: sessionId } = await demoSession(client, daemon, 'ask')
  const sent = await call('session.send', { sessionId, content: '[[shell rm -rf /]]' })
  await readTo(client.events({ after: sent.seq - 1, sessionId }), 'approval.requested')
  const { approvals } = await call('approval.list', { sessionId })
  assert.equal(approvals.length, 1)
  const approvalId = approvals[0]!.id
  assert.equal((await call('session.get', { sessionId })).openApprovals, 1)
  assert.equal((await call('approval.get', { approvalId })).decision, null)
  const decided = await call('approval.decide', { approvalId, behavior: 'deny', comment: 'not that' })
  assert.deepEqual(decided.decision, { behavior: 'deny', comment: 'not that' })
  const late = await refusal(call('approval.decide', { approvalId, behavior: 'allow' }))
  assert.equal(late.code, 'approval_resolved')
  await readTo(client.events({ after: sent.seq - 1, sessionId }), 'turn.completed')
})

test('messages wait in order and can be taken out; an interrupt stops the turn', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const first = await call('session.send', { sessionId, content: '[[hang]]' })
  const second = await call('session.send', { sessionId, content: 'second' })
  const third = await call('session.send', { sessionId, content: 'third' })
  assert.deepEqual([first.position, second.position, third.position], [0, 1, 2])
  assert.deepEqual(
    (await call('queue.list', { sessionId })).turns.map((one) => one.id),
    [second.turnId, third.turnId],
  )
  await call('queue.remove', { sessionId, turnId: second.turnId })
  const fourth = await call('session.send', { sessionId, content: 'fourth' })
  const one = await call('session.interrupt', { sessionId, turnId: third.turnId, clearQueue: true })
  assert.deepEqual(
    one,
    { interrupted: false, cancelled: [third.turnId] },
    'another one runs, and others wait',
  )
  const over = await call('session.interrupt', { sessionId, turnId: third.turnId })
  assert.deepEqual(over, { interrupted: false, cancelled: [] })
  const result = await call('session.interrupt', { sessionId, clearQueue: true })
  assert.deepEqual(result, { interrupted: true, cancelled: [fourth.turnId] })
  await readTo(client.events({ after: first.seq, sessionId }), 'turn.interrupted')
})

test('a running turn is steered, and the conversation shows it at its place', async () => {
  const { id: sessionId } = await demoSession(client, daemon, 'ask')
  const idle = await refusal(call('session.steer', { sessionId, content: 'hi' }))
  assert.deepEqual([idle.code, idle.data], ['not_running', { code: 'not_running', interrupting: false }])
  const { seq, turnId } = await call('session.send', { sessionId, content: '[[shell make]]' })
  await readTo(client.events({ after: seq - 1, sessionId }), 'approval.requested')
  const steered = await call('session.steer', { sessionId, content: '[[say steered]]', key: 'k' })
  assert.equal(steered.turnId, turnId)
  assert.equal((await call('session.get', { sessionId })).steering, 1)
  const again = await call('session.steer', { sessionId, content: '[[say steered]]', key: 'k' })
  assert.deepEqual([again.steerId, again.repeated], [steered.steerId, true])
  const { approvals } = await call('approval.list', { sessionId, open: true })
  await call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
  await readTo(client.events({ after: seq - 1, sessionId }), 'turn.completed')
  const { items } = await call('history.read', { sessionId })
  const story = items.flatMap((item) => (['approval', 'decision'].includes(item.kind) ? [] : [item.kind]))
  assert.deepEqual(story, ['user', 'tool', 'result', 'user', 'assistant', 'end'])
  const said = items.flatMap((item) => (item.kind === 'user' ? [[item.origin, item.turnId]] : []))
  assert.deepEqual(said, [
    ['native', turnId],
    ['native', turnId],
  ])
})

test('a conversation is summed up, and what is left of an account is listed with its agent', async () => {
  const { id: sessionId } = await call('session.create', { agent: 'demo', cwd: daemon.project, mode: 'auto' })
  const told = async () => (await call('agents.list', {})).agents.find(({ name }) => name === 'demo')?.limits
  assert.equal(await told(), null)
  await turn(client, sessionId, '[[limits 63 21]] [[words 40]]')
  assert.equal((await told())?.windows[0]?.usedPercent, 63)
  const { turnId, seq, log } = await call('session.compact', { sessionId, key: 'k' })
  await readTo(client.events({ sessionId, after: seq - 1, log }), 'turn.completed')
  assert.equal((await call('turn.get', { turnId })).text, 'a summary')
})

test('a tool of the client’s is called, and the turn goes on with its result', async () => {
  const clientTools = [{ name: 'lookup', description: 'Looks up', inputSchema: { type: 'object' } }]
  const given = { agent: 'demo', cwd: daemon.home, settings: { clientTools } }
  const { id: sessionId } = await call('session.create', given)
  const { seq } = await call('session.send', { sessionId, content: '[[call lookup e30=]]' })
  const held = await readTo(client.events({ after: seq - 1, sessionId }), 'call.held')
  const last = held.at(-1)!
  assert.ok(last.type === 'call.held')
  const { callId } = last
  await call('call.answer', { sessionId, callId, result: 'found' })
  const events = await readTo(client.events({ after: seq - 1, sessionId }), 'turn.completed')
  const end = events.at(-1)!
  assert.equal(end.type === 'turn.completed' && end.text, 'tool said: found')
  const late = await refusal(call('call.answer', { sessionId, callId, result: 'again' }))
  assert.equal(late.code, 'call_not_found')
})

test('a session is configured, paused, resumed, forked and destroyed', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  await turn(client, sessionId, '[[say hello]]')
  const configured = await call('session.configure', { sessionId, mode: 'code', title: 'renamed' })
  assert.deepEqual([configured.mode, configured.title], ['code', 'renamed'])
  assert.equal((await call('session.pause', { sessionId })).status, 'paused')
  assert.equal((await call('session.resume', { sessionId })).status, 'idle')
  const fork = await call('session.fork', { sessionId, title: 'branch' })
  assert.equal(fork.parentId, sessionId)
  await call('session.destroy', { sessionId })
  assert.equal((await refusal(call('session.get', { sessionId }))).code, 'session_not_found')
})

test('bookmarks are kept, listed and dropped', async () => {
  const { id: sessionId } = await demoSession(client, daemon)
  const { turnId } = await call('session.send', { sessionId, content: 'hi' })
  const bookmark = { owner: 'me', sessionId, turnId, seq: 3 }
  await call('bookmark.set', bookmark)
  assert.deepEqual((await call('bookmark.list', { owner: 'me', sessionId })).bookmarks, [bookmark])
  await call('bookmark.delete', { owner: 'me', turnId })
  assert.deepEqual((await call('bookmark.list', { owner: 'me', sessionId })).bookmarks, [])
})

test('what a session begins with by default', async () => {
  assert.deepEqual(await call('session.defaults', {}), { agent: 'demo', chosen: 'demo', mode: 'ask' })
})

test('a configuration with secrets in it is not shown', async () => {
  const settings = { mcpConfig: { token: 'hush' }, systemPrompt: 'be kind' }
  const made = await call('session.create', { agent: 'demo', cwd: daemon.project, settings })
  assert.deepEqual(made.settings, { systemPrompt: 'be kind' })
})

test('every method has been called above, but for those that have tests of their own', () => {
  const missing = METHODS.map((method): string => method.name).filter((name) => !called.has(name))
  assert.deepEqual(missing.toSorted(), CALLED_ELSEWHERE.toSorted())
})
