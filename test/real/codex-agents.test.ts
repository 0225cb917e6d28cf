import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { NO_RULES } from '../../src/core/rule.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { until } from '../support/wait.ts'
import { codex } from './conformance/agents.ts'
import { call, type Of, type Rig, startRig } from './conformance/rig.ts'

const ALLOW = { behavior: 'allow' } as const
/** Commands run in the sandbox, and nobody is asked. */
const SANDBOXED = { mode: 'code' as const, rules: { ...NO_RULES, allow: ['*'] } }
const FOLDERS = ['.agents', '.aws', '.codex', '.git']

let rig: Rig
let at: AgentHome
const cwdOf = (id: string) => rig.now.engine.sessions.get(id).cwd
const runs = (command: string) => rig.processes().filter((one) => one.command === command).length
const running = (command: string) =>
  until(
    () => runs(command) > 0,
    () => `${command} runs; there are ${JSON.stringify(rig.processes())}`,
  )
const spawns = (message: string) => call(['multi_agent_v1::spawn_agent', { message, agent_type: 'default' }])
const waits = (agent: string) =>
  call(['multi_agent_v1::wait_agent', { targets: [agent], timeout_ms: 600_000 }])

/** A command that waits for a file, and makes the model call the next one. */
const first = (next: string) => `[[shell until [ -e go ]; do sleep 0.1; done; echo '[[shell ${next}]]']]`

/** A sub-agent that has been given this message, the call that it belongs to, and its name. */
async function spawned(id: string, message: string) {
  const { tools, texts } = await rig.turn(id, spawns(message))
  const [, agent] = /agent_id":"([^"]+)/.exec(texts.join())!
  return { agent: agent!, call: tools.find(({ tool }) => tool === 'spawnAgent')!.callId }
}

describe('Codex, its sub-agents and its neighbours', { skip: codex.absent, concurrency: false }, () => {
  before(async () => {
    rig = await startRig({ ...codex, home: async () => (at = await codex.home()) })
  })
  after(() => rig?.close())

  /** So that nobody is the last one out of the process. */
  let other: string
  beforeEach(async () => {
    if (other !== undefined) return
    other = await rig.session()
    await rig.turn(other, '[[say here]]')
  })

  test('what a sub-agent does is told with the call that it belongs to, and `auto` answers its questions', async () => {
    const id = await rig.session({ mode: 'auto' })
    const { agent, call: parent } = await spawned(id, '[[shell sleep 1; echo done]]')
    const { end, asked } = await rig.turn(id, waits(agent))
    assert.equal(end.type, 'turn.completed')
    const events = rig.now.engine.events.read({ sessionId: id, limit: 1000 }).map(({ event }) => event)
    const ran = events.find((event) => event.type === 'tool.started' && event.tool === 'command')
    assert.equal((ran as Of<'tool.started'>).parent, parent)
    const question = events.find((event) => event.type === 'approval.requested') as Of<'approval.requested'>
    assert.deepEqual([question.approval.parent, question.open], [parent, false])
    assert.ok(asked.every(({ open }) => !open))
  })

  test('its question outlives the turn that started it, and is answered then', async () => {
    const id = await rig.session()
    const sent = await rig.send(id, spawns('[[shell touch asked.txt]]'))
    await rig.told(id, sent)
    await until(() => rig.now.engine.sessions.get(id).approvals.length > 0, 'its question is open')
    const [approval] = rig.now.engine.sessions.get(id).approvals
    assert.equal(rig.has(id, 'asked.txt'), false)
    await rig.decide(approval!.id, ALLOW)
    await until(() => rig.has(id, 'asked.txt'), 'the command was run')
  })

  test('its question is heard by the next daemon, although its turn began under the last one', async () => {
    const id = await rig.session()
    const asked = () =>
      rig.now.engine.sessions.get(id).approvals.map(({ input }) => (input as { command: string }).command)
    const isAsked = (about: RegExp) =>
      until(
        () => asked().length === 1 && about.test(asked()[0]!),
        () => `asked about ${about}, not ${asked().join()}`,
      )
    await spawned(id, first('touch later.txt'))
    await isAsked(/^until/)
    await rig.decide(rig.now.engine.sessions.get(id).approvals[0]!.id, ALLOW)
    await running('sleep 0.1')
    writeFileSync(rig.inside(id, 'go'), '')
    await rig.restart()
    await isAsked(/^touch/)
    await rig.decide(rig.now.engine.sessions.get(id).approvals[0]!.id, ALLOW)
    await until(() => rig.has(id, 'later.txt'), 'the command was run')
  })

  test('an interrupt stops it, also by the next daemon', async () => {
    for (const [seconds, meanwhile] of [
      [7101, async () => undefined],
      [7102, () => rig.restart()],
    ] as const) {
      const id = await rig.session({ mode: 'auto' })
      const { agent } = await spawned(id, `[[shell sleep ${seconds}; echo '[[shell touch never.txt]]']]`)
      await running(`sleep ${seconds}`)
      await meanwhile()
      const sent = await rig.send(id, waits(agent))
      await rig.next('tool.started', id, sent.seq)
      await rig.interrupt(id)
      assert.equal((await rig.told(id, sent)).end.type, 'turn.interrupted')
      assert.equal(runs(`sleep ${seconds}`), 0)
      assert.equal((await rig.turn(id, '[[say hello]]')).end.type, 'turn.completed')
      assert.equal(rig.has(id, 'never.txt'), false)
    }
  })

  test('nothing of a session that is destroyed goes on, although others are in the process', async () => {
    const id = await rig.session({ mode: 'auto' })
    await rig.turn(id, call(['exec_command', { cmd: 'sleep 7103', yield_time_ms: 300 }]))
    await spawned(id, `[[shell sleep 7104; echo '[[shell touch never.txt]]']]`)
    await running('sleep 7104')
    const { agent } = await spawned(id, '[[drip 10000 20]]')
    const journals = () =>
      readdirSync(join(rig.now.home, 'runs')).flatMap((run) =>
        readFileSync(join(rig.now.home, 'runs', run, 'out'), 'utf8').split('\n'),
      )
    const said = (method: string) =>
      journals().some((line) => line.includes(`"${method}","params":{"threadId":"${agent}"`))
    await until(() => said('item/agentMessage/delta'), 'it talks')
    await rig.now.engine.sessions.destroy(id)
    await rig.next('agent.exited', id)
    assert.deepEqual([runs('sleep 7103'), runs('sleep 7104')], [0, 0])
    await until(() => said('turn/completed'), 'it is silent')
    assert.equal((await rig.turn(other, '[[say still here]]')).texts[0], 'still here')
  })

  test('in `code` an edit outside of the session’s directories is asked about', async () => {
    const [elsewhere, added] = [rig.directory(), rig.directory()]
    const settings = { additionalDirectories: [added] }
    const id = await rig.session({ mode: 'code', settings })
    const patch = (path: string) =>
      call(['apply_patch', { input: `*** Begin Patch\n*** Add File: ${path}\n+hello\n*** End Patch\n` }])
    const opens = async (path: string) => {
      const { asked } = await rig.turn(id, patch(path), { behavior: 'deny', comment: 'no' })
      return asked.map(({ open }) => open)
    }
    assert.deepEqual(await opens('inside.txt'), [false])
    assert.deepEqual(await opens(join(added, 'added.txt')), [false])
    assert.deepEqual(await opens(join(elsewhere, 'outside.txt')), [true])
    assert.deepEqual([readdirSync(elsewhere), readdirSync(added)], [[], ['added.txt']])
  })

  test('tidying up after one leaves the sandbox of its neighbour in the same directory alone', async () => {
    const cwd = rig.directory()
    const [one, two] = [await rig.session({ ...SANDBOXED, cwd }), await rig.session({ ...SANDBOXED, cwd })]
    const sleeping = await rig.send(one, '[[shell sleep 7105]]')
    await running('sleep 7105')
    // A command that fails by its sandbox is run again without one; this one succeeds.
    const touches = 'until [ -e go ]; do sleep 0.1; done; touch .git/hook || true'
    const working = await rig.send(two, `[[shell ${touches}]]`)
    await rig.next('tool.started', two, working.seq)
    await until(
      () => rig.processes().some(({ command }) => command === 'sleep 0.1'),
      'both are in their sandboxes',
    )
    await rig.interrupt(one)
    await rig.told(one, sleeping)
    assert.deepEqual(readdirSync(cwd).toSorted(), FOLDERS)
    writeFileSync(join(cwd, 'go'), '')
    const { outputs } = await rig.told(two, working)
    assert.match(outputs[0]!.output, /Read-only file system/)
  })

  test('folders that were made while nothing ran are not the sandbox’s', async () => {
    const id = await rig.session(SANDBOXED)
    await rig.turn(id, '[[say hello]]')
    const { activeAt } = rig.now.engine.sessions.get(id)
    await until(() => Date.now() > activeAt + 50, 'a moment later')
    mkdirSync(rig.inside(id, '.agents'))
    await rig.endProcess(id)
    assert.deepEqual(readdirSync(cwdOf(id)), ['.agents'])
  })

  test('another mode in the middle of a turn: what it does not change is said', async () => {
    const id = await rig.session({ mode: 'plan' })
    const sent = await rig.send(id, first('touch after.txt'))
    await rig.next('tool.started', id, sent.seq)
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'auto' })
    await rig.next('agent.notice', id, sent.seq)
    writeFileSync(rig.inside(id, 'go'), '')
    const { notices } = await rig.told(id, sent)
    assert.deepEqual([notices, rig.has(id, 'after.txt')], [['mode_later'], false])
    const { notices: none } = await rig.turn(id, '[[shell touch after.txt]]')
    assert.deepEqual([none, rig.has(id, 'after.txt')], [[], true])
  })

  test('rules of the user’s that allow a command are told of, and do not let it write in `plan`', async () => {
    const rules = join(at.env['CODEX_HOME']!, 'rules')
    mkdirSync(rules)
    const file = join(rules, 'default.rules')
    writeFileSync(file, 'prefix_rule(pattern=["touch"], decision="allow")\n')
    const id = await rig.session({ mode: 'plan' })
    const touch = async (name: string) => {
      const { asked, notices } = await rig.turn(id, `[[shell touch ${name}]]`, ALLOW)
      return [rig.has(id, name), asked.length, notices]
    }
    assert.deepEqual(await touch('planned.txt'), [false, 0, ['user_rules']])
    await rig.endProcess(id)
    assert.deepEqual(await touch('resumed.txt'), [false, 0, ['user_rules']])
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'ask' })
    assert.deepEqual(await touch('unasked.txt'), [true, 0, []])
    const { asked } = await rig.turn(id, '[[shell mkdir asked]]', ALLOW)
    assert.deepEqual([asked.length, rig.has(id, 'asked')], [1, true])
    await rig.now.engine.sessions.configure({ sessionId: id, mode: 'plan' })
    assert.deepEqual(await touch('again.txt'), [false, 0, []])
    const { agent } = await spawned(id, '[[shell touch below.txt]]')
    await rig.turn(id, waits(agent))
    assert.equal(rig.has(id, 'below.txt'), false)
  })
})
