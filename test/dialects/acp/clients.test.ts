import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { methods } from '@agentclientprotocol/sdk/unstable'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { corral } from '../../cli/support.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { editorFor, newSession, refusal, type TestEditor } from './support.ts'

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

function load({ agent }: TestEditor, sessionId: string) {
  return agent.request(methods.agent.session.load, { sessionId, cwd: daemon.project, mcpServers: [] })
}

describe('several clients of one session', () => {
  test('what one editor says, and the answer, the other shows too', async (t) => {
    const [one, two] = await Promise.all([editorFor(t, daemon), editorFor(t, daemon)])
    const sessionId = await newSession(one, daemon)
    await load(two, sessionId)
    await one.prompt(sessionId, 'from one')
    await two.reads('echo: from one')
    assert.equal(two.text('user_message_chunk'), 'from one')
    await two.prompt(sessionId, 'from two')
    await one.reads('echo: from two')
    assert.equal(one.text('user_message_chunk'), 'from two')
  })

  test('both prompt at once: each gets the end of its own turn', async (t) => {
    const [one, two] = await Promise.all([editorFor(t, daemon), editorFor(t, daemon)])
    const sessionId = await newSession(one, daemon)
    await load(two, sessionId)
    const [first, second] = await Promise.all([
      one.prompt(sessionId, '[[drip 5 20]]'),
      refusal(two.prompt(sessionId, '[[fail 500]]')),
    ])
    assert.equal(first.stopReason, 'end_turn')
    assert.match(second.message, /500/)
  })

  test('both are asked, the first answer counts and the other question is taken back', async (t) => {
    const args = ['--agent', 'demo', '--mode', 'ask']
    const [one, two] = await Promise.all([editorFor(t, daemon, { args }), editorFor(t, daemon)])
    const sessionId = await newSession(one, daemon)
    await load(two, sessionId)
    const done = one.prompt(sessionId, '[[shell both]]')
    const [asked, answered] = await Promise.all([one.permission(), two.permission()])
    answered.choose('allow')
    assert.equal((await done).stopReason, 'end_turn')
    await until(() => asked.signal.aborted, 'the other question to be taken back')
    assert.match(one.text(), /ran: both/)
    assert.equal(one.stderr(), '')
  })

  test('an editor that answers too late does no harm', async (t) => {
    const editor = await editorFor(t, daemon, { args: ['--agent', 'demo', '--mode', 'ask'] })
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[shell late]]')
    const { choose } = await editor.permission()
    const [approval] = (await native.call('approval.list', { sessionId })).approvals
    const decided = native.call('approval.decide', { approvalId: approval!.id, behavior: 'deny' })
    choose('allow')
    await decided.catch(() => {})
    assert.equal((await done).stopReason, 'end_turn')
    assert.equal((await editor.prompt(sessionId, 'go on')).stopReason, 'end_turn')
    assert.doesNotMatch(editor.text(), /waits for an answer/)
  })

  test('what the command line asks and answers is shown', async (t) => {
    const editor = await editorFor(t, daemon, { args: ['--agent', 'demo', '--mode', 'ask'] })
    const sessionId = await newSession(editor, daemon)
    const sent = corral(daemon.env, ['send', sessionId, '[[shell cli]]'])
    await editor.permission()
    const [approval] = (await native.call('approval.list', { sessionId })).approvals
    await corral(daemon.env, ['approve', approval!.id])
    assert.equal((await sent).code, 0)
    await editor.reads('ran: cli')
    assert.equal(editor.text('user_message_chunk'), '[[shell cli]]')
  })

  test('a session that is removed ends the prompt', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[drip 1000 20]]')
    await editor.reads('w2')
    await native.call('session.destroy', { sessionId })
    assert.equal((await done).stopReason, 'cancelled')
    await until(async () => {
      const { code } = await refusal(editor.prompt(sessionId, 'hello'))
      return code === -32002
    }, 'it to be gone')
  })
})
