import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { METHODS } from '../../../src/dialects/humanlayer/methods.ts'
import { type Json, rigFor, RpcFailure, type Rig } from './support.ts'

const SESSION_METHODS = [
  'getSessionState',
  'interruptSession',
  'getSessionSnapshots',
  'updateSessionSettings',
  'archiveSession',
  'updateSessionTitle',
]

function failure(message: string | RegExp, data?: Json) {
  return (error: unknown): boolean => {
    assert.ok(error instanceof RpcFailure)
    assert.equal(error.code, -32602)
    if (typeof message === 'string') assert.equal(error.message, message)
    else assert.match(error.message, message)
    if (data) assert.deepEqual(error.data, data)
    return true
  }
}

async function ids(rig: Rig, method: string, params: Json = {}): Promise<unknown[]> {
  const { sessions } = await rig.call<{ sessions: Json[] }>(method, params)
  return sessions.map(({ id }) => id)
}

test('health says ok, whatever it is given', async (t) => {
  const rig = await rigFor(t, { options: { version: '7.8.9' } })
  for (const params of [undefined, null, {}, { any: 'thing' }]) {
    assert.deepEqual(await rig.call('health', params), { status: 'ok', version: '7.8.9' })
  }
})

test('a session is named in every method that needs one, and must be there', async (t) => {
  const rig = await rigFor(t)
  const rest = { archived: true, title: 'x', query: 'q' }
  for (const name of [...SESSION_METHODS, 'continueSession']) {
    await assert.rejects(
      rig.call(name, rest),
      failure('session_id is required', { code: 'invalid_params', field: 'session_id' }),
    )
    await assert.rejects(
      rig.call(name, { ...rest, session_id: 'nobody' }),
      failure('session not found: nobody', { code: 'session_not_found' }),
    )
  }
})

test('wrong types are refused by name; null and what is not known are not', async (t) => {
  const rig = await rigFor(t)
  const wrong: [string, Json, string][] = [
    ['launchSession', { query: 5 }, 'query'],
    ['launchSession', { query: 'x', max_turns: '5' }, 'max_turns'],
    ['launchSession', { query: 'x', max_turns: 1.5 }, 'max_turns'],
    ['launchSession', { query: 'x', allowed_tools: 'Read' }, 'allowed_tools'],
    ['launchSession', { query: 'x', verbose: 'yes' }, 'verbose'],
    ['launchSession', { query: 'x', mcp_config: 7 }, 'mcp_config'],
    ['getSessionState', { session_id: 1 }, 'session_id'],
    ['getConversation', { session_id: 'x', limit: -1 }, 'limit'],
    ['bulkArchiveSessions', { session_ids: 'x', archived: true }, 'session_ids'],
    ['sendDecision', { approval_id: {}, decision: 'approve' }, 'approval_id'],
  ]
  for (const [method, params, field] of wrong) {
    await assert.rejects(
      rig.call(method, params),
      failure(new RegExp(`^invalid request: ${field}: `), { code: 'invalid_params', field }),
    )
  }
  const id = await rig.run('hello', {
    model: null,
    working_dir: null,
    mcp_config: null,
    max_turns: null,
    allowed_tools: null,
    verbose: null,
    nobody_knows: { this: 1 },
  })
  assert.equal((await rig.state(id))['query'], 'hello')
})

test('parameters that are wrong are -32602 in every method, what is not about them is -32603', async (t) => {
  const rig = await rigFor(t)
  const [done, waits] = [await rig.run('hello'), await rig.run('hello')]
  const session = { session_id: done }
  const ask = { run_id: waits, tool_name: 'Bash', tool_input: {} }
  const { approval_id } = await rig.call<{ approval_id: string }>('createApproval', ask)
  const wrong: [string, Json][] = [
    ['launchSession', {}],
    ['launchSession', { query: ' ' }],
    ['launchSession', { query: 'x', working_dir: '/no/such/place' }],
    ['launchSession', { query: 'x', agent: 'nobody' }],
    ['launchSession', { query: 'x', mcp_config: '{' }],
    ['launchSession', { query: 'x', mcp_config: { mcpServers: 5 } }],
    ['continueSession', session],
    ['continueSession', { ...session, query: 'x', mcp_config: '{' }],
    ['continueSession', { ...session, query: 'x', proxy_enabled: true }],
    ['getConversation', {}],
    ['getConversation', { session_id: 'nobody' }],
    ['fetchApprovals', { session_id: 'nobody' }],
    ['listApprovals', { session_id: 'nobody' }],
    ['getApproval', {}],
    ['getApproval', { approval_id: 'nobody' }],
    ['createApproval', { ...ask, run_id: undefined }],
    ['createApproval', { ...ask, run_id: 'nobody' }],
    ['createApproval', { ...ask, tool_name: '' }],
    ['createApproval', { ...ask, tool_input: undefined }],
    ['createApproval', { ...ask, type: 'else' }],
    ['sendDecision', { decision: 'approve' }],
    ['sendDecision', { approval_id }],
    ['sendDecision', { approval_id, decision: 'maybe' }],
    ['sendDecision', { approval_id, decision: 'deny' }],
    ['sendDecision', { approval_id, decision: 'approve', type: 'else' }],
    ['sendDecision', { approval_id, decision: 'approve', remember: 'for ever' }],
    ['listSessions', { cursor: 'nonsense' }],
    ['listSessions', { limit: -1 }],
    ['getSessionLeaves', { filter: 5 }],
    ['getRecentPaths', { limit: 1.5 }],
    ['updateSessionSettings', { ...session, dangerously_skip_permissions: 'yes' }],
    ['archiveSession', session],
    ['bulkArchiveSessions', { session_ids: [], archived: true }],
    ['bulkArchiveSessions', { session_ids: [done] }],
    ['updateSessionTitle', session],
  ]
  for (const [method, params] of wrong)
    await assert.rejects(rig.call(method, params), { code: -32602 }, method)
  await rig.call('sendDecision', { approval_id, decision: 'approve' })
  const late = await rig.call('sendDecision', { approval_id, decision: 'approve' })
  assert.equal(late['success'], false, 'an answer that comes too late is no error')
  await assert.rejects(rig.call('interruptSession', session), {
    code: -32603,
    data: { code: 'wrong_status', field: 'session_id' },
  })
})

test('the ten methods of the first specification and the later ones are all there', () => {
  const names = METHODS.map(({ name }) => name).toSorted()
  assert.deepEqual(names, [
    'Subscribe',
    'Unsubscribe',
    'archiveSession',
    'bulkArchiveSessions',
    'continueSession',
    'createApproval',
    'fetchApprovals',
    'getApproval',
    'getConversation',
    'getRecentPaths',
    'getSessionLeaves',
    'getSessionSnapshots',
    'getSessionState',
    'health',
    'interruptSession',
    'launchSession',
    'listApprovals',
    'listSessions',
    'sendDecision',
    'updateSessionSettings',
    'updateSessionTitle',
  ])
})

test('the list is empty, then has the newest first, page by page', async (t) => {
  const rig = await rigFor(t)
  assert.deepEqual(await rig.call('listSessions', null), { sessions: [] })
  const [a, b, c] = [await rig.run('one'), await rig.run('two'), await rig.run('three')]
  assert.deepEqual(await ids(rig, 'listSessions'), [c, b, a])

  const first = await rig.call<{ sessions: Json[]; next_cursor: string }>('listSessions', { limit: 2 })
  assert.deepEqual(
    first.sessions.map(({ id }) => id),
    [c, b],
  )
  const second = await rig.call('listSessions', { limit: 2, cursor: first.next_cursor })
  assert.deepEqual(
    (second['sessions'] as Json[]).map(({ id }) => id),
    [a],
  )
  assert.equal(second['next_cursor'], undefined)
  await assert.rejects(
    rig.call('listSessions', { cursor: 'x' }),
    failure(/cursor/, { code: 'invalid_params', field: 'cursor' }),
  )
})

test('sessions of other clients are listed too, destroyed ones are not', async (t) => {
  const rig = await rigFor(t)
  const { engine, cwd } = rig.engine
  const other = await engine.sessions.create({ agent: 'demo', cwd, mode: 'auto', origin: 'codecast' })
  const gone = await engine.sessions.create({ agent: 'demo', cwd })
  await engine.sessions.destroy(gone.id)
  assert.deepEqual(await ids(rig, 'listSessions'), [other.id])
  assert.equal((await rig.state(other.id))['status'], 'starting')
  await assert.rejects(rig.call('getSessionState', { session_id: gone.id }), failure(/^session not found/))
})

test('either id of a session will do', async (t) => {
  const rig = await rigFor(t)
  const { session_id, run_id } = await rig.launch('hello')
  assert.notEqual(session_id, run_id)
  assert.equal((await rig.state(run_id))['id'], session_id)
  assert.equal((await rig.state(session_id))['run_id'], run_id)
})

test('leaves are the sessions that nothing goes on from', async (t) => {
  const rig = await rigFor(t)
  assert.deepEqual(await ids(rig, 'getSessionLeaves'), [])
  const root = await rig.run('root')
  const next = async (session_id: string): Promise<string> => {
    const child = await rig.call<{ session_id: string }>('continueSession', { session_id, query: 'on' })
    await rig.reaches(child.session_id, 'completed')
    return child.session_id
  }
  const left = await next(root)
  const right = await next(root)
  const deep = await next(left)
  assert.deepEqual(await ids(rig, 'getSessionLeaves'), [deep, right])
  await rig.call('archiveSession', { session_id: right, archived: true })
  assert.deepEqual(await ids(rig, 'getSessionLeaves', { filter: 'normal' }), [deep])
  assert.deepEqual(await ids(rig, 'getSessionLeaves', { filter: 'archived' }), [right])
  assert.deepEqual(await ids(rig, 'getSessionLeaves', { filter: 'draft' }), [])
  assert.deepEqual(await ids(rig, 'getSessionLeaves', { filter: 'whatever' }), [deep, right])
  assert.deepEqual(await ids(rig, 'listSessions', { archived: true }), [right])
})

test('archiving one and many, back and forth', async (t) => {
  const rig = await rigFor(t)
  const [a, b] = [await rig.run('one'), await rig.run('two')]
  assert.deepEqual(await rig.call('archiveSession', { session_id: a, archived: true }), { success: true })
  assert.equal((await rig.state(a))['archived'], true)
  assert.deepEqual(await rig.call('bulkArchiveSessions', { session_ids: [a, b], archived: false }), {
    success: true,
  })
  assert.equal((await rig.state(a))['archived'], false)
  assert.deepEqual(await rig.call('bulkArchiveSessions', { session_ids: [a, 'nobody', b], archived: true }), {
    success: false,
    failed_sessions: ['nobody'],
  })
  assert.equal((await rig.state(b))['archived'], true)
  await assert.rejects(
    rig.call('bulkArchiveSessions', { session_ids: [], archived: true }),
    failure(/required/),
  )
  await assert.rejects(rig.call('archiveSession', { session_id: a }), failure('archived is required'))
})

test('a title is given, changed and taken away', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello', { title: 'First' })
  assert.equal((await rig.state(id))['title'], 'First')
  assert.deepEqual(await rig.call('updateSessionTitle', { session_id: id, title: 'Second' }), {
    success: true,
  })
  assert.equal((await rig.state(id))['title'], 'Second')
  const told = await rig.event('session_settings_changed', ({ title }) => title === 'Second')
  assert.equal(told.data['event_type'], 'settings_updated')
  await rig.call('updateSessionTitle', { session_id: id, title: '' })
  assert.equal((await rig.state(id))['title'], '')
  await assert.rejects(rig.call('updateSessionTitle', { session_id: id }), failure('title is required'))
})

test('recent paths have the last used first, and count', async (t) => {
  const rig = await rigFor(t)
  const other = join(rig.engine.home, 'other')
  mkdirSync(other)
  await rig.run('one')
  await rig.run('two')
  await rig.run('three', { working_dir: other })
  const { paths } = await rig.call<{ paths: Json[] }>('getRecentPaths')
  assert.deepEqual(
    paths.map(({ path, usage_count }) => ({ path, usage_count })),
    [
      { path: other, usage_count: 1 },
      { path: rig.engine.cwd, usage_count: 2 },
    ],
  )
  assert.match(String(paths[0]!['last_used']), /^\d{4}-.*Z$/)
  const { paths: one } = await rig.call<{ paths: Json[] }>('getRecentPaths', { limit: 1 })
  assert.equal(one.length, 1)
})
