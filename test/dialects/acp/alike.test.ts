import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { methods, type ContentBlock } from '@agentclientprotocol/sdk/unstable'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { editorFor, newSession, type TestEditor } from './support.ts'
import { until } from '../../support/wait.ts'

let daemon: TestDaemon
let native: NativeClient

before(async () => {
  daemon = await startDaemon()
  native = await connect(daemon.socket)
})

after(async () => {
  native.close()
  await daemon.stop()
})

/** Messages, calls and their states, in order; a text that came in pieces is one. */
function story({ updates }: TestEditor): object[] {
  const all: object[] = []
  let open = { messageId: '', text: '' }
  for (const update of updates) {
    const { sessionUpdate: kind } = update
    if (kind === 'tool_call' || kind === 'tool_call_update') all.push(update)
    if (!isChunk(update) || update.content.type !== 'text') continue
    const { messageId, content } = update
    if (open.messageId !== messageId) all.push((open = { kind, messageId, text: '' } as typeof open))
    open.text += content.text
  }
  return all
}

type Chunk = { messageId: string; content: ContentBlock }

function isChunk(update: object): update is Chunk {
  return 'sessionUpdate' in update && String(update.sessionUpdate).endsWith('chunk')
}

test('an editor that looks on is shown the same as one that loads the session afterwards', async (t) => {
  const editor = await editorFor(t, daemon, { args: ['--agent', 'demo', '--mode', 'ask'] })
  const sessionId = await newSession(editor, daemon)
  const send = async (content: string) => (await native.call('session.send', { sessionId, content })).turnId
  const isOver = (turnId: string) =>
    until(async () => (await native.call('turn.get', { turnId })).endedAt, 'the end')

  await isOver(await send('[[think hm]] [[drip 5 5]]'))
  await send('[[shell make]]')
  const first = await editor.permission()
  const cancelled = await send('never')
  await send('[[shell test]]')
  const last = await send('[[fail 500]]')
  await native.call('queue.remove', { sessionId, turnId: cancelled })
  await native.call('session.steer', { sessionId, content: '[[say steered]]' })
  first.choose('session')
  ;(await editor.permission()).choose('reject')
  await isOver(last)
  await editor.reads('The turn failed')

  const other = await editorFor(t, daemon)
  await other.agent.request(methods.agent.session.load, { sessionId, cwd: daemon.project, mcpServers: [] })
  assert.deepEqual(story(other), story(editor))
  const users = other.text('user_message_chunk')
  assert.match(users, /drip 5 5\]\]\[\[shell make\]\]\[\[say steered\]\]\[\[shell test\]\]\[\[fail 500\]\]$/)
  assert.doesNotMatch(JSON.stringify(story(editor)), /never/)
})

test('a question that a rule answers is put before nobody', async (t) => {
  const editor = await editorFor(t, daemon, { args: ['--agent', 'demo', '--mode', 'plan'] })
  const sessionId = await newSession(editor, daemon)
  await editor.prompt(sessionId, '[[shell rm]]')
  assert.equal(editor.unseen(), 0)
  const states = editor.updates.flatMap((one) => ('status' in one ? [one.status] : []))
  assert.ok(!states.includes('pending'))
  assert.equal(states.at(-1), 'failed')
})
