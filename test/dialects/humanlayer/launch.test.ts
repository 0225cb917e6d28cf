import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import type { AgentDriver } from '../../../src/agents/agent.ts'
import { demoDriver } from '../../../src/agents/demo/driver.ts'
import { FOR_EVER, NO_RULES } from '../../../src/core/rule.ts'
import { promptToolOf, serversFor, serversOf } from '../../../src/dialects/humanlayer/mcp.ts'
import { type Json, rigFor } from './support.ts'

test('a launch answers both ids; the session is listed with what it was launched with', async (t) => {
  const rig = await rigFor(t)
  const { session_id, run_id } = await rig.launch('build me an API', { model: 'any-model-5', title: 'API' })
  await rig.reaches(session_id, 'completed')
  const { sessions } = await rig.call<{ sessions: Json[] }>('listSessions')
  const { query, model, working_dir, status, title } = sessions[0]!
  assert.deepEqual(
    { query, model, working_dir, status, title, id: sessions[0]!['id'], run_id: sessions[0]!['run_id'] },
    {
      query: 'build me an API',
      model: 'any-model-5',
      working_dir: rig.engine.cwd,
      status: 'completed',
      title: 'API',
      id: session_id,
      run_id,
    },
  )
})

test('launches at the same time have ids of their own', async (t) => {
  const rig = await rigFor(t)
  const launched = await Promise.all(Array.from({ length: 5 }, (_, n) => rig.launch(`[[say ${n}]]`)))
  const ids = launched.flatMap(({ session_id, run_id }) => [session_id, run_id])
  assert.equal(new Set(ids).size, 10)
  for (const { session_id } of launched) await rig.reaches(session_id, 'completed')
})

test('a query is needed', async (t) => {
  const rig = await rigFor(t)
  for (const params of [{}, { query: '' }, { query: ' \n' }, { query: null }]) {
    await assert.rejects(rig.call('launchSession', params), {
      message: 'query is required',
      data: { code: 'invalid_params', field: 'query' },
    })
  }
})

test('every setting arrives; what is empty was not given', async (t) => {
  const rig = await rigFor(t)
  const { session_id: full } = await rig.launch('[[system]]', {
    system_prompt: 'a [[sysword one]]',
    append_system_prompt: 'b [[sysword two]]',
    custom_instructions: 'be kind',
    allowed_tools: ['Read'],
    disallowed_tools: ['Bash'],
    max_turns: 3,
    verbose: true,
    additional_directories: ['~/more', 'below', '/tmp'],
    approval_timeout_ms: 60_000,
  })
  const { home, cwd, engine } = rig.engine
  assert.deepEqual(engine.sessions.get(full).settings, {
    systemPrompt: 'a [[sysword one]]',
    appendSystemPrompt: 'b [[sysword two]]',
    customInstructions: 'be kind',
    allowedTools: ['Read'],
    disallowedTools: ['Bash'],
    additionalDirectories: [join(home, 'more'), join(cwd, 'below'), '/tmp'],
    maxTurns: 3,
    verbose: true,
    approvalTimeoutMs: 60_000,
  })
  const { result } = await rig.reaches(full, 'completed')
  assert.equal((result as Json)['result'], 'system: one two')

  const { session_id: bare } = await rig.launch('hello', {
    model: '',
    system_prompt: '',
    custom_instructions: '',
    allowed_tools: [],
    max_turns: 0,
    verbose: false,
    title: '',
    mcp_config: { mcpServers: {} },
    permission_prompt_tool: '',
    agent: '',
    working_dir: '',
  })
  const session = engine.sessions.get(bare)
  assert.deepEqual(session.settings, {})
  assert.deepEqual(
    [session.mode, session.model, session.title, session.rules, session.origin],
    ['ask', null, null, NO_RULES, 'humanlayer'],
  )
})

test('the working directory: home, relative, absolute, missing, not a directory', async (t) => {
  const rig = await rigFor(t)
  const { home, cwd, engine } = rig.engine
  mkdirSync(join(cwd, 'sub'))
  writeFileSync(join(cwd, 'file'), '')
  for (const [given, expected] of [
    ['~', home],
    ['~/project', cwd],
    ['sub', join(cwd, 'sub')],
    [join(cwd, 'sub'), join(cwd, 'sub')],
    ['', cwd],
  ] as const) {
    const id = await rig.run('hello', { working_dir: given })
    assert.equal(engine.sessions.get(id).cwd, expected)
  }
  for (const path of ['nowhere', 'file']) {
    await assert.rejects(rig.launch('hello', { working_dir: path }), {
      message: `working directory does not exist: ${join(cwd, path)}`,
      data: { code: 'path_not_found', field: 'working_dir' },
    })
  }
})

test('an agent that is not there is an error, and no session', async (t) => {
  const rig = await rigFor(t)
  await assert.rejects(rig.launch('hello', { agent: 'nobody' }), /nobody/)
  assert.deepEqual(await rig.call('listSessions'), { sessions: [] })
})

test('a session that fails says so', async (t) => {
  const rig = await rigFor(t)
  const { session_id } = await rig.launch('[[fail 503]]')
  const state = await rig.reaches(session_id, 'failed')
  assert.match(String(state['error_message']), /503/)
  assert.equal(state['error'], state['error_message'])
  const result = state['result'] as Json
  assert.deepEqual([result['is_error'], result['error']], [true, state['error']])
})

test('an agent that cannot be started leaves a session that has failed, not one that starts for ever', async (t) => {
  const plan: AgentDriver['plan'] = (session, detection) => ({
    ...demoDriver.plan(session, detection),
    command: '/nowhere/agent',
  })
  const rig = await rigFor(t, { engine: { drivers: [{ ...demoDriver, plan }] } })
  const { session_id } = await rig.launch('hello')
  const state = await rig.reaches(session_id, 'failed')
  assert.notEqual(state['error_message'], '')
})

test('skipping permissions: for ever, for a time, and edits alone', async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  const always = await rig.run('[[shell ls]]', { dangerously_skip_permissions: true })
  assert.equal(engine.sessions.get(always).rules.skipUntil, FOR_EVER)
  const state = await rig.state(always)
  assert.equal(state['dangerously_skip_permissions'], true)
  assert.equal(state['dangerously_skip_permissions_expires_at'], undefined)

  const before = Date.now()
  const timed = await rig.run('[[shell ls]]', {
    dangerously_skip_permissions: true,
    dangerously_skip_permissions_timeout: 60_000,
  })
  const until = engine.sessions.get(timed).rules.skipUntil!
  assert.ok(until >= before + 60_000 && until <= Date.now() + 60_000)
  assert.equal(
    (await rig.state(timed))['dangerously_skip_permissions_expires_at'],
    new Date(until).toISOString(),
  )

  const edits = await rig.run('[[edit a.txt x y]]', { auto_accept_edits: true })
  assert.equal((await rig.state(edits))['auto_accept_edits'], true)
  assert.deepEqual(await rig.call('fetchApprovals'), { approvals: [] })
  assert.ok(!rig.events.some(({ type }) => type === 'new_approval' || type === 'approval_resolved'))
})

test('without anybody to ask, what needs a human is refused at once, if the configuration says so', async (t) => {
  const rig = await rigFor(t, { options: { askAlways: false } })
  const id = await rig.run('[[shell ls]]')
  const [call] = (await rig.conversation(id)).filter(({ event_type }) => event_type === 'tool_call')
  assert.equal(call!['approval_status'], 'denied')
  // Somebody is named, or everything is allowed: then nothing is refused.
  await rig.run('[[shell ls]]', { dangerously_skip_permissions: true })
  const asked = await rig.launch('[[shell ls]]', {
    permission_prompt_tool: 'mcp__codelayer__request_permission',
  })
  await rig.reaches(asked.session_id, 'waiting_input')
})

test("the client's own tool is asked when its server is there; otherwise the daemon asks", async (t) => {
  const rig = await rigFor(t)
  const { engine } = rig.engine
  const approvals = 'mcp__approvals__request_permission'
  const own = await rig.run('hello', {
    permission_prompt_tool: approvals,
    mcp_config: { mcpServers: { approvals: { command: 'npx', args: ['humanlayer', 'mcp'] } } },
  })
  assert.equal(engine.sessions.get(own).settings.permissionPromptTool, approvals)
  const ours = await rig.run('hello', { permission_prompt_tool: approvals })
  assert.equal(engine.sessions.get(ours).settings.permissionPromptTool, undefined)

  for (const name of ['codelayer', 'approvals', 'humanlayer']) {
    assert.equal(promptToolOf(`mcp__${name}__request_permission`, null), null)
  }
  assert.equal(promptToolOf(approvals, { other: {} }), null)
  assert.equal(promptToolOf(approvals, { approvals: {} }), approvals)
  assert.equal(promptToolOf('mcp__mine__ask', null), 'mcp__mine__ask')
})

test('MCP servers get to know their session; what the client set stays', async (t) => {
  const rig = await rigFor(t)
  const { session_id, run_id } = await rig.launch('hello', {
    mcp_config: {
      mcpServers: {
        local: { command: 'x', args: ['y'], env: { KEEP: 'me', HUMANLAYER_RUN_ID: 'mine' } },
        remote: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { Authorization: 'secret' } },
        named: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { 'x-session-id': 'mine' } },
      },
    },
  })
  assert.deepEqual(rig.engine.engine.sessions.get(session_id).settings.mcpConfig, {
    mcpServers: {
      local: {
        command: 'x',
        args: ['y'],
        env: {
          KEEP: 'me',
          HUMANLAYER_RUN_ID: 'mine',
          HUMANLAYER_SESSION_ID: session_id,
          HUMANLAYER_DAEMON_SOCKET: rig.path,
        },
      },
      remote: {
        type: 'http',
        url: 'http://127.0.0.1:9/mcp',
        headers: { Authorization: 'secret', 'X-Session-ID': session_id },
      },
      named: { type: 'http', url: 'http://127.0.0.1:9/mcp', headers: { 'x-session-id': 'mine' } },
    },
  })
  await rig.reaches(session_id, 'completed')
  const everything = JSON.stringify([
    await rig.call('listSessions'),
    await rig.state(run_id),
    await rig.conversation(session_id),
    rig.events,
  ])
  assert.ok(!everything.includes('secret') && !everything.includes('KEEP'))
})

test('an MCP configuration is an object or its JSON, with or without the outer name', () => {
  const server = { command: 'x' }
  for (const config of [
    { mcpServers: { one: server } },
    { one: server },
    JSON.stringify({ mcpServers: { one: server } }),
    JSON.stringify({ one: server }),
  ]) {
    assert.deepEqual(serversOf(config), { one: server })
  }
  for (const nothing of [undefined, '', ' ', {}, { mcpServers: {} }, { mcpServers: null }]) {
    assert.equal(serversOf(nothing), null)
  }
  for (const bad of ['{', '[]', '5', 'null', { mcpServers: [] }, { mcpServers: { one: 'x' } }]) {
    assert.throws(() => serversOf(bad), /^HumanLayerError: invalid mcp_config: /)
  }
  const { mcpServers } = serversFor(
    {
      one: { command: 'x', env: { HUMANLAYER_SESSION_ID: 'ab0', HUMANLAYER_RUN_ID: 'ab1' } },
      odd: { type: 'sdk' },
    },
    { sessionId: 'cd2', socket: '/s', parentId: 'ab0' },
  )
  assert.deepEqual(mcpServers, {
    one: {
      command: 'x',
      env: { HUMANLAYER_SESSION_ID: 'cd2', HUMANLAYER_RUN_ID: 'cd3', HUMANLAYER_DAEMON_SOCKET: '/s' },
    },
    odd: { type: 'sdk' },
  })
})
