import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { editorFor, newSession } from '../acp/support.ts'
import { create, send as sendByCodecast, textOf, types } from '../codecast/client.ts'
import { refusal } from './support.ts'

/*
 * A message that waits is edited, or brought to the running turn, by one client; others have sent it, or show it.
 */

let daemon: TestDaemon
let client: NativeClient

before(async () => {
  daemon = await startDaemon()
  client = await connect(daemon.socket)
})

after(async () => {
  client.close()
  await daemon.stop()
})

/** The approval that the session's turn waits on. */
async function question(sessionId: string): Promise<string> {
  const open = async () => (await client.call('approval.list', { sessionId })).approvals[0]?.id
  return until(open, 'the agent asks')
}

const allow = (approvalId: string) => client.call('approval.decide', { approvalId, behavior: 'allow' })

/** A turn that waits for an answer, in a session of nobody else's. */
async function asking(): Promise<{ sessionId: string; approvalId: string; turnId: string }> {
  const wish = { agent: 'demo', cwd: daemon.project, mode: 'ask' as const }
  const { id: sessionId } = await client.call('session.create', wish)
  const { turnId } = await client.call('session.send', { sessionId, content: '[[shell make]]' })
  return { sessionId, turnId, approvalId: await question(sessionId) }
}

/** The only message that waits. */
async function waiting(sessionId: string): Promise<string> {
  const only = async () => (await client.call('queue.list', { sessionId })).turns[0]?.id
  return until(only, 'a message waits')
}

async function said(sessionId: string): Promise<string[]> {
  const { items } = await client.call('history.read', { sessionId })
  return items.flatMap((item) =>
    item.kind === 'user' ? item.content.map((part) => (part.type === 'text' ? part.text : '')) : [],
  )
}

const atRest = (sessionId: string) =>
  until(async () => (await client.call('session.get', { sessionId })).turn === null, 'the turns are over')

test('an edit shows in the queue and in the turn, and the conversation has the message as it was then', async () => {
  const { sessionId, approvalId } = await asking()
  const { turnId } = await client.call('session.send', { sessionId, content: '[[say one]]' })
  const edited = await client.call('queue.edit', { sessionId, turnId, content: '[[say two]]' })
  assert.deepEqual([edited.id, edited.input], [turnId, [{ type: 'text', text: '[[say two]]' }]])
  assert.deepEqual((await client.call('queue.list', { sessionId })).turns, [edited])
  assert.deepEqual(await client.call('turn.get', { turnId }), edited)
  await allow(approvalId)
  await atRest(sessionId)
  assert.deepEqual(await said(sessionId), ['[[shell make]]', '[[say two]]'])
  const again = client.call('queue.edit', { sessionId, turnId, content: 'three' })
  assert.equal((await refusal(again)).code, 'turn_not_found')
})

test('a message that waits is brought to the running turn, and the same call again is the same steer', async () => {
  const { sessionId, turnId, approvalId } = await asking()
  const sent = await client.call('session.send', { sessionId, content: '[[say joined]]' })
  const steered = await client.call('queue.steer', { sessionId, turnId: sent.turnId })
  assert.deepEqual([steered.steerId, steered.turnId], [sent.turnId, turnId])
  assert.deepEqual(await client.call('queue.steer', { sessionId, turnId: sent.turnId }), steered)
  const { queued, steering } = await client.call('session.get', { sessionId })
  assert.deepEqual([queued, steering], [0, 1])
  await allow(approvalId)
  await atRest(sessionId)
  assert.deepEqual(await said(sessionId), ['[[shell make]]', '[[say joined]]'])
  assert.equal((await client.call('session.get', { sessionId })).turnCount, 1)
  const gone = client.call('queue.steer', { sessionId, turnId })
  assert.equal((await refusal(gone)).code, 'turn_not_found')
})

test('a client of Codecast gets the answer to its message as it was edited, and hears when it is none of its own any more', async () => {
  const sessionId = await create(daemon.codecast, daemon.project, { mode: 'ask' })
  const first = await sendByCodecast(daemon.codecast, sessionId, '[[shell make]]')
  const approvalId = await question(sessionId)
  const follow = { follow: true }
  const second = await sendByCodecast(daemon.codecast, sessionId, '[[say one]]', follow)
  const turnId = await waiting(sessionId)
  await client.call('queue.edit', { sessionId, turnId, content: '[[say two]]' })
  const third = await sendByCodecast(daemon.codecast, sessionId, '[[say three]]', follow)
  const { turns } = await client.call('queue.list', { sessionId })
  await client.call('queue.steer', { sessionId, turnId: turns[1]!.id })
  const told = await third.rest()
  assert.deepEqual(types(told).slice(-2), ['interrupted', '[DONE]'])
  assert.equal(told.at(-2)!['message'], 'sent into the running turn')
  await allow(approvalId)
  assert.equal(textOf(await first.rest()), 'three')
  assert.equal(textOf(await second.rest()), 'two')
})

test("an editor's prompt that somebody brings to the running turn ends with that turn", async (t) => {
  const editor = await editorFor(t, daemon, { args: ['--agent', 'demo', '--mode', 'ask'] })
  const sessionId = await newSession(editor, daemon)
  const first = editor.prompt(sessionId, '[[shell make]]')
  const approvalId = await question(sessionId)
  const second = editor.prompt(sessionId, '[[say joined]]')
  const turnId = await waiting(sessionId)
  await client.call('queue.steer', { sessionId, turnId })
  await allow(approvalId)
  const ends = await Promise.all([first, second])
  assert.deepEqual(
    ends.map(({ stopReason }) => stopReason),
    ['end_turn', 'end_turn'],
  )
  assert.equal(editor.text(), 'joined')
  assert.equal(editor.text('user_message_chunk'), '', 'the editor knows what it has said')
})
