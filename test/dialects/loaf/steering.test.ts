import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { demoSession, shape, startClient, type Client, talking } from './support.ts'

let daemon: TestDaemon
let native: NativeClient
let client: Client

const AGENT = join(import.meta.dirname, '../../support/acp-agent.ts')

before(async () => {
  const home = mkdtempSync(join(tmpdir(), 'corral-'))
  mkdirSync(join(home, '.corral'), { mode: 0o700 })
  const mine = { command: process.execPath, args: [AGENT, '--deaf'], title: 'Mine' }
  writeFileSync(join(home, '.corral', 'config.yaml'), JSON.stringify({ agents: { mine } }))
  daemon = await startDaemon({ home })
  native = await connect(daemon.socket)
  client = startClient(daemon)
})

after(async () => {
  await client.close()
  native.close()
  await daemon.stop()
})

const { status, send, about } = talking(() => client)

describe('a steer', () => {
  test('to nobody is not accepted', async () => {
    const sessionId = await demoSession(client)
    const answer = await client.call('session.steer', { session_id: sessionId, text: 'left' })
    assert.deepEqual(answer, { session_id: sessionId, accepted: false })
  })

  test('reaches the turn that runs', async () => {
    const sessionId = await demoSession(client)
    await native.call('session.configure', { sessionId, mode: 'ask' })
    await send(sessionId, '[[shell wait]]')
    await status(sessionId, /waiting for approval/)
    const from = client.lines.length
    await client.call('debug.set', { super_debug: true })
    const answer = await client.call('session.steer', { session_id: sessionId, text: '[[say steered]]' })
    assert.deepEqual(answer, { session_id: sessionId, accepted: true })
    assert.equal((await client.state(sessionId)).pendingSteerCount, 1)
    const { approvals } = await native.call('approval.list', { sessionId })
    await native.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
    await client.event('session.completed', (it) => it.session_id === sessionId)
    const told = shape(about(sessionId, from))
    assert.ok(told.join().includes('user,estimate,steer applied; continuing...'), told.join())
    const { payload } = await client.event('session.debug', (it) => it.stage === 'steer_injected', from)
    assert.deepEqual(payload.data, { text: '[[say steered]]' })
    await client.call('debug.set', { super_debug: false })
    const { messages, pendingSteerCount } = await client.state(sessionId)
    assert.equal(pendingSteerCount, 0)
    assert.deepEqual(
      messages.map(({ kind, text }) => [kind, text]),
      [
        ['user', '[[shell wait]]'],
        ['user', '[[say steered]]'],
        ['assistant', 'steered'],
      ],
    )
  })

  test('to an agent that cannot take one says so', async () => {
    const { id: sessionId } = await native.call('session.create', { agent: 'mine', cwd: daemon.project })
    await send(sessionId, 'hello')
    const answer = await client.call('session.steer', { session_id: sessionId, text: 'left' })
    assert.deepEqual([answer['accepted'], typeof answer['reason']], [false, 'string'])
    const { messages } = await client.state(sessionId)
    assert.match(messages.at(-1)!.text, /Mine \(mine\) cannot take a message in the middle of a turn; queue/)
    await native.call('session.destroy', { sessionId })
  })

  test('that comes too late is the next message, and is announced', async () => {
    const sessionId = await demoSession(client)
    await send(sessionId, '[[drip 30 100]]')
    await client.event('session.stream.chunk', (it) => it.session_id === sessionId)
    await client.call('session.steer', { session_id: sessionId, text: 'later then' })
    await until(
      () => client.events('session.completed').filter(({ payload }) => payload.session_id === sessionId)[1],
      'both answers',
    )
    const { messages } = await client.state(sessionId)
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ['user', 'assistant', 'system', 'user', 'assistant'],
    )
    assert.match(messages[2]!.text, /too late/)
    assert.equal(messages[4]!.text, 'echo: later then')
  })
})

describe('an interrupt', () => {
  test('where nothing runs changes nothing', async () => {
    const sessionId = await demoSession(client)
    const answer = await client.call('session.interrupt', { session_id: sessionId })
    assert.deepEqual(answer, { session_id: sessionId, interrupted: false })
  })

  test('before the first word ends in session.interrupted', async () => {
    const sessionId = await demoSession(client)
    const { turn_id: turnId } = await send(sessionId, '[[hang]]')
    const answer = await client.call('session.interrupt', { session_id: sessionId })
    assert.deepEqual(answer, { session_id: sessionId, interrupted: true })
    const { payload } = await client.event('session.interrupted', (it) => it.session_id === sessionId)
    assert.deepEqual(payload, { session_id: sessionId, turn_id: turnId, partial_output: false })
    await status(sessionId, 'ready')
    assert.equal(client.events('session.error').filter((it) => it.payload.session_id === sessionId).length, 0)
  })

  test('keeps what was said until then; a second one is too many', async () => {
    const sessionId = await demoSession(client)
    await send(sessionId, '[[drip 100000 10]]')
    await client.event('session.stream.chunk', (it) => it.session_id === sessionId)
    const from = client.lines.length
    const answers = await Promise.all(
      [1, 2].map(() => client.call('session.interrupt', { session_id: sessionId })),
    )
    assert.deepEqual(
      answers.map(({ interrupted }) => interrupted),
      [true, false],
    )
    await status(sessionId, 'ready', from)
    // The second one is answered when the first has been, before or after the turn's end.
    const told = shape(about(sessionId, from)).filter((one) => one !== '=')
    assert.deepEqual(told.slice(-5), ['assistant', 'estimate', 'system', 'interrupted', 'ready'])
    const { payload } = await client.event('session.interrupted', (it) => it.session_id === sessionId)
    assert.equal(payload['partial_output'], true)
    const { history, messages } = await client.state(sessionId)
    assert.equal(messages.at(-1)!.text, 'response interrupted by user. partial output kept.')
    assert.match(history.at(-1)!.text, /^w1/)
  })
})
