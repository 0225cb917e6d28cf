import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { codexDriver } from '../../src/agents/codex/driver.ts'
import type { CodexState } from '../../src/agents/codex/state.ts'
import { codexTranslator } from '../../src/agents/codex/translator.ts'
import type { Approval, Decision } from '../../src/core/approval.ts'
import type { Mode } from '../../src/core/mode.ts'
import type { Session } from '../../src/core/session.ts'
import { aQuestion, aSession, running } from '../support/session.ts'

const DETECTION = { name: 'codex', installed: true, path: '/bin/codex', version: '0.166.0', problem: null }
const session = (patch: Partial<Session> = {}) => aSession({ agent: 'codex', nativeId: 'T', ...patch })
const parse = (lines: string[]) =>
  lines.map((line) => {
    assert.ok(!line.includes('\n'))
    return JSON.parse(line) as { id: unknown; method: string; params: Record<string, unknown> }
  })

describe('plan', () => {
  test('starts the app server and greets it; prompts are not in its arguments', () => {
    const { greeting, ...rest } = codexDriver.plan(
      session({ settings: { systemPrompt: 'secret' } }),
      DETECTION,
    )
    assert.deepEqual(rest, { command: '/bin/codex', args: ['app-server'], cwd: '/project', env: {} })
    assert.deepEqual(
      parse(greeting).map(({ id, method }) => [id, method]),
      [
        ['process:initialize', 'initialize'],
        [undefined, 'initialized'],
        ['s1:account', 'account/read'],
        ['s1:models', 'model/list'],
      ],
    )
  })

  test('settings that Codex does not have are refused', () => {
    const refused = (settings: Session['settings']) => () =>
      codexDriver.plan(session({ settings }), DETECTION)
    assert.throws(refused({ allowedTools: ['x'] }), { code: 'unsupported' })
    assert.throws(refused({ permissionPromptTool: 'mcp__a__b' }), { code: 'unsupported' })
    assert.throws(refused({ mcpConfig: '/file.json' }), { code: 'unsupported' })
    assert.doesNotThrow(refused({ allowedTools: [], permissionPromptTool: 'stdio', mcpConfig: {} }))
  })
})

describe('opening', () => {
  const open = async (patch: Partial<Session>, fresh = false) =>
    parse(await codexDriver.serve({ HOME: '/nowhere' }).answer({ step: 'open', fresh }, session(patch)))[0]!
  const config = { 'shell_environment_policy.set.CORRAL_SESSION_ID': 's1' }

  test('a new conversation, a known one, a fork of one, and a fresh one for one that is lost', async () => {
    assert.deepEqual(await open({ nativeId: null }), {
      id: 's1:open',
      method: 'thread/start',
      params: { cwd: '/project', config },
    })
    assert.deepEqual(await open({ forkFrom: 'F', model: 'm' }), {
      id: 's1:open',
      method: 'thread/resume',
      params: { threadId: 'T', cwd: '/project', model: 'm', config, excludeTurns: true },
    })
    const fork = await open({ nativeId: null, forkFrom: 'F' })
    assert.deepEqual([fork.method, fork.params['threadId']], ['thread/fork', 'F'])
    assert.equal((await open({}, true)).method, 'thread/start')
  })

  test('where nobody can answer it has no tool to ask', async () => {
    const { params } = await open({ nativeId: null, settings: { questions: false } })
    assert.deepEqual(params['config'], {
      ...config,
      'tools.experimental_request_user_input.enabled': false,
    })
  })

  test('prompts and MCP servers go with it', async () => {
    const servers = {
      local: { command: 'x', args: ['y'], env: { A: 'b' } },
      remote: { type: 'http', url: 'http://h', headers: { K: 'v' } },
    }
    const settings = {
      systemPrompt: 'base',
      appendSystemPrompt: 'one',
      customInstructions: 'two',
      mcpConfig: { mcpServers: servers },
    }
    const { params } = await open({ nativeId: null, settings })
    assert.deepEqual([params['baseInstructions'], params['developerInstructions']], ['base', 'one\n\ntwo'])
    const asking = { default_tools_approval_mode: 'prompt' }
    assert.deepEqual(params['config'], {
      ...config,
      'mcp_servers.local': { ...asking, ...servers.local },
      'mcp_servers.remote': { ...asking, url: 'http://h', http_headers: { K: 'v' } },
    })
  })
})

describe('encode', () => {
  test('a message goes with the policy of the mode, and the model', () => {
    const guards: unknown[] = []
    const policies = (['auto', 'code', 'plan', 'ask'] as Mode[]).map((mode) => {
      const given = session({ mode, model: 'm', settings: { additionalDirectories: ['/more'] } })
      const input = [
        { type: 'text' as const, text: 'hi' },
        { type: 'image' as const, mediaType: 'image/png', data: 'AA==' },
      ]
      const told = parse(codexDriver.encode({ kind: 'prompt', turnId: 't1', input }, given))
      const line = told.pop()
      guards.push(told.map(({ id, params }) => [id, params['permissions']]))
      assert.equal(line!.id, `s1:turn:t1:${mode}`)
      const { approvalPolicy, sandboxPolicy, ...rest } = line!.params
      assert.deepEqual(rest, {
        threadId: 'T',
        clientUserMessageId: 't1',
        approvalsReviewer: 'user',
        model: 'm',
        input: [
          { type: 'text', text: 'hi', text_elements: [] },
          { type: 'image', url: 'data:image/png;base64,AA==' },
        ],
      })
      return [mode, approvalPolicy, sandboxPolicy]
    })
    const workspace = {
      type: 'workspaceWrite',
      writableRoots: ['/more'],
      networkAccess: false,
      excludeTmpdirEnvVar: true,
      excludeSlashTmp: true,
    }
    assert.deepEqual(policies, [
      ['auto', 'untrusted', { type: 'dangerFullAccess' }],
      ['code', 'untrusted', workspace],
      ['plan', 'never', { type: 'readOnly', networkAccess: false }],
      ['ask', 'untrusted', workspace],
    ])
    assert.deepEqual(guards, [[], [], [['s1:guard', 'corral_read_only']], []])
  })

  test('a steer names the turn that it is for; without one it is not told', () => {
    const steer = {
      id: 'x1',
      seq: 1,
      input: [{ type: 'text' as const, text: 'hi' }],
      key: null,
      origin: null,
    }
    const given = { ...session(), turn: running({ agent: 'codex' }).turn }
    const told = (ours: string | null) =>
      parse(codexDriver.encode({ kind: 'steer', steer }, given, { turn: { id: 'C1', ours, started: true } }))
    const [line, ...more] = told('t1')
    assert.deepEqual([line!.id, line!.method, more.length], ['s1:steer:x1', 'turn/steer', 0])
    const input = [{ type: 'text', text: 'hi', text_elements: [] }]
    assert.deepEqual(line!.params, { threadId: 'T', expectedTurnId: 'C1', clientUserMessageId: 'x1', input })
    assert.deepEqual([told(null), told('t0')], [[], []])
    assert.deepEqual(codexDriver.encode({ kind: 'steer', steer }, given, { turn: null }), [])
  })

  test('the model goes with the next message, the mode also at once', () => {
    assert.deepEqual(codexDriver.encode({ kind: 'model', model: 'm' }, session()), [])
    const told = (patch = {}) => parse(codexDriver.encode({ kind: 'mode', mode: 'plan' }, session(patch)))
    assert.deepEqual(told({ nativeId: null }), [])
    const sandboxPolicy = { type: 'readOnly', networkAccess: false }
    const params = { threadId: 'T', approvalPolicy: 'never', approvalsReviewer: 'user', sandboxPolicy }
    assert.deepEqual(told(), [{ id: 's1:mode:plan', method: 'thread/settings/update', params }])
  })

  test('the effort goes with the next message, as near as the model has it', () => {
    const state = {
      ...codexTranslator.initial(session()),
      model: 'own',
      models: [
        { id: 'own', efforts: ['low', 'high', 'ultra'], own: 'low' },
        { id: 'm', efforts: ['none', 'minimal', 'xhigh'], own: null },
        { id: 'dull', efforts: [], own: null },
      ],
    }
    const effortIn = (patch: Partial<Session>, heard?: CodexState) =>
      parse(codexDriver.encode({ kind: 'prompt', turnId: 't', input: [] }, session(patch), heard)).at(-1)!
        .params['effort']
    assert.deepEqual(
      (['off', 'low', 'medium', 'max'] as const).map((effort) => effortIn({ effort }, state)),
      ['low', 'low', 'high', 'high'],
    )
    assert.equal(effortIn({ effort: 'off', model: 'm' }, state), 'none')
    assert.equal(effortIn({ effort: 'medium', model: 'm' }, state), 'xhigh')
    assert.equal(effortIn({ effort: 'high', model: 'dull' }, state), undefined)
    assert.equal(effortIn({ effort: null }, state), undefined)
    assert.equal(effortIn({ effort: 'xhigh' }), 'high', 'what every model has, while nobody has said')
    const told = (effort: 'high' | null, heard?: CodexState) =>
      parse(codexDriver.encode({ kind: 'effort', effort }, session(), heard)).map(({ params }) => params)
    assert.deepEqual(told('high', state), [])
    assert.deepEqual(told(null, state), [{ threadId: 'T', effort: 'low' }])
    assert.deepEqual(told(null), [])
  })

  const told = (approval: Partial<Approval>, decision: Decision): unknown => {
    const question = aQuestion('x', { requestId: '7', tool: 'command', ...approval })
    const [line] = codexDriver.encode({ kind: 'decision', approval: question, decision }, session())
    if (line === undefined) return null
    const { id, result } = JSON.parse(line) as { id: unknown; result: unknown }
    assert.equal(id, 7)
    return result
  }
  const YES = { behavior: 'allow' } as const
  const NO = { behavior: 'deny', comment: 'no' } as const

  test('decisions are in the words of Codex', () => {
    assert.deepEqual(told({}, YES), { decision: 'accept' })
    assert.deepEqual(told({}, { ...YES, forSession: true }), { decision: 'accept' })
    assert.deepEqual(told({}, NO), { decision: 'decline' })
    assert.deepEqual(told({}, { ...YES, input: { command: 'else' } }), { decision: 'decline' })
    assert.equal(told({}, { behavior: 'cancelled', reason: 'over' }), null)
  })

  test('permissions, forms and questions have answers of their own', () => {
    const permissions = { tool: 'permissions', input: { permissions: { network: { enabled: true } } } }
    assert.deepEqual(told(permissions, { ...YES, forSession: true }), {
      permissions: { network: { enabled: true } },
      scope: 'session',
    })
    assert.deepEqual(told(permissions, NO), { permissions: {}, scope: 'turn' })
    const form = { tool: 'mcp__files', input: { message: 'Allow?' } }
    assert.deepEqual(told(form, YES), { action: 'accept', content: {}, _meta: null })
    assert.deepEqual(told(form, NO), { action: 'decline', content: null, _meta: null })
    const questions = [{ id: 'q1', question: 'Which?' }]
    const asked = { kind: 'question', tool: 'requestUserInput', input: { questions } } as const
    const answer = { answers: { q1: { answers: ['Blue'] } } }
    assert.deepEqual(told(asked, { ...YES, answers: { 'Which?': 'Blue' } }), answer)
    assert.deepEqual(told(asked, { behavior: 'respond', text: 'Blue' }), answer)
    assert.deepEqual(told(asked, { ...NO, comment: '' }), { answers: {} })
    const two = { ...asked, input: { questions: [...questions, { id: 'q2', question: 'Why?' }] } }
    assert.deepEqual(told(two, NO), { answers: { q1: { answers: ['no'] }, q2: { answers: ['no'] } } })
    const fields = { ...asked, tool: 'mcp__files' }
    assert.deepEqual(told(fields, { ...YES, answers: { 'Which?': 'Blue' } }), {
      action: 'accept',
      content: { q1: 'Blue' },
      _meta: null,
    })
    assert.deepEqual(told(fields, NO), { action: 'decline', content: null, _meta: null })
  })

  test('a form is filled in with what its fields take', () => {
    const filled = (type: string, answer: string) => {
      const input = { questions: [{ id: 'q', question: 'Which?', type }] }
      const form = { kind: 'question', tool: 'mcp__files', input } as const
      return (told(form, { ...YES, answers: { q: answer } }) as { content: { q: unknown } }).content.q
    }
    assert.deepEqual(
      [filled('integer', '3'), filled('number', ' 0.5'), filled('number', 'few')],
      [3, 0.5, 'few'],
    )
    assert.deepEqual([filled('boolean', 'true'), filled('boolean', 'No')], [true, false])
    assert.deepEqual([filled('boolean', 'maybe'), filled('array', 'a, b')], ['maybe', ['a', 'b']])
    assert.deepEqual([filled('array', ''), filled('string', '3')], [[], '3'])
  })
})

test('a session that leaves for good stops its sub-agents, one that only makes room does not', () => {
  const heard = { children: [{ thread: 'K', parent: 'c' }] }
  const left = (patch: Partial<Session>, state: unknown = heard) =>
    parse(codexDriver.shared.leave(session(patch), state)).map(({ method, params }) => [
      method,
      params['threadId'],
    ])
  const last = ['thread/unsubscribe', 'T']
  assert.deepEqual(left({}), [last])
  assert.deepEqual(left({ destroyed: true }), [['turn/interrupt', 'K'], last])
  assert.deepEqual(left({ destroyed: true }, null), [last])
})

describe('rules of the user’s', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'corral-codex-rules-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))
  const write = (folder: string, text: string) => {
    mkdirSync(join(home, folder, 'rules'), { recursive: true })
    writeFileSync(join(home, folder, 'rules', 'default.rules'), text)
  }
  const opening = async () => {
    const cwd = join(home, 'project', 'part')
    const env = { CODEX_HOME: join(home, 'codex') }
    return parse(await codexDriver.serve(env).answer({ step: 'open' }, session({ cwd })))[0]!
  }

  test('that allow something are named in the request, which makes a guard for `plan`', async () => {
    write('codex', 'prefix_rule(pattern=["rm"], decision="forbidden")\n# prefix_rule(pattern=["ls"])\n')
    assert.equal((await opening()).id, 's1:open')
    write('codex', 'prefix_rule(pattern=["touch"], decision="allow")\n')
    write('project/.codex', 'prefix_rule(\n  pattern = ["make"],\n)\n')
    const { id, params } = await opening()
    const files = ['codex', 'project/.codex'].map((folder) => join(home, folder, 'rules', 'default.rules'))
    assert.equal(id, `s1:open:${files.join(', ')}`)
    const { default_permissions: permissions, ...rest } = params['config'] as Record<string, unknown>
    assert.equal(permissions, ':read-only')
    assert.ok('permissions.corral_read_only' in rest)
  })
})

test('an interrupt and a barrier read the conversation; without one there is nothing to read', () => {
  const read = { method: 'thread/read', params: { threadId: 'T' } }
  assert.deepEqual(parse(codexDriver.interrupt(session())), [{ id: 's1:interrupt', ...read }])
  assert.deepEqual(parse(codexDriver.barrier('b', session())), [{ id: 's1:barrier:b', ...read }])
  assert.deepEqual(codexDriver.interrupt(session({ nativeId: null })), [])
})

test('a turn is stopped by its own id, and a request that is not understood is refused', async () => {
  const wanted = { step: 'stop', turn: 'C1', children: ['K'] }
  const stops = parse(await codexDriver.serve({}).answer(wanted, session()))
  assert.deepEqual(
    stops.map(({ id, method, params }) => [id, method, params]),
    [
      ['s1:stop', 'turn/interrupt', { threadId: 'T', turnId: 'C1' }],
      ['s1:stop:K', 'turn/interrupt', { threadId: 'K', turnId: '' }],
    ],
  )
  const [line] = await codexDriver
    .serve({})
    .answer({ step: 'refuse', requestId: '3', method: 'x' }, session())
  assert.deepEqual(JSON.parse(line!), {
    id: 3,
    error: { code: -32601, message: 'Corral has no answer to x' },
  })
})

describe('detect', () => {
  let home: string
  beforeEach(() => {
    home = mkdtempSync(join(tmpdir(), 'corral-codex-detect-'))
  })
  afterEach(() => rmSync(home, { recursive: true, force: true }))
  const program = (path: string, text: string) => {
    const full = join(home, path)
    mkdirSync(dirname(full), { recursive: true })
    writeFileSync(full, `#!/bin/sh\n${text}\n`)
    chmodSync(full, 0o755)
    return full
  }
  const VERSION = 'echo "codex-cli 0.166.0"'

  test('says what is missing and what to do', async () => {
    const none = await codexDriver.detect({ PATH: home })
    assert.equal(none.installed, false)
    assert.match(none.problem!, /npm install -g @openai\/codex/)
    const wrong = await codexDriver.detect({ CORRAL_CODEX_BIN: join(home, 'nothing') })
    assert.match(wrong.problem!, /CORRAL_CODEX_BIN names .*nothing/)
    const broken = await codexDriver.detect({ CORRAL_CODEX_BIN: program('broken', 'exit 3'), PATH: '/bin' })
    assert.match(broken.problem!, /does not run/)
  })

  test('finds the program on the path, and the native one behind its script', async () => {
    const env = { PATH: `${home}/bin:/bin` }
    const path = program('bin/codex', VERSION)
    const found = { name: 'codex', installed: true, path, version: '0.166.0', problem: null }
    assert.deepEqual(await codexDriver.detect(env), found)
    rmSync(path)
    const script = program('lib/@openai/codex/bin/codex.js', VERSION)
    symlinkSync(script, path)
    assert.deepEqual(await codexDriver.detect(env), found)
    const arch = process.arch === 'arm64' ? 'aarch64' : 'x86_64'
    const system = process.platform === 'darwin' ? 'apple-darwin' : 'unknown-linux-musl'
    const place = `codex-${process.platform}-${process.arch}/vendor/${arch}-${system}/bin/codex`
    const native = program(`lib/@openai/${place}`, VERSION)
    assert.equal((await codexDriver.detect(env)).path, native)
  })
})
