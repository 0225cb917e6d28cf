import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import type { Approval } from '../../src/core/approval.ts'
import type { Effort } from '../../src/core/effort.ts'
import type { Session } from '../../src/core/session.ts'
import { session } from '../support/claude-process.ts'

const DETECTION = { name: 'claude', installed: true, path: '/bin/claude', version: '2.1.325', problem: null }
const ids = () => {
  let n = 0
  return () => `id${++n}`
}

const plan = (patch: Partial<Session> = {}) => claudeDriver.plan(session(patch), DETECTION, ids())
const parse = (lines: string[]) => lines.map((line) => JSON.parse(line) as Record<string, unknown>)
const one = (lines: string[]) => {
  assert.equal(lines.length, 1)
  assert.ok(!lines[0]!.includes('\n'))
  return parse(lines)[0]!
}

function request(request_id: string, body: object): string {
  return JSON.stringify({ type: 'control_request', request_id, request: body })
}

describe('plan', () => {
  test('a new session starts a conversation with an id of ours', () => {
    assert.deepEqual(plan(), {
      command: '/bin/claude',
      args: [
        '-p',
        '--output-format=stream-json',
        '--input-format=stream-json',
        '--verbose',
        '--include-partial-messages',
        '--permission-prompt-tool=stdio',
        '--session-id=id1',
        '--permission-mode=default',
      ],
      cwd: '/project',
      env: { CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1', CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1' },
      greeting: [request('models:id2', { subtype: 'list_models' })],
    })
  })

  test('a known conversation is resumed, whatever it was forked from', () => {
    const { args } = plan({ nativeId: 'native', forkFrom: 'origin' })
    assert.ok(args.includes('--resume=native'))
    assert.ok(!args.some((arg) => arg.startsWith('--session-id') || arg === '--fork-session'))
  })

  test('a fork resumes its origin under a new id', () => {
    const { args } = plan({ forkFrom: 'origin' })
    assert.deepEqual(args.slice(6, 9), ['--resume=origin', '--fork-session', '--session-id=id1'])
    const early = plan({ forkFrom: 'origin', forkAt: 'line' }).args.slice(6, 10)
    assert.deepEqual(early, [
      '--resume=origin',
      '--fork-session',
      '--resume-session-at=line',
      '--session-id=id1',
    ])
  })

  test('every mode has its permission mode', () => {
    const mode = (it: Session['mode']) =>
      plan({ mode: it }).args.find((arg) => arg.startsWith('--permission-mode'))
    assert.equal(mode('auto'), '--permission-mode=default')
    assert.equal(mode('ask'), '--permission-mode=default')
    assert.equal(mode('code'), '--permission-mode=default')
    assert.equal(mode('plan'), '--permission-mode=plan')
  })

  test('settings become options, and no value can pass for an option', () => {
    const { args } = plan({
      model: '--dangerously-skip-permissions',
      settings: {
        allowedTools: ['Read', 'Bash(git log *)'],
        disallowedTools: ['--verbose'],
        maxTurns: 3,
        additionalDirectories: ['/a b', '/c'],
      },
    })
    assert.deepEqual(args.slice(7), [
      '--model=--dangerously-skip-permissions',
      '--permission-mode=default',
      '--allowedTools=Read',
      '--allowedTools=Bash(git log *)',
      '--disallowedTools=--verbose',
      '--max-turns=3',
      '--add-dir=/a b',
      '--add-dir=/c',
    ])
  })

  test('where nobody can answer it has no tool to ask, beside all that is disallowed anyway', () => {
    const { args } = plan({ settings: { questions: false, disallowedTools: ['Bash'] } })
    assert.deepEqual(
      args.filter((arg) => arg.startsWith('--disallowedTools')),
      ['--disallowedTools=Bash', '--disallowedTools=AskUserQuestion'],
    )
  })

  test('prompts are told over stdin', () => {
    const { args, greeting } = plan({ settings: { systemPrompt: 'secret one', appendSystemPrompt: 'two' } })
    assert.ok(!args.join(' ').includes('secret'))
    assert.deepEqual(one(greeting), {
      type: 'control_request',
      request_id: 'initialize:id2',
      request: { subtype: 'initialize', systemPrompt: ['secret one'], appendSystemPrompt: 'two' },
    })
  })

  test('instructions follow the appended prompt, and hold in a conversation that began with others', () => {
    const told = (patch: Partial<Session>) => one(plan(patch).greeting).request
    assert.deepEqual(told({ settings: { appendSystemPrompt: 'one', customInstructions: 'two' } }), {
      subtype: 'initialize',
      appendSystemPrompt: 'one\n\ntwo',
    })
    const settings = { customInstructions: 'two' }
    const kept = { subtype: 'initialize', appendSystemPrompt: 'two', systemPromptSnapshot: false }
    assert.deepEqual(told({ settings, forkFrom: 'origin' }), kept)
    assert.deepEqual(told({ settings, nativeId: 'native' }), kept)
    const nothing = plan({ settings: { appendSystemPrompt: '', customInstructions: '' } })
    assert.deepEqual(nothing.greeting, [request('models:id2', { subtype: 'list_models' })])
  })

  test('permission is asked of Corral, or of the tool that the client names', () => {
    const asked = (permissionPromptTool?: string) =>
      plan({ settings: permissionPromptTool === undefined ? {} : { permissionPromptTool } })
    for (const own of [undefined, '', 'stdio']) {
      assert.equal(asked(own).args[5], '--permission-prompt-tool=stdio')
      assert.ok(!('MCP_TOOL_TIMEOUT' in asked(own).env))
    }
    const { args, env } = asked('mcp__gate__ask')
    const given = args.filter((arg) => arg.startsWith('--permission-prompt-tool'))
    assert.deepEqual(given, ['--permission-prompt-tool=mcp__gate__ask'])
    assert.equal(env.MCP_TOOL_TIMEOUT, '86400000')
  })

  test('MCP servers are told over stdin, their tools may take long', () => {
    const mcpServers = { files: { command: 'files', env: { KEY: 'secret' } } }
    for (const mcpConfig of [{ mcpServers }, mcpServers]) {
      const { args, greeting, env } = plan({ settings: { mcpConfig } })
      assert.ok(!args.join(' ').includes('secret'))
      assert.ok(args.includes('--strict-mcp-config'))
      assert.deepEqual(parse(greeting)[1]!['request'], { subtype: 'mcp_set_servers', servers: mcpServers })
      assert.equal(env.MCP_TOOL_TIMEOUT, '86400000')
      assert.equal(env.CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT, '0')
    }
    assert.ok(plan({ settings: { mcpConfig: '/x/.mcp.json' } }).args.includes('--mcp-config=/x/.mcp.json'))
  })
})

const APPROVAL: Approval = {
  id: 'r1',
  requestId: 'r1',
  kind: 'tool',
  tool: 'Bash',
  input: { command: 'ls' },
  edits: false,
  callId: 't1',
  summary: null,
  suggestions: null,
  parent: null,
}

/** What Claude is told about an approval. */
function told(decision: Parameters<typeof decide>[1], approval: Partial<Approval> = {}): unknown {
  const line = one(decide({ ...APPROVAL, ...approval }, decision)) as { response: Record<string, unknown> }
  assert.equal(line.response.request_id, 'r1')
  assert.equal(line.response.subtype, 'success')
  return line.response.response
}

function decide(
  approval: Approval,
  decision: Extract<Parameters<typeof claudeDriver.encode>[0], { kind: 'decision' }>['decision'],
) {
  return claudeDriver.encode({ kind: 'decision', approval, decision })
}

describe('encode', () => {
  test('a prompt of text is one string under the id of its turn', () => {
    const input = [
      { type: 'text' as const, text: 'a\u2028b' },
      { type: 'text' as const, text: 'c' },
    ]
    assert.deepEqual(one(claudeDriver.encode({ kind: 'prompt', turnId: 'turn1', input })), {
      type: 'user',
      uuid: 'turn1',
      parent_tool_use_id: null,
      message: { role: 'user', content: 'a\u2028b\nc' },
    })
  })

  test('a prompt with an image is a list of blocks', () => {
    const input = [
      { type: 'text' as const, text: 'see' },
      { type: 'image' as const, mediaType: 'image/png', data: 'AAAA' },
    ]
    const line = one(claudeDriver.encode({ kind: 'prompt', turnId: 'turn1', input }))
    assert.deepEqual(line.message, {
      role: 'user',
      content: [
        { type: 'text', text: 'see' },
        { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
      ],
    })
  })

  test('a yes carries the input, as asked or as changed', () => {
    assert.deepEqual(told({ behavior: 'allow' }), { behavior: 'allow', updatedInput: { command: 'ls' } })
    assert.deepEqual(told({ behavior: 'allow', input: { command: 'pwd' } }), {
      behavior: 'allow',
      updatedInput: { command: 'pwd' },
    })
  })

  test('a no carries the comment', () => {
    assert.deepEqual(told({ behavior: 'deny', comment: 'not now' }), { behavior: 'deny', message: 'not now' })
    assert.deepEqual(told({ behavior: 'deny', comment: '' }), {
      behavior: 'deny',
      message: 'The user said no.',
    })
  })

  test('answers go with the questions', () => {
    const questions = [{ question: 'Red or blue?' }]
    assert.deepEqual(
      told(
        { behavior: 'allow', answers: { 'Red or blue?': 'Blue' } },
        { kind: 'question', input: { questions } },
      ),
      { behavior: 'allow', updatedInput: { questions, answers: { 'Red or blue?': 'Blue' } } },
    )
  })

  test('words answer one question; to anything else they are a no that says them', () => {
    const words = { behavior: 'respond', text: 'Green' } as const
    const [first, second] = [{ question: 'Red or blue?' }, { question: 'Big or small?' }]
    assert.deepEqual(told(words, { kind: 'question', input: { questions: [first] } }), {
      behavior: 'allow',
      updatedInput: { questions: [first], answers: { 'Red or blue?': 'Green' } },
    })
    const no = { behavior: 'deny', message: 'Green' }
    assert.deepEqual(told(words, { kind: 'question', input: { questions: [first, second] } }), no)
    assert.deepEqual(told(words, { kind: 'question', input: { questions: ['?'] } }), no)
    assert.deepEqual(told(words, { kind: 'plan', input: { plan: 'do it' } }), no)
    assert.deepEqual(told(words), no)
  })

  test('a yes for the session is a yes: what passes from now on is for Corral to say', () => {
    const suggestions = [{ type: 'setMode', mode: 'acceptEdits', destination: 'session' }]
    const answer = told({ behavior: 'allow', forSession: true }, { suggestions })
    assert.deepEqual(answer, { behavior: 'allow', updatedInput: { command: 'ls' } })
  })

  test('a question that is no longer open is not answered', () => {
    assert.deepEqual(decide(APPROVAL, { behavior: 'cancelled', reason: 'interrupted' }), [])
  })

  test('mode and model are control requests', () => {
    const mode = one(claudeDriver.encode({ kind: 'mode', mode: 'plan' }))
    assert.match(String(mode.request_id), /^mode:/)
    assert.deepEqual(mode.request, { subtype: 'set_permission_mode', mode: 'plan' })
    const model = one(claudeDriver.encode({ kind: 'model', model: null }))
    assert.deepEqual(model.request, { subtype: 'set_model', model: 'default' })
  })

  test('how long to think is a setting of the process, told before the first message', () => {
    const told = (effort: Effort | null): unknown[] =>
      claudeDriver
        .encode({ kind: 'effort', effort })
        .map((line) => (JSON.parse(line) as { request: unknown }).request)
    const level = (effortLevel: string | null) => ({
      subtype: 'apply_flag_settings',
      settings: { effortLevel },
    })
    const tokens = (most: 0 | null) => ({ subtype: 'set_max_thinking_tokens', max_thinking_tokens: most })
    assert.deepEqual(told('xhigh'), [level('xhigh'), tokens(null)])
    assert.deepEqual(told('off'), [level('low'), tokens(0)])
    assert.deepEqual(told('minimal'), [level('low'), tokens(null)])
    assert.deepEqual(told(null), [level(null), tokens(null)])
    assert.match(plan({ effort: 'high' }).greeting[1]!, /"effortLevel":"high"/)
    for (const cwd of [null, '/project']) {
      const lines = claudeDriver.spare.claim(session({ effort: 'low' }), { cwd, ownTools: true })
      assert.match(lines.at(-2)!, /"effortLevel":"low"/)
    }
  })

  test('a steer is a message of its own id, and can be taken back by it', () => {
    const steer = {
      id: 'x1',
      seq: 1,
      input: [{ type: 'text' as const, text: 'hi' }],
      key: null,
      origin: null,
    }
    const line = one(claudeDriver.encode({ kind: 'steer', steer }))
    assert.deepEqual([line.uuid, line.message], ['x1', { role: 'user', content: 'hi' }])
    const back = one(claudeDriver.encode({ kind: 'retract', steerId: 'x1' }))
    assert.deepEqual(back.request, { subtype: 'cancel_async_message', message_uuid: 'x1' })
  })

  test('interrupt, barrier and farewell are control requests', () => {
    assert.deepEqual(one(claudeDriver.interrupt()).request, { subtype: 'interrupt' })
    assert.equal(one(claudeDriver.barrier('b7')).request_id, 'barrier:b7')
    assert.deepEqual(one(claudeDriver.farewell()).request, { subtype: 'end_session' })
  })
})

describe('detect', () => {
  let root = ''
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'corral-detect-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  function program(path: string, script: string): string {
    const file = join(root, path)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `#!/bin/sh\n${script}\n`)
    chmodSync(file, 0o755)
    return file
  }
  const claude = (path: string) => program(path, 'echo "2.1.325 (Claude Code)"')

  test('the first program on PATH is found with its version', async () => {
    writeFileSync(join(root, 'claude'), 'not a program')
    const path = claude('b/claude')
    claude('c/claude')
    const PATH = `${root}:${join(root, 'a')}:${join(root, 'b')}:${join(root, 'c')}`
    const found = await claudeDriver.detect({ PATH })
    assert.deepEqual(found, { name: 'claude', installed: true, path, version: '2.1.325', problem: null })
  })

  test('CORRAL_CLAUDE_BIN goes before PATH', async () => {
    const path = claude('mine')
    claude('bin/claude')
    const found = await claudeDriver.detect({ PATH: join(root, 'bin'), CORRAL_CLAUDE_BIN: path })
    assert.equal(found.path, path)
  })

  test('what is not there is said, and what to do about it', async () => {
    const found = await claudeDriver.detect({ PATH: root })
    assert.equal(found.installed, false)
    assert.match(found.problem!, /npm install -g @anthropic-ai\/claude-code, or set CORRAL_CLAUDE_BIN/)
    const named = await claudeDriver.detect({ CORRAL_CLAUDE_BIN: join(root, 'nowhere') })
    assert.match(named.problem!, /CORRAL_CLAUDE_BIN names .*nowhere/)
  })

  test('a program that does not run is a problem', async () => {
    program('claude', 'echo "no native binary" >&2; exit 1')
    const found = await claudeDriver.detect({ PATH: root })
    assert.equal(found.installed, false)
    assert.match(found.problem!, /no native binary/)
  })

  test('behind the stub of npm the program of the platform is found', async () => {
    const scope = 'lib/node_modules/@anthropic-ai'
    const stub = program(`${scope}/claude-code/bin/claude.exe`, 'exit 1')
    const native = claude(`${scope}/claude-code-${process.platform}-${process.arch}/claude`)
    mkdirSync(join(root, 'bin'))
    symlinkSync(stub, join(root, 'bin/claude'))
    const found = await claudeDriver.detect({ PATH: join(root, 'bin') })
    assert.equal(found.path, native)
    assert.equal(found.version, '2.1.325')
  })
})
