import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { ToolCallUpdate } from '@agentclientprotocol/sdk/unstable'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { editorFor, newSession, toolStates } from './support.ts'

const ASK = ['--agent', 'demo', '--mode', 'ask']

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

describe('permission', () => {
  for (const [option, outcome] of [
    ['allow', 'completed'],
    ['reject', 'failed'],
  ] as const) {
    test(`${option}: the tool is ${outcome}`, async (t) => {
      const editor = await editorFor(t, daemon, { args: ASK })
      const sessionId = await newSession(editor, daemon)
      const done = editor.prompt(sessionId, '[[shell touch me]]')
      const { params, choose } = await editor.permission()
      assert.equal(params.sessionId, sessionId)
      assert.deepEqual(
        params.options.map(({ kind }) => kind),
        ['allow_once', 'allow_always', 'allow_always', 'reject_once'],
      )
      const { kind, title, rawInput, toolCallId } = params.toolCall
      assert.deepEqual([kind, title, rawInput], ['execute', '`touch me`', { command: 'touch me' }])
      const shown = editor.updates.find(({ sessionUpdate }) => sessionUpdate === 'tool_call')
      assert.equal((shown as ToolCallUpdate).toolCallId, toolCallId)
      choose(option)
      assert.equal((await done).stopReason, 'end_turn')
      assert.equal(toolStates(editor).at(-1), outcome)
      const { approvals } = await native.call('approval.list', { sessionId, open: false })
      assert.deepEqual(
        approvals.map(({ decision, decidedBy }) => [decision?.behavior, decidedBy]),
        [[option === 'allow' ? 'allow' : 'deny', 'acp']],
      )
    })
  }

  test('for the session: the same is not asked again', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    const first = editor.prompt(sessionId, '[[shell once]]')
    ;(await editor.permission()).choose('session')
    await first
    await editor.prompt(sessionId, '[[shell once]]')
    assert.equal(editor.unseen(), 0)
    assert.deepEqual((await native.call('session.get', { sessionId })).rules.allow, ['Shell(once)'])
  })

  test('for the project: not in another session either', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const first = editor.prompt(await newSession(editor, daemon), '[[shell for all]]')
    ;(await editor.permission()).choose('project')
    await first
    await editor.prompt(await newSession(editor, daemon), '[[shell for all]]')
    assert.equal(editor.unseen(), 0)
  })

  test('an edit is shown as a change, and stays one', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[edit notes.txt old new]]')
    const { params, choose } = await editor.permission()
    const path = `${daemon.project}/notes.txt`
    assert.deepEqual(params.toolCall.content, [{ type: 'diff', path, oldText: 'old', newText: 'new' }])
    assert.deepEqual(params.toolCall.locations, [{ path }])
    assert.equal(params.toolCall.title, 'Edit `notes.txt`')
    choose('allow')
    await done
    const last = editor.updates.findLast(({ sessionUpdate }) => sessionUpdate === 'tool_call_update')
    assert.deepEqual(Object.keys(last!).sort(), ['sessionUpdate', 'status', 'toolCallId'])
  })

  test('a question is answered with one of its options', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[ask Shall we?]]')
    const { params, choose } = await editor.permission()
    assert.equal(params.toolCall.title, 'Shall we?')
    assert.deepEqual(
      params.options.map(({ name }) => name),
      ['Yes', 'No', 'Do not answer'],
    )
    choose(params.options[1]!.optionId)
    await done
    assert.equal(editor.text(), 'tool said: No')
  })

  test('a question without options says how to answer it', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const input = { questions: [{ question: 'Which colour?' }] }
    const wish = { sessionId, kind: 'question', tool: 'contact_human', input } as const
    const { id } = await native.call('approval.request', wish)
    await editor.reads(`corral approve ${id.slice(-8)} --answer`)
    assert.match(editor.text(), /Which colour\?/)
    assert.equal(editor.unseen(), 0)
  })

  test('an option that was never offered allows nothing', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[shell rm]]')
    ;(await editor.permission()).choose('everything')
    await editor.reads('waits for an answer')
    const { approvals } = await native.call('approval.list', { sessionId })
    assert.equal(approvals.length, 1)
    await native.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'deny' })
    await done
  })
})
