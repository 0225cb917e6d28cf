import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { spawn } from 'node:child_process'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { afterInterrupt } from '../../src/agents/host/escalation.ts'
import { startTime } from '../../src/agents/host/process.ts'
import { loadConfig } from '../../src/config/config.ts'
import type { Event, EventOf, EventType } from '../../src/core/event.ts'
import { halfWrittenMessage } from '../support/half-line.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../support/engine.ts'
import { until } from '../support/wait.ts'

/** Runs with an engine of its own, and checks that nothing is left of it. */
function withEngine(name: string, options: TestEngineOptions, body: (t: TestEngine) => Promise<void>): void {
  test(name, async () => {
    const t = await startEngine(options)
    try {
      await body(t)
    } finally {
      const pids = t.host.running().map((run) => run.pid)
      await t.stop()
      for (const pid of pids) assert.equal(startTime(pid), null, `agent ${pid} is gone`)
      assert.equal(existsSync(t.home), false)
    }
  })
}

function only<T extends EventType>(events: Event[], type: T): EventOf<T>[] {
  return events.filter((event) => event.type === type) as unknown as EventOf<T>[]
}

async function newSession(t: TestEngine): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd })).id
}

const send = (t: TestEngine, sessionId: string, text: string) =>
  t.engine.turns.send({ sessionId, input: [{ type: 'text', text }] })

/** The agent itself, below the shell that watches it. */
function agentPid(wrapper: number): number {
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8')
      const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
      const command = readFileSync(`/proc/${name}/cmdline`, 'utf8')
      if (Number(parent) === wrapper && !command.startsWith('/bin/sh')) return Number(name)
    } catch {
      // It ended while we looked.
    }
  }
  throw new Error(`no agent below ${wrapper}`)
}

/** An agent with a child that nothing but its parent ties to it. */
function withStray(pidFile: string): AgentDriver {
  const stray = 'env -i setsid sleep 1000 < /dev/null > /dev/null 2>&1 & echo $! > "$0"; exec "$@"'
  return {
    ...demoDriver,
    plan(session, detection) {
      const { command, args, ...plan } = demoDriver.plan(session, detection)
      return { ...plan, command: '/bin/sh', args: ['-c', stray, pidFile, command, ...args] }
    },
  }
}

test(
  'what an agent has started with an empty environment in a session of its own ends with it',
  {
    skip: process.platform !== 'linux' && 'needs /proc',
  },
  async () => {
    for (const message of ['hello', '[[hang]]']) {
      const home = mkdtempSync(join(tmpdir(), 'corral-'))
      const pidFile = join(home, 'stray')
      const t = await startEngine({ drivers: [withStray(pidFile)] })
      const id = await newSession(t)
      const { seq } = await send(t, id, message)
      await t.event(message === 'hello' ? 'turn.completed' : 'turn.accepted', { sessionId: id, after: seq })
      const pid = Number(readFileSync(pidFile, 'utf8'))
      await until(() => readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep'), 'it is on its own')
      assert.equal(readFileSync(`/proc/${pid}/environ`, 'utf8'), '')
      try {
        await t.engine.sessions.destroy(id)
        await until(() => startTime(pid) === null, 'it has ended')
      } finally {
        if (startTime(pid) !== null) process.kill(pid, 'SIGKILL')
        await t.stop()
        rmSync(home, { recursive: true })
      }
    }
  },
)

withEngine(
  'an agent that dies at once fails the turn with its last words, and the session stays usable',
  { env: { CORRAL_DEMO_FAULT: 'exit' } },
  async (t) => {
    const id = await newSession(t)
    const [failed] = only(await t.turn(id, 'hello'), 'turn.failed')
    assert.equal(failed!.error.code, 'agent_exited')
    assert.match(failed!.error.message, /code 3/)
    assert.equal(t.engine.sessions.get(id).turn, null)
    assert.equal(only(await t.turn(id, 'again'), 'turn.failed').length, 1)
  },
)

withEngine(
  'garbage and invalid UTF-8 on stdout break nothing',
  { env: { CORRAL_DEMO_FAULT: 'garbage' } },
  async (t) => {
    const events = await t.turn(await newSession(t), '[[say fine]]')
    assert.equal(only(events, 'turn.completed')[0]!.text, 'fine')
    assert.equal(only(events, 'agent.notice')[0]!.code, 'agent_output')
  },
)

withEngine(
  'a line of 20 MiB is read like any other',
  { env: { CORRAL_DEMO_FAULT: 'longline' } },
  async (t) => {
    const events = await t.turn(await newSession(t), '[[say fine]]')
    assert.equal(only(events, 'turn.completed')[0]!.text, 'fine')
  },
)

withEngine(
  'an agent killed in the middle of a turn fails it, and the next message resumes the conversation',
  {},
  async (t) => {
    const id = await newSession(t)
    await t.turn(id, 'hello [[remember pear]]')
    const { seq } = await send(t, id, '[[drip 200 20]]')
    await t.event('message.delta', { sessionId: id, after: seq })
    process.kill(agentPid(t.engine.sessions.get(id).run!.pid), 'SIGKILL')
    const failed = await t.event('turn.failed', { sessionId: id, after: seq })
    assert.equal(failed.error.code, 'agent_exited')
    const partial = await t.event('message.completed', { sessionId: id, after: seq })
    assert.equal(partial.aborted, true)
    assert.equal(only(await t.turn(id, '[[recall]]'), 'message.completed')[0]!.text, 'recall: pear')
  },
)

withEngine('the whole group killed is noticed too', {}, async (t) => {
  const id = await newSession(t)
  const { seq } = await send(t, id, '[[hang]]')
  await t.event('turn.accepted', { sessionId: id, after: seq })
  process.kill(-t.engine.sessions.get(id).run!.pid, 'SIGKILL')
  const failed = await t.event('turn.failed', { sessionId: id, after: seq })
  assert.equal(failed.error.detail?.['signal'], 'SIGKILL')
})

withEngine('a warm process that died in the meantime costs a retry, not the message', {}, async (t) => {
  const id = await newSession(t)
  await t.turn(id, 'hello [[remember kiwi]]')
  const { run } = t.engine.sessions.get(id)
  process.kill(-run!.pid, 'SIGKILL')
  const events = await t.turn(id, '[[recall]]')
  assert.equal(only(events, 'turn.completed')[0]!.text, 'recall: kiwi')
})

withEngine('a conversation that its agent has lost begins anew, and says so', {}, async (t) => {
  const session = await t.engine.sessions.create({
    agent: 'demo',
    cwd: t.cwd,
    nativeId: '00000000-0000-4000-8000-000000000000',
  })
  const events = await t.turn(session.id, '[[say here]]')
  assert.equal(only(events, 'agent.notice')[0]!.code, 'conversation_lost')
  assert.equal(only(events, 'turn.completed')[0]!.text, 'here')
})

withEngine(
  'an agent that is deaf to the interrupt and to SIGTERM gets both, then SIGKILL; the next message finds another',
  { options: { interruptMs: 100, killMs: 3000 }, env: { CORRAL_DEMO_FAULT: 'deaf' } },
  async (t) => {
    const id = await newSession(t)
    const { seq } = await send(t, id, '[[hang]]')
    await t.event('turn.accepted', { sessionId: id, after: seq })
    await t.engine.turns.interrupt({ sessionId: id })
    const exited = await t.event('agent.exited', { sessionId: id, after: seq })
    assert.deepEqual([exited.signal, exited.stderr], ['SIGKILL', 'demo agent: ignored SIGTERM\n'])
    await t.event('turn.interrupted', { sessionId: id, after: seq })
    assert.equal(only(await t.turn(id, '[[say back]]'), 'turn.completed')[0]!.text, 'back')
  },
)

test('from an interrupt to the end of an agent that ignores it are less than 7 seconds, 5 of them after SIGTERM', async () => {
  const { agents } = await loadConfig({ env: {}, homedir: '/nowhere' })
  const steps = afterInterrupt(agents)
  assert.deepEqual(
    steps.map(([signal]) => signal),
    ['SIGTERM', 'SIGKILL'],
  )
  assert.equal(steps[1]![1], 5000)
  assert.ok(steps.reduce((sum, [, ms]) => sum + ms, 0) < 7000)
})

withEngine(
  'idle processes go cold: the least recently used first, and by time',
  { options: { maxWarm: 1, idleMs: 2000 } },
  async (t) => {
    const [one, two] = [await newSession(t), await newSession(t)]
    await t.turn(one, 'a [[remember fig]]')
    await t.turn(two, 'b')
    const first = await t.event('agent.exited', {})
    assert.deepEqual([first.sessionId, first.expected], [one, true])
    const second = await t.event('agent.exited', { after: first.seq })
    assert.equal(second.sessionId, two)
    assert.equal(only(await t.turn(one, '[[recall]]'), 'turn.completed')[0]!.text, 'recall: fig')
  },
)

withEngine('two sessions of one conversation never have a process each', {}, async (t) => {
  const one = await newSession(t)
  await t.turn(one, 'hello [[remember lime]]')
  const native = t.engine.sessions.get(one).nativeId
  const two = await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, nativeId: native })
  assert.equal(only(await t.turn(two.id, '[[recall]]'), 'turn.completed')[0]!.text, 'recall: lime')
  assert.deepEqual(
    t.host.running().map((run) => run.sessionId),
    [two.id],
  )
  const { seq } = await send(t, two.id, '[[hang]]')
  await t.event('turn.accepted', { sessionId: two.id, after: seq })
  const [refused] = only(await t.turn(one, 'me too'), 'turn.failed')
  assert.match(refused!.error.message, /same conversation/)
})

test('an agent left alone by its daemon ends by itself, with all its helpers', async () => {
  const t = await startEngine({ options: { orphanMs: 2000 } })
  const id = await newSession(t)
  await t.turn(id, 'hello')
  const { pid } = t.engine.sessions.get(id).run!
  await t.abandon()
  const alive = (): boolean => {
    try {
      return process.kill(-pid, 0)
    } catch {
      return false
    }
  }
  await until(() => !alive(), 'the agent and its helpers have ended')
  const again = await startEngine({ home: t.home })
  assert.equal(again.engine.sessions.get(id).run, null, 'the next daemon knows')
  assert.equal(only(await again.turn(id, '[[say back]]'), 'turn.completed')[0]!.text, 'back')
  await again.stop()
})

test('processes that nobody wrote down are swept by the next daemon, strangers are left alone', async () => {
  const t = await startEngine()
  await t.abandon()
  const dir = join(t.home, 'runs', 'stray')
  mkdirSync(dir)
  const stray = spawn('/bin/sh', ['-c', 'sleep 60', 'corral-agent', dir], { detached: true, stdio: 'ignore' })
  const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  writeFileSync(join(dir, 'pid'), `${stray.pid}\n`)
  mkdirSync(join(t.home, 'runs', 'other'))
  writeFileSync(join(t.home, 'runs', 'other', 'pid'), `${stranger.pid}\n`)
  const gone = new Promise((resolve) => stray.once('exit', resolve))
  const again = await startEngine({ home: t.home })
  await gone
  assert.notEqual(startTime(stranger.pid!), null)
  stranger.kill('SIGKILL')
  assert.deepEqual(readdirSync(join(t.home, 'runs')), [])
  await again.stop()
})

test('a daemon that dies in the middle of writing a long message: the next one brings it whole, and once', () =>
  halfWrittenMessage('demo', {}))
