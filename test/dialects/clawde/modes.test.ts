import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rigFor } from './support.ts'

test('modes: FORGE forbids changes and NORMAL allows what was allowed before', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client, { permissions: [] })
  assert.deepEqual((await client.call('session.get', { sessionId }))['permissions'], [])
  assert.equal(
    (await client.call('session.setMode', { session_id: sessionId, mode: 'FORGE' }))['mode'],
    'FORGE',
  )
  const { mode, previousMode } = await client.push('session.modeChanged')
  assert.deepEqual([mode, previousMode], ['FORGE', 'NORMAL'])
  await client.call('session.setMode', { sessionId, mode: 'CRUNCH' })
  assert.equal(rig.engine.sessions.get(sessionId).mode, 'ask')
})

test('every mode is kept, told once, and survives; another dialect’s change of it wins', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client, { mode: 'LEARN' })
  const mode = async (): Promise<unknown> => (await client.call('session.get', { sessionId }))['mode']
  assert.equal(await mode(), 'LEARN')
  for (const [after, before] of [
    ['CRUNCH', 'LEARN'],
    ['STORM', 'CRUNCH'],
    ['FORGE', 'STORM'],
    ['FORGE', 'FORGE'],
    ['NORMAL', 'FORGE'],
    ['LEARN', 'NORMAL'],
  ]) {
    const answer = await client.call('session.setMode', { sessionId, mode: after })
    assert.deepEqual([answer['mode'], answer['previousMode']], [after, before])
    assert.equal(await mode(), after)
  }
  await rig.engine.sessions.configure({ sessionId, mode: 'plan' })
  assert.equal(await mode(), 'FORGE')
  await client.push(
    'session.modeChanged',
    ({ previousMode, mode: now }) => previousMode === 'LEARN' && now === 'FORGE',
  )
  await client.call('session.setMode', { sessionId, mode: 'NORMAL' })
  await client.push(
    'session.modeChanged',
    ({ mode: now, seq }) => now === 'NORMAL' && seq === rig.engine.events.head,
  )
  const told = client.pushes.filter(({ method }) => method === 'session.modeChanged')
  assert.deepEqual(
    told.map(({ params }) => params['mode']),
    ['LEARN', 'CRUNCH', 'STORM', 'FORGE', 'NORMAL', 'LEARN', 'FORGE', 'NORMAL'],
  )
  // Who reads it from the log is told the same.
  const reader = await rig.client()
  await reader.call('events.subscribe', { after: 0, types: ['session.modeChanged'] })
  await reader.until(() => reader.pushes.length === told.length)
  assert.deepEqual(reader.pushes, told)
})
