import assert from 'node:assert/strict'
import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { claudeDriver } from '../../src/agents/claude/driver.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'
import { until } from '../support/wait.ts'

const OLD = join(import.meta.dirname, '../support/old-claude.ts')

interface Rig {
  now: TestEngine
  id: string
  asked(): string[]
  go(): void
  /** After `abandon`. */
  restart(): Promise<void>
}

async function rigFor(t: TestContext): Promise<Rig> {
  const directory = mkdtempSync(join(tmpdir(), 'corral-old-'))
  const program = join(directory, 'claude')
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${OLD}' "$@"\n`)
  chmodSync(program, 0o755)
  const options = { drivers: [claudeDriver], env: { CORRAL_CLAUDE_BIN: program } }
  const first = await startEngine(options)
  const { id } = await first.engine.sessions.create({ agent: 'claude', cwd: first.cwd })
  const rig: Rig = {
    now: first,
    id,
    asked: () => readFileSync(join(rig.now.cwd, 'asked'), 'utf8').trim().split('\n'),
    go: () => writeFileSync(join(rig.now.cwd, 'go'), ''),
    async restart() {
      rig.now = await startEngine({ ...options, home: first.home })
    },
  }
  t.after(async () => {
    await rig.now.stop()
    rmSync(directory, { recursive: true, force: true })
  })
  return rig
}

const send = ({ now, id }: Rig, text: string) =>
  now.engine.turns.send({ sessionId: id, input: [{ type: 'text', text }] })

test('a claude that does not say what it has: its first line does, and a crash costs nothing', async (t) => {
  const rig = await rigFor(t)
  const { seq, turnId } = await send(rig, 'hello')
  const accepted = await rig.now.event('turn.accepted', { sessionId: rig.id, after: seq })
  assert.equal(accepted.turnId, turnId)
  await rig.now.abandon()
  await rig.restart()
  assert.equal(rig.now.engine.sessions.get(rig.id).turn?.accepted, true)
  rig.go()
  const done = await rig.now.event('turn.completed', { sessionId: rig.id, after: seq })
  assert.equal(done.text, 'heard hello')
  const [next] = (await rig.now.turn(rig.id, 'again')).filter(({ type }) => type === 'turn.completed')
  assert.equal((next as { text?: string }).text, 'heard again')
  assert.deepEqual(rig.asked(), ['"hello"', '"again"'])
})

test('what it said when nobody listened counts as well', async (t) => {
  const rig = await rigFor(t)
  const { seq } = await send(rig, 'hello')
  await until(() => existsSync(join(rig.now.cwd, 'asked')))
  await rig.now.abandon()
  const journal = join(rig.now.home, 'runs', readdirSync(join(rig.now.home, 'runs'))[0]!, 'out')
  await until(() => readFileSync(journal, 'utf8').includes('init'))
  await rig.restart()
  rig.go()
  await rig.now.event('turn.completed', { sessionId: rig.id, after: seq })
  await rig.now.turn(rig.id, 'again')
  assert.deepEqual(rig.asked(), ['"hello"', '"again"'])
})

test('a daemon that dies before it has brought the message: the next one brings it', async (t) => {
  const rig = await rigFor(t)
  const { seq } = await send(rig, 'hello')
  await rig.now.event('agent.started', { sessionId: rig.id, after: seq })
  await rig.now.abandon()
  await rig.restart()
  rig.go()
  await rig.now.event('turn.completed', { sessionId: rig.id, after: seq })
  await rig.now.turn(rig.id, 'again')
  assert.deepEqual(rig.asked(), ['"hello"', '"again"'])
})

test('one that dies with the message fails the turn: the message is not brought to another', async (t) => {
  const rig = await rigFor(t)
  const { seq } = await send(rig, 'hello')
  await rig.now.event('turn.accepted', { sessionId: rig.id, after: seq })
  process.kill(-rig.now.engine.sessions.get(rig.id).run!.pid, 'SIGKILL')
  const { error } = await rig.now.event('turn.failed', { sessionId: rig.id, after: seq })
  assert.deepEqual([error.code, rig.asked()], ['agent_exited', ['"hello"']])
})
