import assert from 'node:assert/strict'
import { existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { engineWith, say, scripted, sessionOf } from '../support/acp.ts'
import { startEngine } from '../support/engine.ts'
import { askUntil, until } from '../support/wait.ts'

test('an agent from the configuration is opened, asked and ended', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  assert.equal(await say(engine, sessionId, 'hello'), 'hello')
  const init = await engine.event('agent.init', { sessionId })
  assert.deepEqual([init.nativeId, init.version], ['s', '1.2.3'])
})

test('one that says nothing fails the turn when its time is up', async (t) => {
  const engine = await engineWith(t, ['--deaf'], { readyMs: 300, killMs: 200 })
  const sessionId = await sessionOf(engine)
  assert.match(await say(engine, sessionId, 'hello'), /^failed: /)
  assert.equal(engine.engine.sessions.get(sessionId).turn, null)
})

test('one that wants a sign-in says what to do', async (t) => {
  const engine = await engineWith(t, ['--stranger'])
  const said = await say(engine, await sessionOf(engine), 'hello')
  assert.match(said, /^failed: not_signed_in: Authentication required; sign in to My agent/)
})

test('one without modes is good for anything but plans', async (t) => {
  const engine = await engineWith(t, ['--plain'])
  for (const mode of ['auto', 'code', 'ask'] as const) {
    assert.equal(await say(engine, await sessionOf(engine, { mode }), 'hello'), 'hello')
  }
  const said = await say(engine, await sessionOf(engine, { mode: 'plan' }), 'hello')
  assert.match(said, /^failed: unsupported: My agent cannot be set to mode plan/)
})

test('what it has no word for is refused', async (t) => {
  const engine = await engineWith(t)
  const settings = { maxTurns: 3, systemPrompt: 'You are a test' }
  const said = await say(engine, await sessionOf(engine, { settings }), 'hello')
  assert.equal(said, 'failed: unsupported: My agent cannot be given: systemPrompt, maxTurns')
})

test('history that comes late is not taken for an answer', async (t) => {
  const engine = await engineWith(t, ['--history=300'])
  assert.equal(await say(engine, await sessionOf(engine, { nativeId: 'old' }), 'hello'), 'hello')
})

test('a conversation that cannot be loaded is followed by a fresh one, and said so', async (t) => {
  const engine = await engineWith(t, ['--forgetful'])
  const sessionId = await sessionOf(engine, { nativeId: 'old' })
  assert.equal(await say(engine, sessionId, 'hello'), 'hello')
  const notice = await engine.event('agent.notice', { sessionId })
  assert.equal(notice.code, 'conversation_lost')
  assert.deepEqual(notice.data, { conversation: 'old', reason: 'No such conversation' })
  assert.equal(engine.engine.sessions.get(sessionId).nativeId, 's')
})

test('a daemon that comes back while it is being opened takes it up', async (t) => {
  const first = await startEngine({ drivers: [scripted(['--slow=400'])] })
  const sessionId = await sessionOf(first)
  const { turnId } = await first.engine.turns.send({ sessionId, input: [{ type: 'text', text: '"hello"' }] })
  await first.event('agent.started', { sessionId })
  await first.abandon()
  const second = await startEngine({ home: first.home, drivers: [scripted(['--slow=400'])] })
  t.after(() => second.stop())
  const end = await second.event('turn.completed', { sessionId })
  assert.deepEqual([end.turnId, end.text], [turnId, 'hello'])
  const types = second.engine.events.read({ sessionId, limit: 100 }).map(({ type }) => type)
  assert.deepEqual(
    types.filter((type) => /^agent\.(?:started|exited)$|retried/.test(type)),
    ['agent.started'],
    'the same process all along',
  )
})

test('one that answers no mark while it works, and dies at it: its message is not brought to another', async (t) => {
  const engine = await engineWith(t, ['--one-by-one'])
  const sessionId = await sessionOf(engine, { mode: 'ask' })
  assert.equal(await say(engine, sessionId, 'hello'), 'hello')
  const options = [{ optionId: 'yes', name: 'Yes', kind: 'allow_once' }]
  const ask = ['session/request_permission', { toolCall: { toolCallId: 'c' }, options }]
  const text = JSON.stringify({ deeds: ['at work', ask] })
  const { seq } = await engine.engine.turns.send({ sessionId, input: [{ type: 'text', text }] })
  await engine.event('approval.requested', { sessionId, after: seq })
  process.kill(-engine.engine.sessions.get(sessionId).run!.pid, 'SIGKILL')
  const { error } = await engine.event('turn.failed', { sessionId, after: seq })
  assert.equal(error.code, 'agent_exited')
  const types = engine.engine.events.read({ sessionId, after: seq, limit: 100 }).map(({ type }) => type)
  assert.ok(!types.includes('turn.retried'), types.join())
})

test('reads and writes files within the directory, and nowhere else', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  const path = join(engine.cwd, 'deep/er/note.txt')
  assert.equal(
    await say(engine, sessionId, ['fs/write_text_file', { path, content: 'one\ntwo\nthree' }]),
    '{}',
  )
  assert.equal(readFileSync(path, 'utf8'), 'one\ntwo\nthree')
  const second = await say(engine, sessionId, ['fs/read_text_file', { path, line: 2, limit: 1 }])
  assert.equal(second, '{"content":"two"}')
  writeFileSync(join(engine.home, 'secret.txt'), 'secret')
  symlinkSync(engine.home, join(engine.cwd, 'out'))
  for (const way of ['../secret.txt', 'out/secret.txt']) {
    const outside = `${engine.cwd}/${way}`
    assert.match(await say(engine, sessionId, ['fs/read_text_file', { path: outside }]), /outside/)
    assert.match(
      await say(engine, sessionId, ['fs/write_text_file', { path: outside, content: 'x' }]),
      /outside/,
    )
  }
  assert.equal(readFileSync(join(engine.home, 'secret.txt'), 'utf8'), 'secret')
})

test('a plan writes nothing and runs nothing, asked or not', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine, { mode: 'plan' })
  const path = join(engine.cwd, 'planned.txt')
  assert.match(await say(engine, sessionId, ['fs/write_text_file', { path, content: 'x' }]), /plan mode/)
  assert.match(await say(engine, sessionId, ['terminal/create', { command: `touch ${path}` }]), /plan mode/)
  assert.ok(!existsSync(path))
})

test('runs commands, and what it forgets ends with it', async (t) => {
  const engine = await engineWith(t)
  const sessionId = await sessionOf(engine)
  const pidFile = join(engine.cwd, 'pid')
  const command = `echo $$ > ${pidFile}; echo $CORRAL_SESSION_ID; exec sleep 600`
  const { terminalId } = JSON.parse(await say(engine, sessionId, ['terminal/create', { command }])) as {
    terminalId: string
  }
  await askUntil(
    () => say(engine, sessionId, ['terminal/output', { terminalId }]),
    (output) => output.includes(sessionId),
    'the command has said which session it is for',
  )
  const pid = Number(readFileSync(pidFile, 'utf8'))
  await engine.engine.sessions.destroy(sessionId)
  await engine.event('agent.exited', { sessionId })
  await until(() => !isRunning(pid), 'the command has ended')
})

function isRunning(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ')
  } catch {
    return false
  }
}
