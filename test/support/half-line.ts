import assert from 'node:assert/strict'
import type { TestEngine, TestEngineOptions } from './engine.ts'
import { startEngine } from './engine.ts'

/** A daemon dies while a message of 1 MiB is half in the FIFO: the next one brings it whole, and once. */
export async function halfWrittenMessage(agent: string, options: TestEngineOptions): Promise<void> {
  let t: TestEngine = await startEngine(options)
  const { id } = await t.engine.sessions.create({ agent, cwd: t.cwd })
  await t.turn(id, '[[say warm]]')
  const { pid } = t.engine.sessions.get(id).run!
  process.kill(-pid, 'SIGSTOP')
  const text = `${'x'.repeat(1024 * 1024)} [[say got it]]`
  const { seq, turnId } = await t.engine.turns.send({ sessionId: id, input: [{ type: 'text', text }] })
  // The FIFO holds 64 KiB: the write is under way and cannot end.
  await new Promise((resolve) => setTimeout(resolve, 100))
  await t.abandon()
  process.kill(-pid, 'SIGCONT')
  t = await startEngine({ ...options, home: t.home })
  try {
    const done = await t.event('turn.completed', { sessionId: id, after: seq })
    assert.deepEqual([done.turnId, done.text], [turnId, 'got it'])
    const said = t.engine.events.read({
      sessionId: id,
      after: seq,
      limit: 100,
      types: ['message.completed', 'turn.completed'],
    })
    assert.deepEqual(
      said.map((event) => event.type),
      ['message.completed', 'turn.completed'],
    )
    await t.turn(id, '[[say still here]]')
  } finally {
    await t.stop()
  }
}
