import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Mode } from '../../src/core/mode.ts'
import { NO_RULES } from '../../src/core/rule.ts'
import { codexAbsent } from '../support/codex-env.ts'
import { decide, type CodexRig, endOf, found, only, startCodexRig } from './codex-rig.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const escalated = (command: string) => {
  const input = { cmd: command, sandbox_permissions: 'require_escalated', justification: 'it must be' }
  return `[[call exec_command ${Buffer.from(JSON.stringify(input)).toString('base64')}]]`
}

describe('the real codex', { skip: codexAbsent, concurrency: false }, () => {
  let rig: CodexRig
  before(async () => {
    rig = await startCodexRig()
  })
  after(() => rig?.close())

  const inside = (sessionId: string, name: string) => join(rig.engine.engine.session(sessionId).cwd, name)

  test('streams a thought and words, which add up, and says what they took', async () => {
    const events = await rig.turn(await rig.session(), '[[think let me see]] [[drip 5 20]]')
    const messages = only(events, 'message.completed')
    assert.deepEqual(
      messages.map(({ kind, text }) => [kind, text]),
      [
        ['thinking', 'let me see'],
        ['text', 'w1 w2 w3 w4 w5'],
      ],
    )
    const [{ usage, text }] = only(events, 'turn.completed') as [never]
    assert.equal(text, 'w1 w2 w3 w4 w5')
    const { inputTokens, outputTokens, modelCalls, durationMs, costUsd } = usage
    assert.ok(inputTokens > 0 && outputTokens > 0 && durationMs > 0)
    assert.deepEqual([modelCalls, costUsd], [1, null])
    assert.deepEqual(only(events, 'agent.other'), [])
    const [init] = only(events, 'agent.init')
    assert.deepEqual([init!.model, init!.version], ['gpt-5.5', '0.166.0'])
  })

  test('a command waits for a human in `ask`: a yes runs it, a no does not', async () => {
    const id = await rig.session({ mode: 'ask' })
    const yes = await rig.turn(id, '[[shell echo hi > yes.txt; cat yes.txt]]', { behavior: 'allow' })
    const [approval] = only(yes, 'approval.requested')
    assert.deepEqual(approval!.approval.input, {
      command: 'echo hi > yes.txt; cat yes.txt',
      cwd: rig.engine.engine.session(id).cwd,
    })
    const [ran] = only(yes, 'tool.completed')
    assert.deepEqual([ran!.callId, ran!.output, ran!.isError], [approval!.approval.callId, 'hi\n', false])
    const no = await rig.turn(id, '[[shell touch no.txt]]', { behavior: 'deny', comment: 'rather not' })
    assert.match(endOf(no), /^completed: tool said: .*rejected by user/s)
    assert.deepEqual(
      [only(no, 'tool.completed')[0]!.isError, existsSync(inside(id, 'no.txt'))],
      [true, false],
    )
    const other = { behavior: 'allow', input: { command: 'touch other.txt' } } as const
    const sent = await rig.send(id, '[[shell touch this.txt]]')
    const { approval: open } = await sent.until('approval.requested')
    await assert.rejects(decide(rig, open.id, other), /cannot take another input/)
    await decide(rig, open.id, { behavior: 'deny', comment: '' })
    await sent.end()
    assert.ok(!existsSync(inside(id, 'this.txt')) && !existsSync(inside(id, 'other.txt')))
  })

  test('an edit waits in `ask` and shows its diff, which is kept', async () => {
    const id = await rig.session({ mode: 'ask' })
    const path = inside(id, 'notes.txt')
    await rig.turn(id, '[[write notes.txt old]]', { behavior: 'allow' })
    const events = await rig.turn(id, '[[edit notes.txt old new]]', { behavior: 'allow' })
    const { approval } = only(events, 'approval.requested')[0]!
    assert.deepEqual([approval.tool, approval.edits], ['fileChange', true])
    const input = { path, changes: [{ path, kind: 'update', diff: '@@ -1 +1 @@\n-old\n+new\n' }] }
    assert.deepEqual(approval.input, input)
    assert.deepEqual(only(events, 'tool.started')[0]!.input, input)
    assert.equal(only(events, 'tool.completed')[0]!.output, `M ${path}`)
    assert.match(JSON.stringify(only(events, 'agent.other')), /diff --git a\/notes.txt b\/notes.txt/)
    assert.equal(readFileSync(path, 'utf8'), 'new\n')
  })

  test('a yes for the session is not asked again', async () => {
    const id = await rig.session({ mode: 'ask' })
    await rig.turn(id, '[[shell touch again.txt]]', { behavior: 'allow', forSession: true })
    const again = await rig.turn(id, '[[shell touch again.txt]]')
    assert.ok(only(again, 'approval.requested').every((event) => !event.open))
    assert.match(endOf(again), /^completed/)
  })

  test('a rule that forbids something holds in `auto`, too', async () => {
    const id = await rig.session()
    await rig.engine.engine.configure({ sessionId: id, rules: { deny: ['command(touch *)'] } })
    await rig.turn(id, '[[shell touch forbidden.txt]]')
    assert.ok(!existsSync(inside(id, 'forbidden.txt')))
  })

  /** What happens without a human: done, not done, or asked for. */
  const TABLE: Record<Mode, Record<'command' | 'edit' | 'escalated', string>> = {
    plan: { command: 'not done', edit: 'not done', escalated: 'not done' },
    ask: { command: 'asked', edit: 'asked', escalated: 'asked' },
    code: { command: 'asked', edit: 'done', escalated: 'asked' },
    auto: { command: 'done', edit: 'done', escalated: 'done' },
  }
  for (const [mode, expected] of Object.entries(TABLE)) {
    test(`in \`${mode}\` Codex does what the table says`, async () => {
      const id = await rig.session({ mode: mode as Mode })
      const attempt = async (name: string, text: string) => {
        const sent = await rig.send(id, text)
        const asked = found(
          () => rig.engine.engine.approvals({ sessionId: id, open: true, limit: 1 })[0],
          () => 'a question',
        )
        const first = await Promise.race([sent.end().then(() => null), asked])
        asked.catch(() => undefined)
        assert.equal(existsSync(inside(id, name)), !first && expected !== TABLE.plan)
        if (!first) return existsSync(inside(id, name)) ? 'done' : 'not done'
        assert.equal(first.summary, name === 'escalated' ? 'it must be' : null)
        await rig.engine.engine.interrupt({ sessionId: id })
        await sent.end()
        return 'asked'
      }
      assert.deepEqual(
        {
          command: await attempt('command', '[[shell touch command]]'),
          edit: await attempt('edit', '[[write edit text]]'),
          escalated: await attempt('escalated', escalated('touch escalated')),
        },
        expected,
      )
    })
  }

  test('mode and model hold from the next message on, without another process', async () => {
    const id = await rig.session({ mode: 'plan', model: 'gpt-5.5' })
    const modelNow = () => (rig.model.requests.at(-1)!.body as { model: string }).model
    await rig.turn(id, '[[shell touch early.txt]]')
    assert.deepEqual([modelNow(), existsSync(inside(id, 'early.txt'))], ['gpt-5.5', false])
    await rig.engine.engine.configure({ sessionId: id, mode: 'auto', model: 'gpt-5.4' })
    const events = await rig.turn(id, '[[shell touch late.txt]]')
    assert.deepEqual([modelNow(), existsSync(inside(id, 'late.txt'))], ['gpt-5.4', true])
    assert.deepEqual(only(events, 'agent.started'), [])
  })

  test('sees pictures, the prompts of the session, and its id in the environment', async () => {
    const settings = { appendSystemPrompt: '[[sysword zebra]]', customInstructions: '[[sysword yak]]' }
    const id = await rig.session({ settings })
    assert.equal(endOf(await rig.turn(id, '[[system]]')), 'completed: system: zebra yak')
    const own = await rig.session({ settings: { systemPrompt: '[[sysword gnu]]' } })
    assert.equal(endOf(await rig.turn(own, '[[system]]')), 'completed: system: gnu')
    const [ran] = only(await rig.turn(id, '[[shell echo $CORRAL_SESSION_ID]]'), 'tool.completed')
    assert.equal(ran!.output, `${id}\n`)
    const { turnId } = await rig.engine.engine.send({
      sessionId: id,
      input: [
        { type: 'text', text: '[[attachments]]' },
        { type: 'image', mediaType: 'image/png', data: PIXEL },
      ],
    })
    const bytes = Buffer.from(PIXEL, 'base64').length
    const seen = await found(
      () => rig.engine.engine.turn(turnId).text,
      () => 'an answer',
    )
    assert.equal(seen, `attachments: 1 image/png/${bytes}`)
  })

  test('messages that come while it works are turns of their own, in order', async () => {
    const id = await rig.session()
    const texts = ['[[drip 20 10]]', 'second', 'third']
    const sent = []
    for (const text of texts) sent.push(await rig.send(id, text))
    const ends = []
    for (const one of sent) ends.push(endOf(await one.end()))
    assert.deepEqual(ends.slice(1), ['completed: echo: second', 'completed: echo: third'])
    assert.match(ends[0]!, /w20$/)
  })

  test('a process that has ended is followed by one that remembers and may still write', async () => {
    const config = readFileSync(rig.config, 'utf8')
    const id = await rig.session({ mode: 'code', rules: { ...NO_RULES, allow: ['*'] } })
    mkdirSync(inside(id, '.git'))
    await rig.turn(id, '[[remember MANGO]] [[say noted]]')
    await rig.engine.host.end(id)
    const recalled = await rig.turn(id, '[[recall]]')
    assert.equal(endOf(recalled), 'completed: recall: MANGO')
    assert.equal(only(recalled, 'agent.started')[0]!.resumed, true)
    await rig.turn(id, '[[shell touch command.txt]]')
    await rig.turn(id, '[[write edit.txt text]]')
    assert.ok(existsSync(inside(id, 'command.txt')) && existsSync(inside(id, 'edit.txt')))
    assert.equal(readFileSync(rig.config, 'utf8'), config, 'the settings of the user are as they were')
  })

  test('a fork goes its own way while the first one is alive', async () => {
    const id = await rig.session()
    await rig.turn(id, '[[remember KIWI]] [[say noted]]')
    const fork = await rig.engine.engine.fork({ sessionId: id })
    assert.equal(endOf(await rig.turn(fork.id, '[[recall]]')), 'completed: recall: KIWI')
    await rig.turn(fork.id, '[[remember LIME]] [[say noted]]')
    assert.equal(endOf(await rig.turn(id, '[[recall]]')), 'completed: recall: KIWI')
    const ids = [id, fork.id].map((one) => rig.engine.engine.session(one).nativeId)
    assert.notEqual(ids[0], ids[1])
  })

  test('a conversation that is not there any more is followed by a fresh one', async () => {
    const id = await rig.session({ nativeId: '0199a000-0000-7000-8000-000000000000' })
    const events = await rig.turn(id, 'hello')
    assert.equal(endOf(events), 'completed: echo: hello')
    assert.ok(only(events, 'agent.notice').some(({ code }) => code === 'conversation_lost'))
  })

  test('settings that Codex does not have are refused', async () => {
    const id = await rig.session({ settings: { maxTurns: 3, disallowedTools: ['command'] } })
    const [failed] = only(await rig.turn(id, 'hello'), 'turn.failed')
    assert.deepEqual(failed!.error, {
      code: 'unsupported',
      message: 'Codex has no such setting: disallowedTools, maxTurns',
    })
  })
})
