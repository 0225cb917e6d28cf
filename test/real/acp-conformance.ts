import assert from 'node:assert/strict'
import { appendFileSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { AcpProfile } from '../../src/agents/acp/profile.ts'
import { startTime } from '../../src/agents/host/process.ts'
import type { AgentHome } from '../support/agent-home.ts'
import { type AcpRig, eventually, marked, startAcpRig } from './acp-rig.ts'

const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const ALLOW = { behavior: 'allow' } as const
const DENY = { behavior: 'deny', comment: 'rather not' } as const
const words = (count: number): string => Array.from({ length: count }, (_, i) => `w${i + 1}`).join(' ')

/** What is different from agent to agent. */
export interface Expected {
  /** A refused call ends the turn; else the model goes on. */
  denialEndsTurn: boolean
  /** What the agent does in `code` mode is its own doing; else nobody accepts edits yet. */
  acceptsEdits: boolean
  cost: boolean
  /** A conversation cannot be loaded in the minute in which it began. */
  youngIsLost: boolean
  /** Two models that it can be set to, and how a request names the second. */
  models: [string, string]
  usedModel(request: { path: string; body: unknown }): string | null
}

/** Tests that hold for every real agent that speaks the protocol, through the whole engine. */
export function conforms(
  profile: AcpProfile,
  skip: string | false,
  home: () => Promise<AgentHome>,
  expected: Expected,
): void {
  describe(`${profile.title} for real`, { skip, concurrency: false }, () => {
    let rig: AcpRig
    let shared: string
    before(async () => {
      rig = await startAcpRig(profile, home)
      shared = await rig.session()
    })
    after(() => rig?.close())
    const inCwd = (sessionId: string, name: string) => join(rig.cwdOf(sessionId), name)

    test('streams text after a thought, and says what it used', async () => {
      const told = await rig.turn(shared, '[[think deep thought]] [[drip 5 20]]')
      assert.equal(told.end.type, 'turn.completed')
      assert.deepEqual([told.thoughts, told.texts], [['deep thought'], [words(5)]])
      const { usage } = told.end
      assert.ok(usage.inputTokens > 0 && usage.outputTokens > 0)
      assert.equal(usage.costUsd !== null, expected.cost)
      assert.deepEqual(
        told.events.filter(({ type }) => type === 'agent.other' || type === 'agent.notice'),
        [],
      )
      assert.equal(rig.now.engine.session(shared).lastError, null)
    })

    test('a command waits for a human and runs when it is allowed', async () => {
      const told = await rig.turn(shared, '[[shell touch yes.txt && echo done]]', ALLOW)
      assert.ok(existsSync(inCwd(shared, 'yes.txt')))
      const [asked] = told.asked
      assert.deepEqual([asked!.approval.tool, asked!.approval.kind, asked!.open], ['Bash', 'tool', true])
      assert.match(JSON.stringify(asked!.approval.input), /touch yes\.txt/)
      assert.equal(asked!.approval.callId, told.tools[0]!.callId)
      assert.deepEqual([told.outputs.length, told.outputs[0]!.isError], [1, false])
      assert.match(told.outputs[0]!.output, /done/)
    })

    test('a command that is denied does not run', async () => {
      const told = await rig.turn(shared, '[[shell touch no.txt && echo done]]', DENY)
      assert.equal(told.end.type, 'turn.completed')
      assert.ok(!existsSync(inCwd(shared, 'no.txt')))
      assert.deepEqual(
        told.outputs.map(({ isError }) => isError),
        [true],
      )
      assert.equal(told.texts.length, expected.denialEndsTurn ? 0 : 1)
      assert.equal((await rig.turn(shared, '[[say still there]]')).texts[0], 'still there')
    })

    test('a file is written and edited, and its input tells the path', async () => {
      const told = await rig.turn(shared, '[[write notes.txt old]]', ALLOW)
      assert.equal(readFileSync(inCwd(shared, 'notes.txt'), 'utf8').trimEnd(), 'old')
      assert.deepEqual([told.asked[0]!.approval.tool, told.asked[0]!.approval.edits], ['Edit', true])
      const { path } = told.asked[0]!.approval.input as { path: string }
      assert.equal(path, inCwd(shared, 'notes.txt'))
      await rig.turn(shared, '[[edit notes.txt old new]]', ALLOW)
      assert.equal(readFileSync(inCwd(shared, 'notes.txt'), 'utf8').trimEnd(), 'new')
    })

    test('a yes for the session is not asked again', async () => {
      await rig.turn(shared, '[[write one.txt 1]]', { behavior: 'allow', forSession: true })
      const told = await rig.turn(shared, '[[write two.txt 2]]')
      assert.ok(existsSync(inCwd(shared, 'two.txt')))
      assert.ok(told.asked.every(({ open }) => !open))
      await rig.now.engine.configure({ sessionId: shared, rules: { allow: [] } })
    })

    test('sees an image', async () => {
      const image = { type: 'image', mediaType: 'image/png', data: PIXEL } as const
      const told = await rig.turn(shared, [{ type: 'text', text: '[[attachments]]' }, image])
      assert.equal(told.texts[0], 'attachments: 1 image/png/70')
    })

    test('stops in the middle of its text', async () => {
      const sent = await rig.send(shared, '[[drip 500 20]]')
      await rig.next('message.delta', shared, sent.seq)
      await rig.now.engine.interrupt({ sessionId: shared })
      const told = await rig.told(shared, sent)
      assert.equal(told.end.type, 'turn.interrupted')
      assert.match(told.texts[0]!, /^w1/)
      assert.equal((await rig.turn(shared, '[[say on]]')).texts[0], 'on')
    })

    test('stops a command that runs for ever', async () => {
      const sent = await rig.send(shared, '[[shell touch began.txt && sleep 987]]')
      const asked = await rig.next('approval.requested', shared, sent.seq)
      await rig.decide(asked.approval.id, ALLOW)
      await eventually('the command begins', () => existsSync(inCwd(shared, 'began.txt')))
      await rig.now.engine.interrupt({ sessionId: shared })
      assert.equal((await rig.told(shared, sent)).end.type, 'turn.interrupted')
      await eventually('the command is gone', () => !sleeping(rig.now.home).includes('987'))
      assert.equal((await rig.turn(shared, '[[say on]]')).texts[0], 'on')
    })

    test('stops while it waits for an answer', async () => {
      const sent = await rig.send(shared, '[[shell touch open.txt && true]]')
      await rig.next('approval.requested', shared, sent.seq)
      await rig.now.engine.interrupt({ sessionId: shared })
      const told = await rig.told(shared, sent)
      assert.equal(told.end.type, 'turn.interrupted')
      assert.deepEqual(
        told.outputs.map(({ isError }) => isError),
        [true],
      )
      assert.ok(!existsSync(inCwd(shared, 'open.txt')))
      assert.equal((await rig.turn(shared, '[[say on]]')).texts[0], 'on')
    })

    test('messages that come while it is busy wait their turn', async () => {
      const sent = await Promise.all(
        ['drip 5 30', 'say two', 'say three'].map((it) => rig.send(shared, `[[${it}]]`)),
      )
      const told = []
      for (const one of sent) told.push((await rig.told(shared, one)).texts.join())
      assert.deepEqual(told, [words(5), 'two', 'three'])
    })

    test('an error of the model fails the turn and not the session', async () => {
      for (const status of [500, 401]) {
        const { end } = await rig.turn(shared, `[[fail ${status}]]`)
        assert.ok(end.type === 'turn.failed')
        assert.equal(end.error.code, 'model_error')
        assert.match(end.error.message, new RegExp(`scripted ${status}`))
      }
      assert.equal((await rig.turn(shared, '[[say back]]')).texts[0], 'back')
    })

    test('a line that is no protocol is mentioned, and the turn goes on', async () => {
      const sent = await rig.send(shared, '[[drip 20 50]]')
      const delta = await rig.next('message.delta', shared, sent.seq)
      const { run } = rig.now.engine.session(shared)
      appendFileSync(join(rig.now.home, 'runs', run!.id, 'out'), 'Segmentation fault? no.\n')
      const told = await rig.told(shared, sent)
      assert.deepEqual([told.end.type, told.texts[0]], ['turn.completed', words(20)])
      assert.deepEqual(told.notices, ['agent_output'])
      assert.ok(delta.seq > 0)
    })

    modes(() => rig, expected)
    lives(() => rig, profile)

    test('a conversation goes on in another process', async () => {
      const minute = () => Math.floor(Date.now() / 60_000)
      const born = Math.floor(rig.now.engine.session(shared).createdAt / 60_000)
      if (expected.youngIsLost) await eventually('the next minute', () => minute() > born)
      await rig.turn(shared, '[[remember PLUM]] [[say noted]]')
      const { nativeId } = rig.now.engine.session(shared)
      const seq = rig.now.engine.head
      process.kill(-rig.pidOf(shared), 'SIGTERM')
      await rig.next('agent.exited', shared, seq)
      const told = await rig.turn(shared, '[[recall]]')
      assert.deepEqual([told.texts, told.notices], [['recall: PLUM'], []])
      assert.equal(rig.now.engine.session(shared).nativeId, nativeId)
    })

    test('when the engine stops, nothing is left', async () => {
      const runs = rig.now.host.running().map(({ sessionId }) => rig.now.engine.session(sessionId).run!.id)
      assert.ok(runs.length > 0)
      await rig.now.host.endAll()
      for (const id of runs) assert.deepEqual(marked(`CORRAL_RUN=${id}`), [])
    })
  })
}

function modes(rigOf: () => AcpRig, expected: Expected): void {
  test('modes: plan changes nothing, ask waits, code edits, auto does all', async (t) => {
    const rig = rigOf()
    const sessionId = await rig.session({ mode: 'plan' }, t)
    const there = (name: string) => existsSync(join(rig.cwdOf(sessionId), name))
    const mode = (to: 'auto' | 'code' | 'ask' | 'plan') => rig.now.engine.configure({ sessionId, mode: to })

    for (const what of ['write plan.txt x', 'shell touch plan.txt && true']) {
      const told = await rig.turn(sessionId, `[[${what}]]`)
      assert.ok(told.asked.every(({ open }) => !open))
    }
    assert.ok(!there('plan.txt'), 'plan: nothing is written')

    await mode('ask')
    const asked = await rig.turn(sessionId, '[[write ask.txt x]]', ALLOW)
    assert.deepEqual([asked.asked.length, asked.asked[0]!.open, there('ask.txt')], [1, true, true])

    await mode('auto')
    const auto = await rig.turn(sessionId, '[[shell touch auto.txt && true]]')
    assert.ok(there('auto.txt') && auto.asked.every(({ open }) => !open))

    await mode('code')
    const command = await rig.turn(sessionId, '[[shell touch command.txt && true]]', DENY)
    assert.deepEqual([command.asked[0]?.open, there('command.txt')], [true, false])
    if (expected.acceptsEdits) {
      const edit = await rig.turn(sessionId, '[[write code.txt x]]')
      assert.ok(there('code.txt') && edit.asked.every(({ open }) => !open))
    }

    await mode('plan')
    await rig.turn(sessionId, '[[write plan.txt x]]')
    assert.ok(!there('plan.txt'), 'plan again: nothing is written')
    assert.equal(rig.now.engine.session(sessionId).mode, 'plan')
  })

  test('another model is used from the next message on, and from the first', async (t) => {
    const rig = rigOf()
    const used = () => rig.model.requests.map(expected.usedModel).findLast((name) => name !== null)
    const [one, two] = expected.models
    const sessionId = await rig.session({ model: one }, t)
    await rig.turn(sessionId, 'hello')
    assert.equal(used(), one.replace(/^.*\//, ''))
    await rig.now.engine.configure({ sessionId, model: two })
    await rig.turn(sessionId, 'hello')
    assert.equal(used(), two.replace(/^.*\//, ''))
  })
}

/** Processes and daemons that come and go. */
function lives(rigOf: () => AcpRig, profile: AcpProfile): void {
  test('a turn that runs while the daemon restarts is told in full, once', async (t) => {
    const rig = rigOf()
    const sessionId = await rig.session({}, t)
    await rig.turn(sessionId, '[[remember PLUM]] [[say hello]]')
    const sent = await rig.send(sessionId, '[[drip 60 40]]')
    await rig.next('message.delta', sessionId, sent.seq)
    const pid = rig.pidOf(sessionId)
    await rig.restart()
    const told = await rig.told(sessionId, sent)
    assert.deepEqual([told.end.type, told.texts], ['turn.completed', [words(60)]])
    assert.equal(rig.pidOf(sessionId), pid)
    assert.equal((await rig.turn(sessionId, '[[recall]]')).texts[0], 'recall: PLUM')
  })

  test('a question that is open while the daemon restarts can still be answered', async (t) => {
    const rig = rigOf()
    const sessionId = await rig.session({}, t)
    const sent = await rig.send(sessionId, '[[shell touch late.txt && echo late]]')
    const asked = await rig.next('approval.requested', sessionId, sent.seq)
    await rig.restart()
    await rig.decide(asked.approval.id, ALLOW)
    const told = await rig.told(sessionId, sent)
    assert.equal(told.end.type, 'turn.completed')
    assert.ok(existsSync(join(rig.cwdOf(sessionId), 'late.txt')))
    assert.deepEqual([told.tools.length, told.outputs.length, told.asked.length], [1, 1, 1])
  })

  test('a process that is killed costs its turn, and no process is left', async (t) => {
    const rig = rigOf()
    const sessionId = await rig.session({}, t)
    const sent = await rig.send(sessionId, '[[drip 500 20]]')
    await rig.next('message.delta', sessionId, sent.seq)
    const pid = rig.pidOf(sessionId)
    const { run } = rig.now.engine.session(sessionId)
    process.kill(-pid, 'SIGKILL')
    const { end } = await rig.told(sessionId, sent)
    assert.ok(end.type === 'turn.failed')
    assert.equal(end.error.code, 'agent_exited')
    await eventually(
      'nothing is left',
      () => startTime(pid) === null && marked(`CORRAL_RUN=${run!.id}`).length === 0,
    )
    assert.equal((await rig.turn(sessionId, '[[say again]]')).texts[0], 'again')
  })

  test('a conversation that is not there is said to be lost, and a fresh one begins', async (t) => {
    const rig = rigOf()
    const sessionId = await rig.session({ nativeId: '00000000-0000-4000-8000-000000000000' }, t)
    const told = await rig.turn(sessionId, '[[say hello]]')
    assert.deepEqual([told.texts, told.notices], [['hello'], ['conversation_lost']])
    assert.notEqual(rig.now.engine.session(sessionId).nativeId, '00000000-0000-4000-8000-000000000000')
  })

  if (profile.capabilities.fork) {
    test('a fork has the memory and its own conversation', async (t) => {
      const rig = rigOf()
      const sessionId = await rig.session({}, t)
      await rig.turn(sessionId, '[[remember PEAR]] [[say hello]]')
      const fork = await rig.now.engine.fork({ sessionId })
      t.after(() => rig.now.engine.destroy(fork.id))
      assert.equal((await rig.turn(fork.id, '[[recall]]')).texts[0], 'recall: PEAR')
      const ids = [sessionId, fork.id].map((id) => rig.now.engine.session(id).nativeId)
      assert.notEqual(ids[0], ids[1])
    })
  }
}

/** The arguments of every `sleep` below a directory. */
function sleeping(home: string): string[] {
  return marked(home).flatMap((pid) => {
    try {
      const [program, ...args] = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
      return program?.endsWith('sleep') ? args : []
    } catch {
      return []
    }
  })
}
