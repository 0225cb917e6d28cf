import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import type { Session } from '../../src/core/session.ts'
import { type Demo, startDemo } from '../support/model/demo.ts'
import { aSession } from '../support/session.ts'

const PIXEL = Buffer.alloc(70).toString('base64')
let root: string
let started: Demo[] = []

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'corral-demo-test-'))
})
afterEach(async () => {
  await Promise.all(started.map((demo) => demo.stop()))
  started = []
  rmSync(root, { recursive: true, force: true })
})

async function start(patch: Partial<Session> = {}): Promise<Demo> {
  const demo = await startDemo(aSession({ cwd: root, ...patch }), { CORRAL_DEMO_STATE: join(root, 'state') })
  started.push(demo)
  return demo
}

const lastText = (demo: Demo) => demo.all('message.completed').findLast((one) => one.kind === 'text')?.text

describe('a turn', () => {
  test('is accepted, streamed, completed and ended, with a usage that can be foretold', async () => {
    const demo = await start()
    const ended = await demo.turn('t1', 'hello there')
    assert.equal(demo.outputs[0]?.type, 'agent.init')
    assert.deepEqual(demo.all('turn.accepted'), [{ type: 'turn.accepted', turnId: 't1' }])
    const deltas = demo.all('message.delta')
    const [message] = demo.all('message.completed')
    assert.equal(deltas.map((delta) => delta.text).join(''), 'echo: hello there')
    assert.ok(deltas.every((delta) => delta.messageId === message?.messageId))
    assert.deepEqual([message?.text, message?.aborted], ['echo: hello there', false])
    const { durationMs, ...usage } = ended.usage
    const tokens = { inputTokens: 3, outputTokens: 5, cacheReadTokens: 0, cacheWriteTokens: 0 }
    assert.deepEqual(usage, { ...tokens, costUsd: 0, modelCalls: 1 })
    assert.ok(durationMs >= 0)
    assert.deepEqual([ended.outcome, ended.text, ended.error], ['completed', 'echo: hello there', null])
  })

  test('thinks in a message of its own', async () => {
    const demo = await start()
    await demo.turn('t1', '[[think hm]] [[say so]]')
    const messages = demo.all('message.completed').map(({ kind, text }) => [kind, text])
    assert.deepEqual(messages, [
      ['thinking', 'hm'],
      ['text', 'so'],
    ])
  })

  test('drips its words', async () => {
    const demo = await start()
    await demo.turn('t1', '[[drip 4 5]]')
    assert.deepEqual(
      demo.all('message.delta').map((delta) => delta.text),
      ['w1', ' w2', ' w3', ' w4'],
    )
    assert.equal(lastText(demo), 'w1 w2 w3 w4')
  })

  test('bursts every delta it was asked for', async () => {
    const demo = await start()
    await demo.turn('t1', '[[burst 5000 20]]')
    assert.equal(demo.all('message.delta').length, 5000)
    assert.equal(lastText(demo)?.length, 100_000)
  })

  test('fails as the model would, and the next one is fine', async () => {
    const demo = await start()
    const ended = await demo.turn('t1', '[[sayfail 503 half]]')
    assert.equal(ended.outcome, 'failed')
    assert.equal(ended.error?.code, 'model_error')
    assert.deepEqual(ended.error?.detail, { status: 503 })
    assert.equal(lastText(demo), 'half')
    assert.equal((await demo.turn('t2', 'again')).text, 'echo: again')
  })

  test('waits for the one before it', async () => {
    const demo = await start()
    demo.say('t1', '[[drip 3 10]]')
    demo.say('t2', '[[say second]]')
    assert.equal((await demo.wait('turn.ended', 2)).text, 'second')
    assert.deepEqual(
      demo.all('message.completed').map((message) => message.text),
      ['w1 w2 w3', 'second'],
    )
  })

  test('of an id that was seen is accepted again and not run again', async () => {
    const demo = await start()
    await demo.turn('t1', '[[say once]]')
    demo.say('t1', '[[say once]]')
    await demo.turn('t2', '[[say other]]')
    assert.equal(demo.all('turn.accepted').length, 3)
    assert.equal(demo.all('turn.ended').length, 2)
  })
})

describe('a tool call', () => {
  test('is asked for, and pretends once it is allowed', async () => {
    const demo = await start()
    demo.say('t1', '[[shell touch made.txt]]')
    const asked = await demo.wait('approval.asked')
    const [call] = demo.all('tool.started')
    assert.deepEqual([asked.approval.kind, asked.approval.tool], ['tool', 'Shell'])
    assert.deepEqual(asked.approval.input, { command: 'touch made.txt' })
    assert.equal(asked.approval.callId, call?.callId)
    demo.decide(asked, { behavior: 'allow' })
    const ended = await demo.wait('turn.ended')
    assert.equal(ended.text, 'tool said: (pretend) ran: touch made.txt')
    assert.equal(ended.usage.modelCalls, 2)
    assert.ok(!readdirSync(root).includes('made.txt'))
  })

  test('runs with the input that was allowed', async () => {
    const demo = await start()
    demo.say('t1', '[[shell one]]')
    demo.decide(await demo.wait('approval.asked'), { behavior: 'allow', input: { command: 'two' } })
    assert.equal((await demo.wait('turn.ended')).text, 'tool said: (pretend) ran: two')
  })

  test('that is denied is an error that says why, and the turn goes on', async () => {
    const demo = await start()
    demo.say('t1', '[[write a.txt text]]')
    demo.decide(await demo.wait('approval.asked'), { behavior: 'deny', comment: 'not today' })
    const ended = await demo.wait('turn.ended')
    assert.deepEqual([ended.outcome, ended.text], ['completed', 'tool said: not today'])
    const [result] = demo.all('tool.completed')
    assert.deepEqual([result?.isError, result?.output], [true, 'not today'])
  })

  test('listens to the first decision only, and to none it did not ask for', async () => {
    const demo = await start()
    demo.say('t1', '[[shell a]]')
    const asked = await demo.wait('approval.asked')
    demo.decide({ ...asked, approval: { ...asked.approval, requestId: 'unheard of' } }, { behavior: 'allow' })
    demo.decide(asked, { behavior: 'allow' })
    demo.decide(asked, { behavior: 'deny', comment: 'too late' })
    assert.equal((await demo.wait('turn.ended')).text, 'tool said: (pretend) ran: a')
    assert.equal((await demo.turn('t2', 'next')).text, 'echo: next')
  })

  test('that asks a question takes the answer as its result', async () => {
    const demo = await start({ mode: 'auto' })
    demo.say('t1', '[[ask Which colour?]]')
    const asked = await demo.wait('approval.asked')
    assert.deepEqual([asked.approval.kind, asked.approval.summary], ['question', 'Which colour?'])
    demo.decide(asked, { behavior: 'allow', answers: { 'Which colour?': 'blue' } })
    assert.equal((await demo.wait('turn.ended')).text, 'tool said: blue')
  })

  for (const [mode, script, asks] of [
    ['code', '[[write a.txt text]]', false],
    ['code', '[[edit a.txt a b]]', false],
    ['code', '[[shell a]]', true],
    ['code', '[[call Other e30=]]', true],
    ['auto', '[[write a.txt text]]', true],
    ['plan', '[[write a.txt text]]', true],
  ] as const) {
    test(`${script} in mode ${mode} ${asks ? 'is asked for' : 'runs at once'}`, async () => {
      const demo = await start({ mode })
      demo.say('t1', script)
      if (asks) demo.decide(await demo.wait('approval.asked'), { behavior: 'allow' })
      const ended = await demo.wait('turn.ended')
      assert.match(ended.text ?? '', /^tool said: \(pretend\)/)
      assert.equal(demo.all('approval.asked').length, asks ? 1 : 0)
    })
  }

  test('follows a change of mode', async () => {
    const demo = await start()
    demo.tell({ kind: 'mode', mode: 'code' })
    assert.match(
      (await demo.turn('t1', '[[write a.txt text]]')).text ?? '',
      /^tool said: \(pretend\) wrote 4/,
    )
  })
})

describe('an interrupt', () => {
  const interrupt = (demo: Demo) => demo.write(...demoDriver.interrupt())

  test('leaves the text so far, marked as cut off', async () => {
    const demo = await start()
    demo.say('t1', '[[drip 1000 5]]')
    await demo.wait('message.delta', 3)
    interrupt(demo)
    assert.equal((await demo.wait('turn.ended')).outcome, 'interrupted')
    const [message] = demo.all('message.completed')
    assert.equal(message?.aborted, true)
    const streamed = demo.all('message.delta').map((delta) => delta.text)
    assert.equal(message?.text, streamed.join(''))
  })

  test('withdraws the open question', async () => {
    const demo = await start()
    demo.say('t1', '[[shell a]]')
    const asked = await demo.wait('approval.asked')
    interrupt(demo)
    assert.equal((await demo.wait('turn.ended')).outcome, 'interrupted')
    assert.equal((await demo.wait('approval.withdrawn')).requestId, asked.approval.requestId)
    assert.equal(demo.all('tool.completed')[0]?.isError, true)
  })

  test('ends what would hang, and the queue goes on', async () => {
    const demo = await start()
    demo.say('t1', '[[hang]]')
    demo.say('t2', '[[say next]]')
    await demo.wait('turn.accepted', 2)
    interrupt(demo)
    assert.equal((await demo.wait('turn.ended', 2)).text, 'next')
    assert.equal(demo.all('turn.ended')[0]?.outcome, 'interrupted')
  })

  test('gets through to a burst', async () => {
    const demo = await start()
    demo.say('t1', '[[burst 200000000 1]]')
    await demo.wait('message.delta')
    interrupt(demo)
    assert.equal((await demo.wait('turn.ended')).outcome, 'interrupted')
  })

  test('does nothing to an idle agent', async () => {
    const demo = await start()
    interrupt(demo)
    assert.equal((await demo.turn('t1', 'hello')).outcome, 'completed')
  })
})

describe('a conversation', () => {
  const idOf = async (demo: Demo) => (await demo.wait('agent.init')).nativeId

  test('recalls within a process', async () => {
    const demo = await start()
    await demo.turn('t1', '[[remember blue]] [[say ok]]')
    assert.equal((await demo.turn('t2', '[[recall]]')).text, 'recall: blue')
  })

  test('recalls, and has its attachments, in the next process', async () => {
    const first = await start()
    const image = { type: 'image', mediaType: 'image/png', data: PIXEL } as const
    first.tell({ kind: 'prompt', turnId: 't1', input: [image, { type: 'text', text: '[[remember blue]]' }] })
    await first.wait('turn.ended')
    const nativeId = await idOf(first)
    await first.stop()
    const second = await start({ nativeId })
    assert.equal(await idOf(second), nativeId)
    assert.equal((await second.turn('t2', '[[recall]]')).text, 'recall: blue')
    assert.equal((await second.turn('t3', '[[attachments]]')).text, 'attachments: 1 image/png/70')
  })

  test('that is forked goes its own way from there', async () => {
    const first = await start()
    await first.turn('t1', '[[remember blue]]')
    const second = await start({ forkFrom: await idOf(first) })
    assert.notEqual(await idOf(second), await idOf(first))
    assert.equal((await second.turn('t2', '[[recall]]')).text, 'recall: blue')
    await second.turn('t3', '[[remember red]]')
    assert.equal((await first.turn('t4', '[[recall]]')).text, 'recall: blue')
  })

  for (const nativeId of ['11111111-2222-4333-8444-555555555555', '../state']) {
    test(`that is not there (${nativeId}) is reported as lost`, async () => {
      const demo = await start({ nativeId })
      const ended = await demo.turn('t1', '[[recall]]')
      assert.deepEqual([ended.outcome, ended.error?.code], ['failed', 'conversation_lost'])
      assert.equal(await idOf(demo), null)
    })
  }

  test('sees the system prompts of its session, which are not in its arguments', async () => {
    const settings = { systemPrompt: '[[sysword A]]', appendSystemPrompt: '[[sysword B]]' }
    const demo = await start({ settings })
    assert.ok(!demo.child.spawnargs.join(' ').includes('sysword'))
    assert.equal((await demo.turn('t1', '[[system]]')).text, 'system: A B')
  })
})
