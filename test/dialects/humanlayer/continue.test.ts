import assert from 'node:assert/strict'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { demoDriver } from '../../../src/agents/demo/driver.ts'
import { type Json, type Rig, rigFor } from './support.ts'

interface Continued {
  session_id: string
  run_id: string
  claude_session_id: string
  parent_session_id: string
}

function goOn(rig: Rig, session_id: string, query: string, params: Json = {}): Promise<Continued> {
  return rig.call<Continued>('continueSession', { session_id, query, ...params })
}

test('a child has ids of its own, its parent, and what the parent remembers', async (t) => {
  const rig = await rigFor(t)
  const parent = await rig.run('[[remember plum]] hello')
  const child = await goOn(rig, parent, '[[recall]]')
  assert.deepEqual(child, {
    session_id: child.session_id,
    run_id: child.run_id,
    claude_session_id: '',
    parent_session_id: parent,
  })
  const state = await rig.reaches(child.session_id, 'completed')
  assert.equal((state['result'] as Json)['result'], 'recall: plum')
  assert.equal(state['parent_session_id'], parent)
  assert.equal(state['query'], '[[recall]]')
  assert.notEqual(state['claude_session_id'], (await rig.state(parent))['claude_session_id'])
  const changed = await rig.event(
    'session_status_changed',
    ({ session_id }) => session_id === child.session_id,
  )
  assert.equal(changed.data['parent_session_id'], parent)

  // Any session can be gone on with any number of times, also by its other id.
  const parentRun = String((await rig.state(parent))['run_id'])
  const second = await goOn(rig, parentRun, '[[recall]]')
  assert.equal(second.parent_session_id, parent)
  assert.notEqual(second.session_id, child.session_id)
})

test('a child is as its parent, but for the number of turns; what is said replaces', async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  const parent = await rig.run('hello', {
    model: 'm1',
    title: 'Fruit',
    system_prompt: 's',
    append_system_prompt: 'a',
    custom_instructions: 'c',
    allowed_tools: ['Read'],
    disallowed_tools: ['Bash'],
    additional_directories: ['/tmp'],
    max_turns: 4,
    verbose: true,
    auto_accept_edits: true,
    dangerously_skip_permissions: true,
    dangerously_skip_permissions_timeout: 600_000,
    permission_prompt_tool: 'mcp__mine__ask',
    mcp_config: {
      mine: { command: 'x' },
      web: { url: 'http://127.0.0.1:9/' },
    },
  })
  const heir = await goOn(rig, parent, 'on', { system_prompt: '', allowed_tools: [], mcp_config: '' })
  const { settings, rules, model, title, mode } = engine.sessions.get(heir.session_id)
  const { maxTurns: _, mcpConfig: __, ...expected } = engine.sessions.get(parent).settings
  const { mcpConfig, ...inherited } = settings
  assert.deepEqual(inherited, expected)
  assert.deepEqual(
    { rules, model, title, mode },
    { rules: engine.sessions.get(parent).rules, model: 'm1', title: 'Fruit', mode: 'ask' },
  )
  // The servers now belong to the child.
  assert.deepEqual(mcpConfig, {
    mcpServers: {
      mine: {
        command: 'x',
        env: {
          HUMANLAYER_SESSION_ID: heir.session_id,
          HUMANLAYER_RUN_ID: heir.run_id,
          HUMANLAYER_DAEMON_SOCKET: rig.path,
        },
      },
      web: { url: 'http://127.0.0.1:9/', headers: { 'X-Session-ID': heir.session_id } },
    },
  })

  await rig.reaches(heir.session_id, 'completed')
  const other = await goOn(rig, heir.session_id, 'on', {
    system_prompt: 's2',
    append_system_prompt: 'a2',
    custom_instructions: 'c2',
    allowed_tools: ['Edit'],
    disallowed_tools: ['Write'],
    additional_directories: ['sub'],
    max_turns: 9,
    model: 'm2',
    permission_prompt_tool: 'mcp__codelayer__request_permission',
    mcp_config: JSON.stringify({ mcpServers: { fresh: { command: 'y' } } }),
  })
  const session = engine.sessions.get(other.session_id)
  const { mcpConfig: fresh, ...rest } = session.settings
  assert.deepEqual(rest, {
    systemPrompt: 's2',
    appendSystemPrompt: 'a2',
    customInstructions: 'c2',
    allowedTools: ['Edit'],
    disallowedTools: ['Write'],
    additionalDirectories: [join(rig.engine.cwd, 'sub')],
    verbose: true,
    maxTurns: 9,
  })
  assert.deepEqual(Object.keys((fresh as { mcpServers: Json }).mcpServers), ['fresh'])
  assert.deepEqual([session.model, session.title], ['m2', 'Fruit'])
})

test('what cannot be gone on with, and what cannot be said', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.run('hello')
  await assert.rejects(goOn(rig, id, ''), { message: 'query is required' })
  await assert.rejects(goOn(rig, 'nobody', 'x'), { message: 'session not found: nobody' })
  await assert.rejects(goOn(rig, id, 'x', { mcp_config: '{"a":' }), (error: Error) =>
    error.message.startsWith('invalid mcp_config: '),
  )
  await assert.rejects(goOn(rig, id, 'x', { proxy_enabled: true }), /proxy_enabled is not supported/)
  const before = rig.engine.engine.sessions.list({ limit: 10 }).length
  assert.equal(before, 1)
})

test('a session that waits for an answer is not gone on with', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[shell ls]]')
  await rig.reaches(session_id, 'waiting_input')
  await assert.rejects(goOn(rig, session_id, 'x'), {
    message:
      'cannot continue session with status waiting_input (must be completed, interrupted, running, or failed)',
    data: { code: 'wrong_status', field: 'session_id' },
  })
})

test('a running parent is interrupted first; the others on the connection do not wait', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[remember fig]] [[hang]]')
  await rig.engine.event('turn.accepted', { sessionId: session_id })
  const order: string[] = []
  const child = goOn(rig, session_id, '[[recall]]').then((answer) => {
    order.push('continue')
    return answer
  })
  await rig.call('health').then(() => order.push('health'))
  const state = await rig.reaches((await child).session_id, 'completed')
  assert.deepEqual(order, ['health', 'continue'])
  assert.equal((state['result'] as Json)['result'], 'recall: fig')
  const parent = await rig.state(session_id)
  assert.deepEqual([parent['status'], parent['outcome']], ['completed', 'interrupted'])
})

test('failed, interrupted and never started: all can be gone on with', async (t) => {
  const rig = await rigFor(t)
  const failed = await rig.launch('[[fail 500]]')
  await rig.reaches(failed.session_id, 'failed')
  const after = await goOn(rig, failed.session_id, '[[say again]]')
  assert.equal(((await rig.reaches(after.session_id, 'completed'))['result'] as Json)['result'], 'again')

  const { engine, cwd } = rig.engine
  const empty = await engine.sessions.create({ agent: 'demo', cwd, mode: 'ask' })
  const fresh = await goOn(rig, empty.id, '[[say fresh]]')
  assert.equal(((await rig.reaches(fresh.session_id, 'completed'))['result'] as Json)['result'], 'fresh')
})

test('servers that another client has configured in its own way are inherited as they are', async (t) => {
  const rig = await rigFor(t)
  const { engine, cwd } = rig.engine
  for (const mcpConfig of ['/some/file.json', { odd: 'way' }]) {
    const parent = await engine.sessions.create({ agent: 'demo', cwd, settings: { mcpConfig } })
    const { session_id } = await goOn(rig, parent.id, 'hello')
    assert.deepEqual(engine.sessions.get(session_id).settings, { mcpConfig })
    await rig.reaches(session_id, 'completed')
  }
})

test('a working directory that has gone is an error, and no child', async (t) => {
  const rig = await rigFor(t)
  const path = join(rig.engine.home, 'short-lived')
  mkdirSync(path)
  const id = await rig.run('hello', { working_dir: path })
  rmSync(path, { recursive: true })
  await assert.rejects(goOn(rig, id, 'on'), { message: `working directory does not exist: ${path}` })
  assert.equal(rig.engine.engine.sessions.list({ limit: 10 }).length, 1)
})

test('an agent that cannot branch goes on with the same conversation', async (t) => {
  const capabilities = { ...demoDriver.capabilities, fork: false }
  const drivers = [{ ...demoDriver, name: 'plain', capabilities }]
  const rig = await rigFor(t, { engine: { drivers }, options: { agent: 'plain' } })
  const parent = await rig.run('[[remember kiwi]] hello', { model: 'm' })
  await rig.engine.host.end(parent)
  const child = await goOn(rig, parent, '[[recall]]', { system_prompt: 's' })
  assert.equal(child.parent_session_id, parent)
  const state = await rig.reaches(child.session_id, 'completed')
  assert.equal((state['result'] as Json)['result'], 'recall: kiwi')
  assert.equal(state['model'], 'm')
  assert.equal(state['parent_session_id'], parent)
  assert.equal((await rig.conversation(child.session_id))[0]!['session_id'], parent)
})

test('a child whose client names somebody to ask is not refused what its parent was', async (t) => {
  const rig = await rigFor(t, { options: { askAlways: false } })
  const parent = await rig.run('[[shell ls]]')
  const heir = await goOn(rig, parent, '[[shell ls]]')
  await rig.reaches(heir.session_id, 'completed')
  const permission_prompt_tool = 'mcp__codelayer__request_permission'
  const asking = await goOn(rig, parent, '[[shell ls]]', { permission_prompt_tool })
  await rig.reaches(asking.session_id, 'waiting_input')
})

test('interrupting: what is answered, and what is refused', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[hang]]')
  await rig.engine.event('turn.accepted', { sessionId: session_id })
  assert.deepEqual(await rig.call('interruptSession', { session_id }), {
    success: true,
    session_id,
    status: 'completing',
  })
  const state = await rig.reaches(session_id, 'completed')
  assert.equal(state['outcome'], 'interrupted')
  await assert.rejects(rig.call('interruptSession', { session_id }), {
    message: 'cannot interrupt session with status completed (must be running)',
    data: { code: 'wrong_status', field: 'session_id' },
  })
})

test('what waits behind an interrupted turn does not start', async (t) => {
  const rig = await rigFor(t)
  const hangingWithMore = async (): Promise<string> => {
    const { session_id } = await rig.launch('[[hang]]')
    await rig.engine.event('turn.accepted', { sessionId: session_id })
    await rig.engine.engine.turns.send({ sessionId: session_id, input: [{ type: 'text', text: '[[hang]]' }] })
    return session_id
  }
  const stopped = await hangingWithMore()
  await rig.call('interruptSession', { session_id: stopped })
  assert.equal((await rig.reaches(stopped, 'completed'))['turn_count'], 1)
  const left = await hangingWithMore()
  await goOn(rig, left, 'hello')
  const { status, turn_count } = await rig.state(left)
  assert.deepEqual([status, turn_count], ['completed', 1])
})

test('interrupting a session that waits closes its questions and leaves it continuable', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[remember date]] [[shell ls]]')
  await rig.reaches(session_id, 'waiting_input')
  const { data } = await rig.event('new_approval')
  await rig.call('interruptSession', { session_id })
  const resolved = await rig.event('approval_resolved')
  assert.deepEqual(
    [resolved.data['approval_id'], resolved.data['decision'], resolved.data['approved']],
    [data['approval_id'], 'cancelled', false],
  )
  await rig.reaches(session_id, 'completed')
  assert.deepEqual(await rig.call('fetchApprovals'), { approvals: [] })
  const { approval } = await rig.call<{ approval: Json }>('getApproval', { approval_id: data['approval_id'] })
  assert.deepEqual([approval['status'], approval['comment']], ['denied', 'cancelled: interrupted'])
  const child = await goOn(rig, session_id, '[[recall]]')
  const state = await rig.reaches(child.session_id, 'completed')
  assert.equal((state['result'] as Json)['result'], 'recall: date')
})

test('after a restart of the daemon a question is still open, and its session goes on', async (t) => {
  const first = await rigFor(t)
  const { session_id } = await first.launch('[[remember lime]] [[shell ls]]')
  await first.reaches(session_id, 'waiting_input')
  const { home } = first.engine
  await first.abandon()

  const rig = await rigFor(t, { engine: { home } })
  assert.equal((await rig.state(session_id))['status'], 'waiting_input')
  const { approvals } = await rig.call<{ approvals: Json[] }>('fetchApprovals', { session_id })
  assert.equal(approvals.length, 1)
  const answer = { call_id: approvals[0]!['call_id'], type: 'function_call', decision: 'approve' }
  assert.deepEqual(await rig.call('sendDecision', answer), { success: true, error: '' })
  const state = await rig.reaches(session_id, 'completed')
  assert.match(String((state['result'] as Json)['result']), /ran: ls/)
  const child = await goOn(rig, session_id, '[[recall]]')
  const after = await rig.reaches(child.session_id, 'completed')
  assert.equal((after['result'] as Json)['result'], 'recall: lime')
})
