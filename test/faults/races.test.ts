import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import type { AgentDriver } from '../../src/agents/agent.ts'
import { demoDriver } from '../../src/agents/demo/driver.ts'
import { startTime } from '../../src/agents/host/process.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../support/engine.ts'
import { goOn, HELD } from '../support/held.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/wait.ts'

async function withEngine(options: TestEngineOptions, body: (t: TestEngine) => Promise<void>): Promise<void> {
  const t = await startEngine(options)
  try {
    await body(t)
  } finally {
    await t.stop()
  }
}

async function newSession(t: TestEngine, more: { nativeId?: string } = {}): Promise<string> {
  return (await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, ...more })).id
}

const say = (t: TestEngine, sessionId: string, text: string) =>
  t.engine.turns.send({ sessionId, input: [{ type: 'text', text }] })

function typesOf(t: TestEngine, sessionId: string, after: number): string[] {
  return t.engine.events.read({ sessionId, after, limit: 1000, whole: true }).map((event) => event.type)
}

/** Makes the database refuse what the condition says, as a failing disk would. */
function sabotage(t: TestEngine, trigger: string): () => void {
  const db = new DatabaseSync(join(t.home, 'corral.db'), { timeout: 5000 })
  db.exec(`CREATE TRIGGER sabotage ${trigger} BEGIN SELECT RAISE(ABORT, 'sabotage'); END`)
  return () => {
    db.exec('DROP TRIGGER sabotage')
    db.close()
  }
}

test('a turn that came from the queue is not taken for idleness', () =>
  withEngine({ options: { maxWarm: 0, idleMs: 100 } }, async (t) => {
    const id = await newSession(t)
    const first = await say(t, id, '[[drip 3 20]]')
    const second = await say(t, id, '[[drip 60 20]]')
    await t.event('turn.completed', { sessionId: id, after: first.seq })
    const end = await t.event('agent.exited', { sessionId: id, after: second.seq })
    assert.equal(end.expected, true)
    assert.equal(t.engine.turns.get(second.turnId).state, 'completed')
  }))

test('a pid that is somebody else by now is left alone', async () => {
  const t = await startEngine()
  const id = await newSession(t)
  await t.turn(id, 'hi')
  const { pid } = t.engine.sessions.get(id).run!
  await t.abandon()
  process.kill(-pid, 'SIGKILL')
  const stranger = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  for (const forgery of ["boot_id = 'an earlier one'", "boot_id = boot_id, start_time = '1'"]) {
    const db = new DatabaseSync(join(t.home, 'corral.db'))
    db.prepare(`INSERT OR REPLACE INTO runs(id, session, pid, start_time, boot_id, offset, turn_offset)
       SELECT 'r', ?, ?, '1', 'x', 0, 0`).run(id, stranger.pid!)
    db.exec(`UPDATE runs SET pid = ${stranger.pid}, ${forgery}`)
    db.close()
    const next = await startEngine({ home: t.home })
    assert.notEqual(startTime(stranger.pid!), null, forgery)
    await next.abandon()
  }
  stranger.kill('SIGKILL')
  await (await startEngine({ home: t.home })).stop()
})

test('an interrupt that was acknowledged before the agent started holds over a crash', async () => {
  const t = await startEngine()
  const id = await newSession(t)
  const { seq } = await say(t, id, '[[say I ran though interrupted]]')
  await t.engine.turns.interrupt({ sessionId: id })
  await t.abandon()
  const next = await startEngine({ home: t.home })
  await next.event('turn.interrupted', { sessionId: id, after: seq })
  assert.ok(!typesOf(next, id, seq).includes('message.completed'))
  await next.stop()
})

for (const what of ['destroy', 'interrupt'] as const) {
  test(`a message that waits for an old process to end is not brought after ${what}`, () =>
    withEngine({}, async (t) => {
      const id = await newSession(t)
      await t.turn(id, 'hi')
      const ending = t.host.end(id)
      const { seq } = await say(t, id, '[[say I ran afterwards]]')
      await (what === 'destroy' ? t.engine.sessions.destroy(id) : t.engine.turns.interrupt({ sessionId: id }))
      await ending
      await t.event('turn.interrupted', { sessionId: id, after: seq })
      assert.ok(!typesOf(t, id, seq).includes('message.completed'))
      if (what === 'destroy') assert.deepEqual(t.host.running(), [])
    }))
}

test('two sessions that resume one conversation at the same moment share one process at a time', () =>
  withEngine({}, async (t) => {
    const id = await newSession(t)
    await t.turn(id, 'hi')
    const nativeId = t.engine.sessions.get(id).nativeId!
    await t.host.end(id)
    const [a, b] = [await newSession(t, { nativeId }), await newSession(t, { nativeId })]
    const sent = [await say(t, a, '[[drip 5 20]]'), await say(t, b, '[[drip 5 20]]')]
    await t.event('turn.completed', { after: sent[0]!.seq })
    assert.equal(t.host.running().length, 1)
  }))

test('commits that fail now and then lose nothing of what an agent says, and say nothing twice', () =>
  withEngine({}, async (t) => {
    const id = await newSession(t)
    await t.turn(id, 'warm')
    const failures = (): number => t.warnings.filter((warning) => warning.includes('sabotage')).length
    const seqs: number[] = []
    const texts: string[] = []
    const subscription = t.engine.events.subscribe(
      { after: t.engine.events.head, sessionId: id },
      (events) => {
        for (const { seq, event } of events) {
          seqs.push(seq)
          if (event.type === 'message.delta') texts.push(event.text)
        }
      },
    )
    const { seq } = await say(t, id, HELD)
    await t.event('approval.requested', { sessionId: id, after: seq })
    let over = false
    const end = t.event('turn.completed', { sessionId: id, after: seq }).finally(() => (over = true))
    for (let times = 0; times < 3 && !over; times++) {
      const [failed, head] = [failures(), t.engine.events.head]
      const mend = sabotage(t, 'BEFORE UPDATE ON runs')
      if (times === 0) await goOn(t, id, '[[burst 30000 60]]')
      await until(() => over || failures() > failed)
      mend()
      await until(() => over || t.engine.events.head > head)
    }
    await end
    subscription.close()
    assert.equal(new Set(seqs).size, seqs.length)
    const [done] = t.engine.events.read({ sessionId: id, after: seq, types: ['message.completed'], limit: 1 })
    assert.equal(done?.event.type === 'message.completed' && done.event.text, texts.join(''))
    assert.ok(failures() > 0)
  }))

test('a start that cannot be written down fails the turn as soon as there is room, and the session goes on', () =>
  withEngine({}, async (t) => {
    const id = await newSession(t)
    const mend = sabotage(t, 'BEFORE INSERT ON runs')
    const { seq } = await say(t, id, '[[say hi]]')
    const failed = await t.event('turn.failed', { sessionId: id, after: seq })
    assert.equal(failed.error.code, 'storage')
    assert.deepEqual(t.host.running(), [])
    mend()
    const events = await t.turn(id, '[[say hi]]')
    assert.equal(events.at(-1)?.type, 'turn.completed')
  }))

test('a spare that will not do is ended, and a fresh process takes the message', () =>
  withEngine({ drivers: [withRefusingSpare()], options: { spare: true } }, async (t) => {
    const waits = (): boolean => readdirSync(join(t.home, 'runs')).length > 0
    await until(waits)
    const id = await newSession(t)
    const events = await t.turn(id, '[[say hi]]')
    assert.equal(events.at(-1)?.type, 'turn.completed')
    assert.equal(t.host.running().length, 1)
  }))

/** The demo agent, whose spares refuse every claim. */
function withRefusingSpare(): AgentDriver {
  const { translator } = demoDriver
  const claim = '{"type":"claim"}'
  return {
    ...demoDriver,
    translator: {
      initial: translator.initial,
      step(state, line) {
        const refusal = (line as { code?: string }).code === 'bad_line'
        if (!refusal) return translator.step(state, line)
        const message = 'the spare does not know how'
        return {
          state,
          outputs: [{ type: 'agent.notice', level: 'warning', code: 'claim_failed', message, data: null }],
        }
      },
    },
    spare: {
      plan: (detection, _, cwd) => demoDriver.plan(aSession({ cwd }), detection),
      claimable: () => true,
      claim: () => [claim],
    },
  }
}

test('what was paused while its agent started is paused when it has', () =>
  withEngine({}, async (t) => {
    const id = await newSession(t)
    const { seq } = await say(t, id, '[[drip 5 20]]')
    await t.engine.sessions.pause(id)
    const { run } = await t.event('agent.started', { sessionId: id, after: seq })
    await until(() => stateOf(run.pid) === 'T')
    await t.engine.sessions.resume(id)
    await t.event('turn.completed', { sessionId: id, after: seq })
  }))

function stateOf(pid: number): string | undefined {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  return stat.slice(stat.lastIndexOf(')') + 2).split(' ')[0]
}

function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let i = 0; i < depth; i++) value = [value]
  return value
}

test('what an agent nests too deeply to be written down costs a notice, not the turn', () => {
  const { translator } = demoDriver
  const driver: AgentDriver = {
    ...demoDriver,
    translator: {
      initial: translator.initial,
      step(state, line) {
        const step = translator.step(state, line)
        const deep = {
          type: 'tool.started',
          callId: 'c',
          tool: 'T',
          input: nested(50_000),
          parent: null,
        } as const
        const accepted = step.outputs.some((output) => output.type === 'turn.accepted')
        return accepted ? { ...step, outputs: [...step.outputs, deep] } : step
      },
    },
  }
  return withEngine({ drivers: [driver] }, async (t) => {
    const events = await t.turn(await newSession(t), '[[say fine]]')
    assert.equal(events.at(-1)?.type, 'turn.completed')
    assert.ok(events.some((event) => event.type === 'agent.notice' && event.code === 'agent_output'))
  })
})

test('a decision that is nested too deeply is refused and leaves the question open', () =>
  withEngine({}, async (t) => {
    const { id } = await t.engine.sessions.create({ agent: 'demo', cwd: t.cwd, mode: 'ask' })
    const { seq } = await say(t, id, '[[shell ls]]')
    const { approval } = await t.event('approval.requested', { sessionId: id, after: seq })
    const decide = (input?: unknown) =>
      t.engine.approvals.decide({
        approvalId: approval.id,
        by: 'test',
        decision: { behavior: 'allow', input },
      })
    await assert.rejects(decide(nested(50_000)), { code: 'invalid' })
    assert.equal(t.engine.approvals.list({ sessionId: id, open: true, limit: 9 }).length, 1)
    await decide({ command: 'pwd' })
    await t.event('turn.completed', { sessionId: id, after: seq })
  }))

test('destroying a session in the middle of a turn ends its agent by signal, at once', () =>
  // On a busy machine it may take a while until the process gets to hear the first one.
  withEngine({ options: { killMs: 60_000 } }, async (t) => {
    const id = await newSession(t)
    const { seq } = await say(t, id, '[[hang]]')
    await t.event('turn.accepted', { sessionId: id, after: seq })
    await t.engine.sessions.destroy(id)
    const exit = await t.event('agent.exited', { sessionId: id, after: seq })
    assert.equal(exit.signal, 'SIGTERM')
  }))
