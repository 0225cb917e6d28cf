import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { codexDriver } from '../../src/agents/codex/driver.ts'
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
    parse(await codexDriver.answer({ step: 'open', fresh }, session(patch)))[0]!
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
    assert.deepEqual(params['config'], {
      ...config,
      'mcp_servers.local': servers.local,
      'mcp_servers.remote': { url: 'http://h', http_headers: { K: 'v' } },
    })
  })
})

describe('encode', () => {
  test('a message goes with the policy of the mode, and the model', () => {
    const policies = (['auto', 'code', 'plan', 'ask'] as Mode[]).map((mode) => {
      const given = session({ mode, model: 'm', settings: { additionalDirectories: ['/more'] } })
      const input = [
        { type: 'text' as const, text: 'hi' },
        { type: 'image' as const, mediaType: 'image/png', data: 'AA==' },
      ]
      const [line] = parse(codexDriver.encode({ kind: 'prompt', turnId: 't1', input }, given))
      assert.equal(line!.id, 's1:turn:t1')
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

  test('mode and model go with the next message', () => {
    assert.deepEqual(codexDriver.encode({ kind: 'mode', mode: 'ask' }, session()), [])
    assert.deepEqual(codexDriver.encode({ kind: 'model', model: 'm' }, session()), [])
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
    assert.deepEqual(told(asked, NO), { answers: {} })
    const fields = { ...asked, tool: 'mcp__files' }
    assert.deepEqual(told(fields, { ...YES, answers: { 'Which?': 'Blue' } }), {
      action: 'accept',
      content: { q1: 'Blue' },
      _meta: null,
    })
    assert.deepEqual(told(fields, NO), { action: 'decline', content: null, _meta: null })
  })
})

test('an interrupt and a barrier read the conversation; without one there is nothing to read', () => {
  const read = { method: 'thread/read', params: { threadId: 'T' } }
  assert.deepEqual(parse(codexDriver.interrupt(session())), [{ id: 's1:interrupt', ...read }])
  assert.deepEqual(parse(codexDriver.barrier('b', session())), [{ id: 's1:barrier:b', ...read }])
  assert.deepEqual(codexDriver.interrupt(session({ nativeId: null })), [])
})

test('a turn is stopped by its own id, and a request that is not understood is refused', async () => {
  const [stop] = parse(await codexDriver.answer({ step: 'stop', turn: 'C1' }, session()))
  assert.deepEqual([stop!.method, stop!.params], ['turn/interrupt', { threadId: 'T', turnId: 'C1' }])
  const [line] = await codexDriver.answer({ step: 'refuse', requestId: '3', method: 'x' }, session())
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
