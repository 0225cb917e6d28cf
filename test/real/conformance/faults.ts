import assert from 'node:assert/strict'
import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { before, test } from 'node:test'
import { statusOf } from '../../../src/core/session.ts'
import { code } from '../../support/asking.ts'
import { until } from '../../support/wait.ts'
import { FAILING, type RealAgent } from './agent.ts'
import { type Rig, type Sent, words } from './rig.ts'

export function faults({ driver, failures }: RealAgent, rigOf: () => Rig): void {
  let rig: Rig
  let id: string
  before(async () => {
    rig = rigOf()
    id = await rig.session({ mode: 'auto' })
  })

  test('a message that is interrupted before the process has started never reaches the model', async () => {
    const sent = await rig.send(id, '[[say too late]]')
    await rig.interrupt(id)
    assert.equal((await rig.told(id, sent)).end.type, 'turn.interrupted')
    assert.deepEqual((await rig.turn(id, '[[remember KIWI]] [[say in time]]')).texts, ['in time'])
    const requests = rig.model.requests.map(({ body }) => JSON.stringify(body))
    assert.ok(!requests.some((body) => body.includes('too late')))
  })

  for (const status of FAILING) {
    test(`the model answers ${status}: the turn fails in plain words, the next one works`, async () => {
      const { end } = await rig.turn(id, `[[fail ${status}]]`)
      assert.ok(end.type === 'turn.failed', JSON.stringify(end))
      assert.equal(end.error.code, 'model_error')
      assert.equal(end.error.detail?.['status'] ?? null, failures[status])
      assert.ok(end.error.message.length > 0)
      await goesOn()
    })
  }

  test('garbage on stdout is mentioned, and what is right around it counts', async () => {
    const sent = await rig.send(id, '[[drip 20 50]]')
    await rig.next('message.delta', id, sent.seq)
    const { run } = rig.now.engine.sessions.get(id)
    const journal = join(rig.now.home, 'runs', rig.now.log.run(run!.id)!.process, 'out')
    for (const line of GARBAGE) appendFileSync(journal, line)
    const { end, texts, notices } = await rig.told(id, sent)
    assert.deepEqual([end.type, texts], ['turn.completed', [words(20)]])
    assert.ok(notices.length > 0 && notices.length <= GARBAGE.length, notices.join())
    assert.deepEqual(new Set(notices), new Set(['agent_output']))
    await goesOn()
  })

  const LOOPS = {
    'that runs for ever': (name: string) => `touch ${name} && sleep 98765`,
    'that is deaf to signals, and its child': (name: string) =>
      `trap '' INT TERM HUP; sleep 98765 & touch ${name}; while :; do sleep 1; done`,
  }
  for (const [what, script] of Object.entries(LOOPS)) {
    test(`an interrupt ends a tool ${what}`, async () => {
      const sent = await startTool(script)
      await rig.interrupt(id)
      const { end, outputs } = await rig.told(id, sent)
      assert.equal(end.type, 'turn.interrupted')
      // Some agents say of a command that was cut off that it is complete.
      assert.equal(outputs.length, 1)
      await noToolRuns()
      await goesOn()
    })
  }

  test('killed in the middle of its text it fails the turn, and the next message resumes', async () => {
    const sent = await rig.send(id, '[[drip 2000 20]]')
    await rig.next('message.delta', id, sent.seq)
    process.kill(rig.agentOf(id).pid, 'SIGKILL')
    const { end, events } = await rig.told(id, sent)
    assert.ok(end.type === 'turn.failed')
    assert.equal(end.error.code, 'agent_exited')
    assert.ok(end.error.message.startsWith(`${driver.title} was killed (SIGKILL) during the turn`))
    assert.ok(events.some((event) => event.type === 'message.completed' && event.aborted))
    const session = rig.now.engine.sessions.get(id)
    assert.deepEqual([statusOf(session), session.lastError?.code], ['idle', 'agent_exited'])
    await remembers()
  })

  test('killed while a tool runs it takes the tool with it', async () => {
    const sent = await startTool(LOOPS['that runs for ever'])
    process.kill(rig.agentOf(id).pid, 'SIGKILL')
    assert.equal((await rig.told(id, sent)).end.type, 'turn.failed')
    await noToolRuns()
    await remembers()
  })

  test('killed while it waits for an answer, the question is withdrawn', async () => {
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'ask' })
    const sent = await rig.send(id, '[[shell touch never.txt]]')
    const { approval } = await rig.next('approval.requested', id, sent.seq)
    process.kill(-rig.groupOf(id), 'SIGKILL')
    assert.equal((await rig.told(id, sent)).end.type, 'turn.failed')
    assert.equal(rig.now.engine.approvals.get(approval.id).decision?.behavior, 'cancelled')
    await assert.rejects(rig.decide(approval.id, { behavior: 'allow' }), code('approval_resolved'))
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'auto' })
    await remembers()
    assert.ok(!rig.has(id, 'never.txt'))
  })

  test('a session that is destroyed while a tool runs leaves nothing', async () => {
    const sent = await startTool(LOOPS['that is deaf to signals, and its child'])
    await rig.now.engine.sessions.destroy(id)
    assert.equal((await rig.told(id, sent)).end.type, 'turn.interrupted')
    await noToolRuns()
  })

  let tools = 0
  /** A command that is certainly running. */
  async function startTool(script: (name: string) => string): Promise<Sent> {
    const name = `began${tools++}.txt`
    const sent = await rig.send(id, `[[shell ${script(name)}]]`)
    await rig.next('tool.started', id, sent.seq)
    await until(
      () => rig.has(id, name) && sleeping(rig).length > 0,
      () => `the tool runs in ${rig.processes().map(({ command }) => command)}`,
    )
    return sent
  }

  const noToolRuns = () =>
    until(
      () => sleeping(rig).length === 0,
      () => `no tool runs any more, but: ${sleeping(rig)}`,
    )

  async function goesOn(): Promise<void> {
    const { texts, events } = await rig.turn(id, '[[say on]]')
    assert.deepEqual(texts, ['on'])
    assert.ok(!events.some(({ type }) => type === 'agent.started'), 'the same process')
  }

  async function remembers(): Promise<void> {
    const { texts, notices } = await rig.turn(id, '[[recall]]')
    assert.deepEqual([texts, notices], [['recall: KIWI'], []])
  }
}

const GARBAGE = [
  'Segmentation fault? no.\n',
  Buffer.from([0xff, 0xfe, 0x80, 0x20, 0x62, 0x0a]),
  '{"half":\n',
  '[]\n',
  '42\n',
  'null\n',
  '{}\n',
  '\n',
]

/** The tools of these tests that run. The shell that watches over an agent sleeps, too, but not for so long. */
function sleeping({ processes }: Rig): string[] {
  return processes()
    .map(({ command }) => command)
    .filter((command) => /^sleep 98765$|sleep 1; done/.test(command) && !/corral-agent/.test(command))
}
