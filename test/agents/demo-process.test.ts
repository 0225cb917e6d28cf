import assert from 'node:assert/strict'
import { execFileSync, spawn } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { demoDriver, demoProgram } from '../../src/agents/demo/driver.ts'
import { lineSplitter } from '../../src/agents/demo/lines.ts'
import { demoTranslator } from '../../src/agents/demo/translator.ts'
import { type Demo, startDemo } from '../support/model/demo.ts'
import { aSession } from '../support/session.ts'
import { exitOf } from '../support/wait.ts'

let root: string
let demo: Demo | undefined

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'corral-demo-test-'))
})
afterEach(async () => {
  await demo?.stop()
  demo = undefined
  rmSync(root, { recursive: true, force: true })
})

async function start(env: Record<string, string> = {}): Promise<Demo> {
  demo = await startDemo(aSession({ cwd: root }), { CORRAL_DEMO_STATE: join(root, 'state'), ...env })
  return demo
}

describe('the process', () => {
  test('answers a barrier after what came before it', async () => {
    const agent = await start()
    agent.say('t1', '[[hang]]')
    agent.write(...demoDriver.barrier('b1'))
    assert.deepEqual(await agent.wait('barrier.reached'), { type: 'barrier.reached', id: 'b1' })
    assert.equal(agent.all('turn.accepted').length, 1)
  })

  test('ends by itself once told goodbye and idle', async () => {
    const agent = await start()
    agent.say('t1', '[[drip 3 5]]')
    agent.write(...demoDriver.farewell())
    assert.equal((await agent.exit).code, 0)
    assert.equal(agent.all('turn.ended')[0]?.outcome, 'completed')
  })

  test('finishes its turn and ends when stdin is closed', async () => {
    const agent = await start()
    agent.say('t1', '[[drip 3 5]]')
    agent.child.stdin?.end()
    assert.equal((await agent.exit).code, 0)
    assert.equal(agent.all('turn.ended')[0]?.outcome, 'completed')
  })

  test('does not wait for an answer that cannot come any more', async () => {
    const agent = await start()
    agent.say('t1', '[[shell a]]')
    await agent.wait('approval.asked')
    agent.child.stdin?.end()
    assert.equal((await agent.exit).code, 0)
    assert.equal(agent.all('turn.ended')[0]?.outcome, 'interrupted')
  })

  test('dies of SIGTERM with 143', async () => {
    const agent = await start()
    await agent.wait('agent.init')
    agent.child.kill('SIGTERM')
    assert.equal((await agent.exit).code, 143)
  })

  test('interrupts its turn on SIGINT before it goes', async () => {
    const agent = await start()
    agent.say('t1', '[[drip 1000 5]]')
    await agent.wait('message.delta', 2)
    agent.child.kill('SIGINT')
    assert.equal((await agent.exit).code, 130)
    assert.equal(agent.all('turn.ended')[0]?.outcome, 'interrupted')
  })

  test('takes no harm from lines that it does not understand', async () => {
    const agent = await start()
    agent.write('', 'not json', '{"type":"dance"}', '{"type":"prompt","turnId":7}', 'null')
    assert.equal((await agent.turn('t1', 'hello')).text, 'echo: hello')
    assert.equal(agent.all('agent.notice').length, 4)
  })

  test('takes a line in pieces, and U+2028 as text', async () => {
    const agent = await start()
    const [line] = demoDriver.encode({
      kind: 'prompt',
      turnId: 't1',
      input: [{ type: 'text', text: 'é\u2028☕' }],
    })
    for (const byte of Buffer.from(`${line}\n`)) agent.child.stdin?.write(Buffer.from([byte]))
    assert.equal((await agent.wait('turn.ended')).text, 'echo: é\u2028☕')
  })

  test('works with a FIFO that it holds open itself and a file to append to', async () => {
    execFileSync('mkfifo', [join(root, 'in')])
    const shell = ['-c', 'exec "$@" <>in >>out', 'sh', process.execPath, demoProgram()]
    const env = { CORRAL_DEMO_STATE: join(root, 'state') }
    const child = spawn('/bin/sh', shell, { cwd: root, env, stdio: 'ignore' })
    const exited = exitOf(child, 'the demo agent ends')
    // Held open until the end: what is written before the agent has opened its side must not be lost.
    const fifo = openSync(join(root, 'in'), 'r+')
    for (const text of ['[[drip 3 5]]', '[[say second]]']) {
      const lines = demoDriver.encode({ kind: 'prompt', turnId: text, input: [{ type: 'text', text }] })
      writeSync(fifo, `${lines.join('\n')}\n`)
    }
    writeSync(fifo, `${demoDriver.farewell()[0]}\n`)
    assert.equal(await exited, 0)
    closeSync(fifo)
    const types = readFileSync(join(root, 'out'), 'utf8').trim().split('\n').map(typeOf)
    assert.equal(types.filter((type) => type === 'end-of-turn').length, 2)
  })
})

describe('a fault on request', () => {
  test('exit: dies at once and says why', async () => {
    const { code, stderr } = await (await start({ CORRAL_DEMO_FAULT: 'exit' })).exit
    assert.equal(code, 3)
    assert.match(stderr, /told to fail at once/)
  })

  test('garbage: the real lines are still between the others', async () => {
    const agent = await start({ CORRAL_DEMO_FAULT: 'garbage' })
    assert.equal((await agent.turn('t1', 'hello')).text, 'echo: hello')
    assert.ok(agent.garbage.some((line) => line.includes('\xff')))
    assert.ok(agent.garbage.includes('this is not JSON'))
  })

  test('longline: one line of 20 MiB comes before the answer', async () => {
    const agent = await start({ CORRAL_DEMO_FAULT: 'longline' })
    assert.equal((await agent.turn('t1', 'hello')).text, 'echo: hello')
    const [other] = agent.all('agent.other')
    assert.equal(other?.kind, 'padding')
    assert.equal(JSON.stringify(other?.raw).length, 20 * 1024 * 1024 + '{"type":"padding","data":""}'.length)
  })
})

describe('the translator', () => {
  const outputsOf = (line: unknown) => demoTranslator.step(demoTranslator.initial(), line).outputs

  test('keeps an unknown line as it came', () => {
    const raw = { type: 'news', n: 1 }
    assert.deepEqual(outputsOf(raw), [{ type: 'agent.other', kind: 'news', raw }])
  })

  test('keeps a damaged line as it came', () => {
    const raw = { type: 'delta', text: 'x' }
    assert.deepEqual(outputsOf(raw), [{ type: 'agent.other', kind: 'delta', raw }])
    assert.deepEqual(outputsOf(42), [{ type: 'agent.other', kind: 'number', raw: 42 }])
    assert.deepEqual(outputsOf(null), [{ type: 'agent.other', kind: 'object', raw: null }])
  })
})

describe('the line splitter', () => {
  test('drops a line past its bound and goes on', () => {
    const lines: string[] = []
    const dropped: number[] = []
    const split = lineSplitter(
      5,
      (bytes) => lines.push(bytes.toString()),
      (size) => dropped.push(size),
    )
    for (const chunk of ['ab', 'c\n12', '345', '6\n\nx\ny']) split(Buffer.from(chunk))
    assert.deepEqual(lines, ['abc', '', 'x'])
    assert.deepEqual(dropped, [6])
  })
})

function typeOf(line: string): unknown {
  return (JSON.parse(line) as { type: unknown }).type
}
