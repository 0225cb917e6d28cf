import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { diffText } from '../../src/agents/acp/content.ts'
import { custom } from '../../src/agents/acp/custom.ts'
import { acpDriver } from '../../src/agents/acp/driver.ts'
import { gemini } from '../../src/agents/acp/gemini.ts'
import { opencode } from '../../src/agents/acp/opencode.ts'
import type { AcpState } from '../../src/agents/acp/state.ts'
import { acpTranslator } from '../../src/agents/acp/translator.ts'
import type { AcpRequest, Choices } from '../../src/agents/acp/request.ts'
import type { Decision } from '../../src/core/approval.ts'
import type { Effort } from '../../src/core/effort.ts'
import type { Intent } from '../../src/core/ports.ts'
import type { Session } from '../../src/core/session.ts'
import { aQuestion, aSession } from '../support/session.ts'

type Line = { id?: unknown; method?: string; params?: Record<string, unknown>; result?: unknown }

const drivers = { gemini: acpDriver(gemini), opencode: acpDriver(opencode) }
const open = aSession({ nativeId: 'native', turnCount: 2 })
const parsed = (lines: string[]): Line[] => lines.map((line) => JSON.parse(line) as Line)
const brief = (lines: string[]): unknown[] => parsed(lines).map(({ id, method }) => [id, method])

async function answers(driver: keyof typeof drivers, request: AcpRequest, session: Session): Promise<Line[]> {
  return parsed(await drivers[driver].serve!({}).answer(request, session))
}

const CAN = { resume: false, directories: false }
const CHOICES: Choices = {
  modes: ['build', 'plan'],
  mode: 'build',
  modelOption: 'model',
  model: 'a/b',
  effort: null,
  settled: [],
}

test('a message stands between two marks', () => {
  const image = { type: 'image', mediaType: 'image/png', data: 'AAAA' } as const
  const intent: Intent = { kind: 'prompt', turnId: 't', input: [{ type: 'text', text: 'hi' }, image] }
  const lines = drivers.gemini.encode(intent, open)
  assert.deepEqual(brief(lines), [
    ['begin:t', '_corral/mark'],
    ['prompt:t', 'session/prompt'],
    ['accepted:t', '_corral/mark'],
  ])
  assert.deepEqual(parsed(lines)[1]!.params, {
    sessionId: 'native',
    prompt: [
      { type: 'text', text: 'hi' },
      { type: 'image', mimeType: 'image/png', data: 'AAAA' },
    ],
  })
})

test('instructions go with the first message only', () => {
  const settings = { appendSystemPrompt: 'Be kind.', customInstructions: 'Be brief.' }
  const prompts = [1, 2].map((turnCount) => {
    const intent: Intent = { kind: 'prompt', turnId: 't', input: [{ type: 'text', text: 'hi' }] }
    return parsed(drivers.opencode.encode(intent, { ...open, settings, turnCount }))[1]!.params!['prompt']
  })
  assert.deepEqual(prompts, [
    [
      { type: 'text', text: 'Be kind.\n\nBe brief.\n\n' },
      { type: 'text', text: 'hi' },
    ],
    [{ type: 'text', text: 'hi' }],
  ])
})

test('a decision is one of the options, and never a lasting one where another will do', () => {
  const options = ['allow_always', 'allow_once', 'reject_once'].map((kind) => ({
    kind,
    optionId: `to ${kind}`,
  }))
  const outcome = (decision: Decision, suggestions: unknown = options): unknown => {
    const approval = aQuestion('a', { requestId: '7', suggestions })
    const [line] = parsed(drivers.gemini.encode({ kind: 'decision', approval, decision }, open))
    assert.equal(line!.id, 7)
    return (line!.result as { outcome: { optionId?: string; outcome: string } }).outcome
  }
  const selected = (optionId: string) => ({ outcome: 'selected', optionId })
  const cancelled = { outcome: 'cancelled' }
  assert.deepEqual(outcome({ behavior: 'allow' }), selected('to allow_once'))
  assert.deepEqual(outcome({ behavior: 'allow', forSession: true }), selected('to allow_once'))
  assert.deepEqual(outcome({ behavior: 'allow' }, options.slice(0, 1)), selected('to allow_always'))
  assert.deepEqual(outcome({ behavior: 'deny', comment: 'no' }), selected('to reject_once'))
  assert.deepEqual(outcome({ behavior: 'respond', text: 'no' }), selected('to reject_once'))
  assert.deepEqual(outcome({ behavior: 'deny', comment: 'no' }, null), cancelled)
  assert.deepEqual(outcome({ behavior: 'cancelled', reason: 'x' }), cancelled)
})

test('an interrupt is followed by the mark that brings answers to open questions', async () => {
  assert.deepEqual(brief(drivers.gemini.interrupt(open)), [
    [undefined, 'session/cancel'],
    ['cancel', '_corral/mark'],
  ])
  assert.deepEqual(drivers.gemini.interrupt(aSession()), [])
  const lines = await answers('gemini', { step: 'cancel', ids: [3, 'x'], calls: [4] }, open)
  const [three, x, four] = lines as [Line, Line, Line & { error: { message: string } }]
  assert.deepEqual(
    [three, x].map(({ id, result }) => [id, result]),
    [3, 'x'].map((id) => [id, { outcome: { outcome: 'cancelled' } }]),
  )
  assert.deepEqual([four.id, four.error.message], [4, 'Interrupted'])
})

test('a conversation is taken up, branched off or begun', async () => {
  const opened = async (patch: Partial<Session>, can = CAN): Promise<unknown> => {
    const [line] = await answers('opencode', { step: 'initialized', can }, aSession(patch))
    return [line!.id, line!.method, line!.params!['sessionId']]
  }
  assert.deepEqual(await opened({}), ['open:new', 'session/new', undefined])
  assert.deepEqual(await opened({ nativeId: 'n' }), ['open:load:n', 'session/load', 'n'])
  const resumed = await opened({ nativeId: 'n' }, { ...CAN, resume: true })
  assert.deepEqual(resumed, ['open:resume:n', 'session/resume', 'n'])
  assert.deepEqual(await opened({ forkFrom: 'f' }), ['open:fork', 'session/fork', 'f'])
})

test('MCP servers and directories come with the conversation', async () => {
  const mcpConfig = {
    mcpServers: {
      local: { command: 'serve', args: ['-x'], env: { KEY: 'k' } },
      remote: { type: 'sse', url: 'http://127.0.0.1/', headers: { A: 'b' } },
    },
  }
  const session = aSession({ settings: { mcpConfig, additionalDirectories: ['/extra'] } })
  const [line] = await answers(
    'opencode',
    { step: 'initialized', can: { ...CAN, directories: true } },
    session,
  )
  assert.deepEqual(line!.params, {
    cwd: '/project',
    mcpServers: [
      { name: 'local', command: 'serve', args: ['-x'], env: [{ name: 'KEY', value: 'k' }] },
      { type: 'sse', name: 'remote', url: 'http://127.0.0.1/', headers: [{ name: 'A', value: 'b' }] },
    ],
    additionalDirectories: ['/extra'],
  })
  const plan = drivers.gemini.plan(session, detection, () => 'id')
  assert.deepEqual(plan.args, ['--acp', '--include-directories=/extra'])
})

const detection = { name: 'x', installed: true, path: '/bin/x', version: '1', problem: null }

test('an open conversation is set as the session wants it, one thing after the other', async () => {
  const settled = async (patch: Partial<Session>, given: Partial<Choices> = {}): Promise<unknown> => {
    const choices = { ...CHOICES, ...given }
    const lines = await answers('opencode', { step: 'opened', sessionId: 's', choices }, aSession(patch))
    return lines.map(({ id, method }) => [id, method]).flat()
  }
  const READY = ['ready', '_corral/mark']
  const MODE = ['mode:plan:0', 'session/set_mode']
  assert.deepEqual(await settled({ mode: 'ask' }), READY)
  assert.deepEqual(await settled({ mode: 'auto', model: 'a/b' }), READY)
  const wanting = { mode: 'plan', model: 'c/d' } as const
  assert.deepEqual(await settled(wanting), MODE)
  const model = await settled(wanting, { settled: ['mode'] })
  assert.deepEqual(model, ['model:option:c/d', 'session/set_config_option'])
  assert.deepEqual(await settled(wanting, { settled: ['mode', 'model'] }), READY)
  assert.deepEqual(await settled({ model: 'c/d' }, { modelOption: null }), [
    'model:old:c/d',
    'session/set_model',
  ])
})

test('mode and model change by the agent’s own names', () => {
  const told = (driver: keyof typeof drivers, intent: Intent) =>
    parsed(drivers[driver].encode(intent, open)).map(({ id, method, params }) => [
      id,
      method,
      params!['modeId'],
    ])
  assert.deepEqual(told('gemini', { kind: 'mode', mode: 'code' }), [
    ['mode:code:0', 'session/set_mode', 'autoEdit'],
  ])
  assert.deepEqual(told('opencode', { kind: 'mode', mode: 'code' }), [
    ['mode:code:0', 'session/set_mode', 'build'],
  ])
  assert.equal(told('gemini', { kind: 'model', model: 'm' })[0]![1], 'session/set_model')
  assert.equal(told('opencode', { kind: 'model', model: 'm' })[0]![1], 'session/set_config_option')
  assert.equal(told('opencode', { kind: 'model', model: null })[0]![0], 'default-model')
})

test('how long to think is an option, in the words that the agent has for its model', async () => {
  const state = (effort: AcpState['effort']): AcpState => {
    return { ...acpTranslator(opencode).initial(open), sessionId: 'native', effort, ownEffort: 'medium' }
  }
  const told = (effort: Effort | null, heard?: AcpState, driver: keyof typeof drivers = 'opencode') =>
    parsed(drivers[driver].encode({ kind: 'effort', effort }, open, heard)).map(
      ({ params }) => params!['value'],
    )
  const option = { id: 'effort', words: ['none', 'low', 'medium', 'max'], now: 'low' }
  assert.deepEqual(told('off', state(option)), ['none'])
  assert.deepEqual(told('xhigh', state(option)), ['max'])
  assert.deepEqual(told(null, state(option)), ['medium'])
  assert.deepEqual(told('high', state(null)), [], 'there is nothing to choose')
  assert.deepEqual(told('xhigh'), ['high'], 'what it always has')
  assert.deepEqual(told('high', undefined, 'gemini'), [])
  const wanted = { ...open, effort: 'high' } as const
  const lines = drivers.opencode.encode({ kind: 'model', model: 'm' }, wanted, state(option))
  assert.deepEqual(brief(lines), [
    ['model:option:m', 'session/set_config_option'],
    ['effort:medium', 'session/set_config_option'],
  ])
  const choices = { ...CHOICES, settled: ['mode' as const], effort: option }
  const step = { step: 'opened', sessionId: 'native', choices } as const
  assert.equal((await answers('opencode', step, wanted))[0]!.id, 'effort:medium')
  assert.equal(
    (await answers('opencode', { ...step, choices: { ...choices, effort: null } }, wanted))[0]!.id,
    'ready',
  )
})

test('a request that Corral does not serve is refused', async () => {
  const call = {
    step: 'call',
    id: 5,
    method: 'fs/write_text_file',
    params: { path: '/etc/x', content: '' },
  } as const
  const [line] = (await answers('opencode', call, open)) as unknown as [
    { id: number; error: { code: number } },
  ]
  assert.deepEqual([line.id, line.error.code], [5, -32601])
})

test('OpenCode is made to ask, and its port is closed to strangers', () => {
  const { env } = drivers.opencode.plan(open, detection, () => 'secret')
  const permission = JSON.parse(env['OPENCODE_PERMISSION']!) as Record<string, unknown>
  assert.deepEqual(
    [permission['bash'], permission['edit'], permission['tas?']],
    [{ '*': 'ask' }, { '*': 'ask' }, 'deny'],
  )
  assert.equal(env['OPENCODE_SERVER_PASSWORD'], 'secret')
})

test('a program is found on the PATH, by its variable or beside a script, with its version', async (t) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'corral-detect-')))
  t.after(() => rmSync(root, { recursive: true, force: true }))
  const program = (path: string, text: string): string => {
    mkdirSync(join(root, path, '..'), { recursive: true })
    writeFileSync(join(root, path), text)
    chmodSync(join(root, path), 0o755)
    return join(root, path)
  }
  const script = program('node_modules/opencode-ai/bin/opencode', '#!/bin/sh\nexit 1\n')
  const missing = await opencode.detect({ PATH: join(root, 'nowhere') })
  assert.match(missing.problem!, /npm install -g opencode-ai/)
  assert.match((await opencode.detect({ CORRAL_OPENCODE_BIN: '/nowhere' })).problem!, /CORRAL_OPENCODE_BIN/)
  assert.equal((await opencode.detect({ CORRAL_OPENCODE_BIN: script })).installed, false)
  const platform = `node_modules/opencode-${process.platform}-${process.arch}`
  const native = program(`${platform}/bin/opencode`, '')
  const name = `opencode-${process.platform}-${process.arch}`
  writeFileSync(join(root, platform, 'package.json'), JSON.stringify({ name, version: '1.2.3' }))
  const found = await opencode.detect({ PATH: join(root, 'node_modules/opencode-ai/bin') })
  assert.deepEqual([found.path, found.version], [native, '1.2.3'])
  const asked = program('bin/gemini', '#!/bin/sh\necho 4.5.6\n')
  assert.equal((await gemini.detect({ CORRAL_GEMINI_BIN: asked, PATH: '/bin' })).version, '4.5.6')
  const mine = custom('mine', { command: 'gemini' })
  assert.equal((await mine.detect({ PATH: join(root, 'bin') })).path, asked)
  assert.match((await mine.detect({ PATH: '/nowhere' })).problem!, /gemini is not a program/)
})

test('a diff tells what went and what came', () => {
  assert.equal(diffText('f', 'a\nb\nc\n', 'a\nx\ny\nc\n'), '--- f\n+++ f\n@@ -2,1 +2,2 @@\n-b\n+x\n+y')
  assert.equal(diffText('f', '', 'new\n'), '--- f\n+++ f\n@@ -1,0 +1,1 @@\n+new')
})
