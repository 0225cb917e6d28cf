import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { createAnswering } from '../../src/agents/host/answering.ts'
import { startTime } from '../../src/agents/host/process.ts'
import type { Event } from '../../src/core/event.ts'
import { engineWith, say, saidIn, scripted, sessionOf } from '../support/acp.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'

const only = <T extends Event['type']>(events: Event[], type: T) =>
  events.filter((event): event is Extract<Event, { type: T }> => event.type === type)

const chunk = (text: string) => ({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } })

test('of terminals that are asked for all at once there are only so many', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  const said = await say(engine, sessionId, {
    burst: 50,
    call: ['terminal/create', { command: 'sleep 600' }],
  })
  assert.equal(said, '32 of 50')
})

/** The pid of a command that runs in a terminal of the session. */
async function sleeping(t: TestEngine, sessionId: string): Promise<number> {
  const command = 'echo $$; exec sleep 600'
  const { terminalId } = JSON.parse(await say(t, sessionId, ['terminal/create', { command }])) as {
    terminalId: string
  }
  return until(async () => {
    const said = await say(t, sessionId, ['terminal/output', { terminalId }])
    const { output } = JSON.parse(said) as { output: string }
    return output.endsWith('\n') && Number(output)
  }, 'it has said its pid')
}

const gone = (pid: number) => until(() => startTime(pid) === null, `process ${pid} is gone`)

test('a terminal ends with the agent that had to make room, and with its session', async (t) => {
  const engine = await engineWith(t, [], { idleMs: 2000 })
  const sessionId = await sessionOf(engine)
  const evicted = await sleeping(engine, sessionId)
  const { seq } = await engine.event('agent.exited', { sessionId })
  await gone(evicted)
  const destroyed = await sleeping(engine, sessionId)
  await engine.engine.sessions.destroy(sessionId)
  await engine.event('agent.exited', { sessionId, after: seq })
  await gone(destroyed)
})

test('a terminal ends when the daemon lets go', async (t) => {
  const first = await startEngine({ drivers: [scripted()] })
  const pid = await sleeping(first, await sessionOf(first))
  await first.abandon()
  const second = await startEngine({ home: first.home, drivers: [scripted()] })
  t.after(() => second.stop())
  await gone(pid)
})

test('an agent that asks and does not read costs one answer at a time', async () => {
  const asked: number[] = []
  const written: string[] = []
  const reader = Promise.withResolvers<void>()
  const run = {
    driver: {
      ...scripted(),
      waits: (request: unknown) => request === 'wait',
      decline: (request: unknown) => [`no ${String(request)}`],
    },
    over: false,
    write: (lines: string[]) => {
      written.push(...lines)
      return lines[0]!.startsWith('no') ? Promise.resolve() : reader.promise
    },
  }
  const answering = createAnswering(run, {
    answer: async (request) => [`yes ${(asked.push(Number(request)), String(request))}`],
    failed: (error) => assert.fail(String(error)),
  })
  for (let id = 0; id < 70; id++) answering.take(id)
  await new Promise(setImmediate)
  assert.deepEqual(asked, [0], 'the next one waits until the first is taken')
  assert.equal(written.filter((line) => line.startsWith('no')).length, 6, 'beyond 64 there is a no')
  reader.resolve()
  await new Promise(setImmediate)
  assert.equal(asked.length, 64)
  answering.take('wait')
  await new Promise(setImmediate)
  assert.equal(written.at(-1), 'yes wait')
})

test('who waits for a command does not hold up the rest', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  const file = join(engine.cwd, 'file')
  writeFileSync(file, 'text')
  const { terminalId } = JSON.parse(
    await say(engine, sessionId, ['terminal/create', { command: 'sleep 600' }]),
  ) as { terminalId: string }
  const wait = { id: 900, method: 'terminal/wait_for_exit', params: { terminalId } }
  const said = await say(engine, sessionId, {
    deeds: [{ send: wait }, ['fs/read_text_file', { path: file }]],
  })
  assert.equal(said, '{"content":"text"}')
})

test('set to plan in the middle of a conversation, an agent without modes does nothing more', async (t) => {
  const engine = await engineWith(t, ['--plain'])
  const sessionId = await sessionOf(engine, { mode: 'ask' })
  assert.equal(await say(engine, sessionId, 'hello'), 'hello')
  const { seq } = engine.engine.events.read({ sessionId, limit: 1000 }).at(-1)!
  await engine.engine.sessions.configure({ sessionId, mode: 'plan' })
  // Whether the message overtakes the refusal or not.
  assert.match(
    await say(engine, sessionId, ['x/y', {}]),
    /^failed: unsupported: My agent cannot be set to mode plan/,
  )
  await engine.event('agent.notice', { sessionId, after: seq })
  assert.match(
    await say(engine, sessionId, 'hello'),
    /^failed: unsupported: My agent cannot be set to mode plan/,
  )
  await engine.engine.sessions.configure({ sessionId, mode: 'ask' })
  for (let tries = 0; tries < 100; tries++) {
    if ((await say(engine, sessionId, 'hello')) === 'hello') return
  }
  assert.fail('it does not come back')
})

test('directories that it does not take, and paths that are not absolute, are refused', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine, { settings: { additionalDirectories: ['/tmp'] } })
  assert.equal(
    await say(engine, sessionId, 'hello'),
    'failed: unsupported: My agent cannot be given: additionalDirectories',
  )
  const relative = sessionOf(engine, { settings: { additionalDirectories: ['..'] } })
  await assert.rejects(relative, { code: 'invalid', data: { field: 'settings.additionalDirectories' } })
})

test('what it says before it answers our mark belongs to the turn', async (t) => {
  const engine = await engineWith(t, ['--late-marks'])
  const sessionId = await sessionOf(engine)
  const tool = { sessionUpdate: 'tool_call', toolCallId: 'c', kind: 'read', title: 'x', status: 'completed' }
  const events = await engine.turn(sessionId, JSON.stringify({ deeds: ['one', { update: tool }] }))
  assert.equal(saidIn(events), 'one')
  assert.equal(only(events, 'tool.completed').length, 1)
})

test('what it sends is cut to a size', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  const input = { path: '/a', list: ['x'.repeat(4e6)], text: 'y'.repeat(4e6) }
  const call = { sessionUpdate: 'tool_call', toolCallId: 'c', title: 't', kind: 'edit', rawInput: input }
  const events = await engine.turn(sessionId, JSON.stringify({ deeds: [{ update: call }, 'z'.repeat(3e6)] }))
  for (const event of events) {
    if (event.type !== 'turn.queued') assert.ok(JSON.stringify(event).length < 1.1e6, event.type)
  }
  assert.equal((only(events, 'tool.started')[0]!.input as { path: string }).path, '/a')
  assert.equal(only(events, 'agent.notice')[0]!.code, 'message_cut')
})

test('every call that is open is remembered', async (t) => {
  const engine = await engineWith(t)
  const update = (id: number, status: string) => ({
    update: { sessionUpdate: 'tool_call', toolCallId: `c${id}`, title: 't', kind: 'read', status },
  })
  const all = Array.from({ length: 300 }, (_, id) => id)
  const deeds = ['in_progress', 'completed'].flatMap((status) => all.map((id) => update(id, status)))
  const events = await engine.turn(await sessionOf(engine), JSON.stringify({ deeds }))
  assert.deepEqual([only(events, 'tool.started').length, only(events, 'tool.completed').length], [300, 300])
})

test('words of another conversation are not ours', async (t) => {
  const engine = await engineWith(t)
  const strange = { method: 'session/update', params: { sessionId: 'other', update: chunk('not ours') } }
  const said = await say(engine, await sessionOf(engine), { deeds: [{ send: strange }, 'ours'] })
  assert.equal(said, 'ours')
})

test('a conversation that begins anew is told the instructions again, once', async (t) => {
  const engine = await engineWith(t, ['--forgetful'], { idleMs: 2000 })
  const sessionId = await sessionOf(engine, { settings: { appendSystemPrompt: 'Be kind.' } })
  const echo = { echo: true }
  assert.match(await say(engine, sessionId, echo), /Be kind/)
  assert.doesNotMatch(await say(engine, sessionId, echo), /Be kind/)
  await engine.event('agent.exited', { sessionId })
  assert.match(await say(engine, sessionId, echo), /Be kind/)
  assert.doesNotMatch(await say(engine, sessionId, echo), /Be kind/)
})
