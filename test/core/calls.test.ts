import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CallResult } from '../../src/core/call.ts'
import { code, newSession, statusesOf } from '../support/asking.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

const TOOLS = ['one', 'two'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } }))
const GIVEN = { settings: { clientTools: TOOLS } }
const input = Buffer.from('{"n":1}').toString('base64')

const text = (said: string, isError = false): CallResult => ({
  content: [{ type: 'text', text: said }],
  isError,
})

async function withEngine(body: (t: TestEngine) => Promise<void>): Promise<void> {
  const t = await startEngine()
  await body(t).finally(() => t.stop())
}

async function say(t: TestEngine, sessionId: string, said: string): Promise<number> {
  return (await t.engine.turns.send({ sessionId, input: [{ type: 'text', text: said }] })).seq
}

async function held(t: TestEngine, sessionId: string, count: number): Promise<string[]> {
  const found = (): string[] => t.engine.sessions.get(sessionId).calls.map(({ callId }) => callId)
  for (let after = 0; found().length < count;) {
    after = (await t.event('call.held', { sessionId, after })).seq
  }
  return found()
}

test('a call of a client’s tool waits for its result, and the turn goes on with it', () =>
  withEngine(async (t) => {
    const id = await newSession(t, GIVEN)
    const seq = await say(t, id, `[[call one ${input}]]`)
    const { callId, tool, input: given } = await t.event('call.held', { sessionId: id, after: seq })
    assert.deepEqual([tool, given, t.engine.sessions.get(id).turn !== null], ['one', { n: 1 }, true])
    assert.equal(statusesOf(t, id).at(-1), 'waiting')
    await t.engine.turns.answerCall({ sessionId: id, callId, result: text('42') })
    const end = await t.event('turn.completed', { sessionId: id, after: seq })
    assert.equal(end.text, 'tool said: 42')
    assert.deepEqual(t.engine.sessions.get(id).calls, [])
  }))

test('calls are made at once, answered once, and end with their turn', () =>
  withEngine(async (t) => {
    const id = await newSession(t, GIVEN)
    const seq = await say(t, id, `[[call one ${input} two ${input}]]`)
    const [first] = await held(t, id, 2)
    const answer = { sessionId: id, callId: first!, result: text('x', true) }
    await t.engine.turns.answerCall(answer)
    await assert.rejects(t.engine.turns.answerCall(answer), code('call_not_found'))
    await t.engine.turns.interrupt({ sessionId: id })
    await t.event('turn.interrupted', { sessionId: id, after: seq })
    assert.deepEqual(t.engine.sessions.get(id).calls, [])
  }))

test('a call and its result outlive the daemon', async () => {
  const first = await startEngine()
  const id = await newSession(first, GIVEN)
  const seq = await say(first, id, `[[call one ${input}]]`)
  const [callId] = await held(first, id, 1)
  await first.abandon()
  const second = await startEngine({ home: first.home })
  try {
    assert.deepEqual(
      second.engine.sessions.get(id).calls.map((call) => call.callId),
      [callId],
    )
    await second.engine.turns.answerCall({ sessionId: id, callId: callId!, result: text('late') })
    const end = await second.event('turn.completed', { sessionId: id, after: seq })
    assert.equal(end.text, 'tool said: late')
  } finally {
    await second.stop()
  }
})

test('what a dialect notes about a session stays with it', () =>
  withEngine(async (t) => {
    const id = await newSession(t)
    await t.engine.sessions.configure({ sessionId: id, notes: { one: { a: 1 } } })
    await t.engine.sessions.configure({ sessionId: id, notes: { two: 2 } })
    assert.deepEqual(t.engine.sessions.get(id).notes, { one: { a: 1 }, two: 2 })
  }))
