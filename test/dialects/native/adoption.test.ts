import assert from 'node:assert/strict'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { connect, NativeError } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { IDS, storesFor, type Stores } from '../../support/stores.ts'
import { overWebSocket, webSocketOf } from './support.ts'

async function placeFor(t: TestContext): Promise<Stores & { daemon: TestDaemon }> {
  const stores = storesFor(t)
  const program = join(stores.home, 'agent')
  writeFileSync(program, '#!/bin/sh\necho 9.9.9\n')
  chmodSync(program, 0o755)
  const daemon = await startDaemon({
    env: { ...stores.env, CORRAL_CLAUDE_BIN: program, CORRAL_CODEX_BIN: '/no' },
  })
  t.after(() => daemon.stop())
  return { ...stores, daemon }
}

const has =
  (code: string) =>
  (error: unknown): boolean =>
    error instanceof NativeError && error.code === code

test('only whoever may manage sees conversations of terminals, and adopts them', async (t) => {
  const { daemon, claude } = await placeFor(t)
  claude()
  const owner = await overWebSocket.clientFor(t, daemon)
  const deviceWith = async (scopes: ('use' | 'manage')[]) => {
    const { pin } = await owner.call('device.pin', { scopes })
    const { token } = await owner.call('device.pair', { pin, name: scopes.join(), platform: 'ios' })
    const client = await connect(webSocketOf(daemon), { token })
    t.after(() => client.close())
    return client
  }
  const phone = await deviceWith(['use'])
  await assert.rejects(phone.call('agents.conversations', {}), has('forbidden'))
  await assert.rejects(phone.call('session.adopt', { agent: 'claude', id: IDS.claude }), has('forbidden'))
  const tablet = await deviceWith(['use', 'manage'])
  const { conversations } = await tablet.call('agents.conversations', {})
  assert.deepEqual(
    conversations.map(({ id }) => id),
    [IDS.claude],
  )
  const { session, turns } = await tablet.call('session.adopt', { agent: 'claude', id: IDS.claude })
  assert.deepEqual([session.nativeId, session.mode, turns], [IDS.claude, 'ask', 2])
})

test('what cannot be adopted says why', async (t) => {
  const { daemon, claude, codex } = await placeFor(t)
  claude()
  codex()
  const client = await connect(daemon.socket)
  t.after(() => client.close())
  const adopt = (agent: string, id: string) => client.call('session.adopt', { agent, id })
  await assert.rejects(adopt('nobody', IDS.claude), has('agent_unknown'))
  await assert.rejects(client.call('agents.conversations', { agent: 'nobody' }), has('agent_unknown'))
  await assert.rejects(adopt('claude', 'no-such-id'), has('conversation_not_found'))
  await assert.rejects(adopt('demo', IDS.claude), has('conversation_not_found'))
  await assert.rejects(adopt('codex', IDS.codex), has('agent_missing'))
  const both = await Promise.all([adopt('claude', IDS.claude), adopt('claude', IDS.claude)])
  assert.equal(both[0].session.id, both[1].session.id)
  await assert.rejects(adopt('claude', IDS.claude), has('conversation_adopted'))
  assert.equal((await client.call('session.list', {})).sessions.length, 1)
})

test('a client that follows the session sees its past as it sees everything else', async (t) => {
  const { daemon, claude } = await placeFor(t)
  claude()
  const client = await connect(daemon.socket)
  t.after(() => client.close())
  const { session } = await client.call('session.adopt', { agent: 'claude', id: IDS.claude })
  const { events } = await client.call('events.read', { after: 0, sessionId: session.id, limit: 100 })
  const types = events.map(({ type }) => type)
  assert.deepEqual(types.slice(0, 5), [
    'session.created',
    'turn.queued',
    'turn.started',
    'message.completed',
    'turn.completed',
  ])
  assert.ok(!types.includes('agent.started'))
  const forked = await client.call('session.fork', { sessionId: session.id, turnId: turnIn(events[1]) })
  assert.equal(forked.parentId, session.id)
})

function turnIn(event: object | undefined): string {
  return (event as { turnId: string }).turnId
}
