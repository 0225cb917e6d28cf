import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { MODES, type Mode } from '../../src/core/mode.ts'
import { NO_RULES } from '../../src/core/rule.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { until } from '../support/wait.ts'
import { codex } from './conformance/agents.ts'
import { PIXEL } from './conformance/capabilities.ts'
import { call, type Rig, startRig } from './conformance/rig.ts'

const ALLOW = { behavior: 'allow' } as const
/** Commands run in the sandbox, and nobody is asked. */
const SANDBOXED = { mode: 'code' as const, rules: { ...NO_RULES, allow: ['*'] } }
/** What the sandbox of a command makes in the directory. */
const FOLDERS = ['.agents', '.aws', '.codex', '.git']

describe('what only Codex has', { skip: codex.absent, concurrency: false }, () => {
  let rig: Rig
  let at: AgentHome
  before(async () => {
    rig = await startRig({ ...codex, home: async () => (at = await codex.home()) })
  })
  after(() => rig?.close())
  const config = () => readFileSync(join(at.env['CODEX_HOME']!, 'config.toml'), 'utf8')
  const cwdOf = (id: string) => rig.now.engine.sessions.get(id).cwd
  const sleeps = (seconds: number) =>
    rig.processes().filter(({ command }) => command === `sleep ${seconds}`).length

  /** A command that is certainly running in its sandbox. */
  async function sleeping(id: string, seconds: number) {
    const sent = await rig.send(id, `[[shell sleep ${seconds} & tail -f /dev/null]]`)
    await rig.next('tool.started', id, sent.seq)
    await until(
      () => sleeps(seconds) > 0,
      () => `sleep ${seconds} runs`,
    )
    return sent
  }

  test('thinks as long as its model can, over a restart too, and again as it would by itself', async () => {
    const id = await rig.session({ effort: 'xhigh' })
    const thinks = async () => (await rig.turn(id, '[[effort]]')).texts[0]
    const known = () => rig.now.log.models('codex')
    assert.equal((await rig.turn(id, '[[say hello]]')).end.type, 'turn.completed')
    const model = known().find(({ efforts, defaultEffort }) => efforts?.includes('max') && defaultEffort)!
    await rig.now.engine.sessions.configure({ sessionId: id, model: model.id })
    assert.equal(await thinks(), 'effort: xhigh')
    await rig.restart()
    await rig.turn(id, '[[say hello]]')
    await rig.now.engine.sessions.configure({ sessionId: id, effort: 'max' })
    assert.equal(await thinks(), 'effort: max')
    await rig.now.engine.sessions.configure({ sessionId: id, effort: null })
    assert.equal(await thinks(), `effort: ${model.defaultEffort}`)
  })

  test('is not offered its tool for questions where nobody can answer them', async () => {
    const offered = async (settings: { questions?: boolean }) => {
      await rig.turn(await rig.session({ settings }), '[[say hello]]')
      const { tools } = at.model.requests.at(-1)!.body as { tools: { name?: string }[] }
      return tools.some(({ name }) => name === 'request_user_input')
    }
    assert.deepEqual([await offered({}), await offered({ questions: false })], [true, false])
  })

  const ESCALATED: Record<Mode, string> = { plan: 'not done', ask: 'asked', code: 'asked', auto: 'done' }
  for (const mode of MODES) {
    test(`in \`${mode}\` a command that wants out of the sandbox is ${ESCALATED[mode]}`, async () => {
      const id = await rig.session({ mode })
      const justification = 'it must be'
      const input = { cmd: 'touch out.txt', sandbox_permissions: 'require_escalated', justification }
      const sent = await rig.send(id, call(['exec_command', input]))
      const first = await rig.endOrQuestion(id, sent)
      if (first.type === 'approval.requested') {
        assert.deepEqual([first.approval.summary, rig.has(id, 'out.txt')], [justification, false])
        await rig.interrupt(id)
        await rig.told(id, sent)
      }
      const done = rig.has(id, 'out.txt') ? 'done' : 'not done'
      assert.equal(first.type === 'approval.requested' ? 'asked' : done, ESCALATED[mode])
    })
  }

  for (const mode of MODES) {
    test(`in \`${mode}\` what only looks is ${mode === 'plan' ? 'never asked about' : 'asked about if it is a command'}`, async () => {
      const id = await rig.session({ mode })
      writeFileSync(rig.inside(id, 'a.txt'), 'alpha')
      writeFileSync(rig.inside(id, 'pixel.png'), Buffer.from(PIXEL, 'base64'))
      const asks = async (...one: [tool: string, input: object]) =>
        (await rig.turn(id, call(one), { behavior: 'deny', comment: '' })).asked.length
      for (const cmd of ['cat a.txt', 'rg alpha', 'ls', 'sed -n 1p a.txt'])
        assert.equal(await asks('exec_command', { cmd }), mode === 'plan' ? 0 : 1, cmd)
      assert.equal(await asks('view_image', { path: rig.inside(id, 'pixel.png') }), 0)
      assert.equal(await asks('web_search', { type: 'search', query: 'words' }), 0)
      assert.equal(await asks('web_search', { type: 'open_page', url: 'https://127.0.0.1:9/' }), 0)
      rmSync(rig.inside(id, 'pixel.png'))
    })
  }

  test('has no other tool to look with than those that are known here', async () => {
    await rig.turn(await rig.session(), '[[say hello]]')
    const { tools } = at.model.requests.at(-1)!.body as { tools: { type: string; name?: string }[] }
    const names = tools
      .map(({ type, name }) => name ?? type)
      .filter((name) => !/goal|mcp|request_user/.test(name))
    const known = ['apply_patch', 'exec_command', 'tool_search', 'view_image', 'web_search', 'write_stdin']
    assert.deepEqual(names.toSorted(), known)
  })

  test('a question about a command tells where, and one about an edit shows its diff, which is kept', async () => {
    const id = await rig.session()
    const { asked } = await rig.turn(id, '[[shell touch a.txt]]', ALLOW)
    assert.deepEqual(asked[0]!.approval.input, { command: 'touch a.txt', cwd: cwdOf(id) })
    await rig.turn(id, '[[write notes.txt old]]', ALLOW)
    const told = await rig.turn(id, '[[edit notes.txt old new]]', ALLOW)
    const path = rig.inside(id, 'notes.txt')
    const input = { path, changes: [{ path, kind: 'update', diff: '@@ -1 +1 @@\n-old\n+new\n' }] }
    assert.deepEqual([told.asked[0]!.approval.input, told.tools[0]!.input], [input, input])
    assert.equal(told.outputs[0]!.output, `M ${path}`)
    const others = told.events.filter(({ type }) => type === 'agent.other')
    assert.match(JSON.stringify(others), /diff --git a\/notes.txt b\/notes.txt/)
  })

  test('sees the prompts of the session, and its id in the environment', async () => {
    const settings = { appendSystemPrompt: '[[sysword zebra]]', customInstructions: '[[sysword yak]]' }
    const id = await rig.session({ mode: 'auto', settings })
    assert.deepEqual((await rig.turn(id, '[[system]]')).texts, ['system: zebra yak'])
    const own = await rig.session({ settings: { systemPrompt: '[[sysword gnu]]' } })
    assert.deepEqual((await rig.turn(own, '[[system]]')).texts, ['system: gnu'])
    const { outputs } = await rig.turn(id, '[[shell echo $CORRAL_SESSION_ID]]')
    assert.equal(outputs[0]!.output, `${id}\n`)
  })

  test('settings that Codex does not have are refused', async () => {
    const id = await rig.session({ settings: { maxTurns: 3, disallowedTools: ['command'] } })
    const { end } = await rig.turn(id, 'hello')
    assert.deepEqual(end.type === 'turn.failed' && end.error, {
      code: 'unsupported',
      message: 'Codex has no such setting: disallowedTools, maxTurns',
    })
  })

  test('after a resume the sandbox is as it was, and so are the settings of the user', async () => {
    const then = config()
    const id = await rig.session(SANDBOXED)
    mkdirSync(rig.inside(id, '.git'))
    await rig.turn(id, '[[say hello]]')
    await rig.endProcess(id)
    await rig.turn(id, '[[shell touch command.txt]]')
    await rig.turn(id, '[[write edit.txt text]]')
    assert.ok(rig.has(id, 'command.txt') && rig.has(id, 'edit.txt'))
    assert.equal(config(), then)
  })

  test('an interrupt, also by the next daemon, ends a command with its sandbox; what was there before stays', async () => {
    const id = await rig.session(SANDBOXED)
    mkdirSync(rig.inside(id, '.aws'))
    for (const [seconds, meanwhile] of [
      [7001, async () => undefined],
      [7002, () => rig.restart()],
    ] as const) {
      const sent = await sleeping(id, seconds)
      await meanwhile()
      await rig.interrupt(id)
      const { end, outputs } = await rig.told(id, sent)
      assert.deepEqual([end.type, outputs.map(({ isError }) => isError)], ['turn.interrupted', [true]])
      assert.deepEqual([sleeps(seconds), readdirSync(cwdOf(id))], [0, ['.aws']])
    }
    const { outputs, events } = await rig.turn(id, '[[shell echo works]]')
    assert.equal(outputs[0]!.output, 'works\n')
    assert.ok(!events.some(({ type }) => type === 'agent.started'))
  })

  const WAYS: Record<string, (id: string) => unknown> = {
    'the session is destroyed': (id) => rig.now.engine.sessions.destroy(id),
    'the process is ended': (id) => rig.endProcess(id),
    'the process is killed': (id) => process.kill(-rig.groupOf(id), 'SIGKILL'),
  }
  for (const [how, end] of Object.entries(WAYS)) {
    test(`the folders of the sandbox go when ${how}`, async () => {
      const id = await rig.session(SANDBOXED)
      await sleeping(id, 7003)
      const cwd = cwdOf(id)
      assert.deepEqual(readdirSync(cwd).toSorted(), FOLDERS)
      await end(id)
      await rig.next('agent.exited', id)
      assert.deepEqual(readdirSync(cwd), [])
    })
  }

  test('a question about an edit is answered to the next daemon, although the journal was emptied before', async () => {
    const id = await rig.session()
    await rig.turn(id, '[[burst 4000 200]]')
    const sent = await rig.send(id, '[[write asked.txt text]]')
    const { approval } = await rig.next('approval.requested', id, sent.seq)
    await rig.restart()
    await rig.decide(approval.id, ALLOW)
    const { end } = await rig.told(id, sent)
    assert.ok(end.type === 'turn.completed' && rig.has(id, 'asked.txt'))
  })

  test('a daemon that dies while a conversation is opened, or a message is written, costs nothing', async () => {
    for (const moment of ['agent.started', 'agent.init', 'turn.started'] as const) {
      const id = await rig.session()
      const before = rig.model.requests.length
      const sent = await rig.send(id, '[[say once]]')
      await rig.next(moment, id)
      await rig.restart()
      const { texts } = await rig.told(id, sent)
      const started = rig.now.engine.events.read({ sessionId: id, types: ['agent.started'], limit: 9 })
      assert.deepEqual([texts, started.length, rig.model.requests.length], [['once'], 1, before + 1], moment)
    }
  })
})

test('a Codex that is not signed in says how to sign in', { skip: codex.absent }, async (t) => {
  const strange = '[features]\nplugins = false\napps = false\n[analytics]\nenabled = false\n'
  const home = async () => {
    const at = await codex.home()
    writeFileSync(join(at.env['CODEX_HOME']!, 'config.toml'), strange)
    return at
  }
  const rig = await startRig({ ...codex, home })
  t.after(() => rig.close())
  const { end } = await rig.turn(await rig.session(), 'hello')
  assert.ok(end.type === 'turn.failed')
  assert.equal(end.error.code, 'not_signed_in')
  assert.match(end.error.message, /codex login/)
})
