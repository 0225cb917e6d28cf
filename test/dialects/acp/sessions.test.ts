import assert from 'node:assert/strict'
import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { methods } from '@agentclientprotocol/sdk/unstable'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { corral } from '../../cli/support.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { demoSession, turn } from '../native/support.ts'
import { until } from '../../support/wait.ts'
import { editorFor, newSession, refusal, type TestEditor } from './support.ts'

const { session: on } = methods.agent

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
  return agent.request(on.load, { sessionId, cwd: daemon.project, mcpServers: [] })
}

/** Who says what, in order; of tools the last state. */
function story({ updates }: TestEditor): string[] {
  return updates.flatMap((update) => {
    switch (update.sessionUpdate) {
      case 'user_message_chunk':
      case 'agent_message_chunk':
      case 'agent_thought_chunk': {
        const text = update.content.type === 'text' ? update.content.text : update.content.type
        return [
          `${update.sessionUpdate.split('_')[update.sessionUpdate.startsWith('user') ? 0 : 1]}: ${text}`,
        ]
      }
      case 'tool_call':
        return [`tool: ${update.title}`]
      case 'tool_call_update':
        return update.status === 'in_progress' ? [] : [`tool ${update.status}`]
      default:
        return []
    }
  })
}

describe('a session from elsewhere', () => {
  test('of the command line is loaded with its history, and goes on', async (t) => {
    const env = { ...daemon.env }
    const args = ['--agent', 'demo', '--mode', 'auto', '--cwd', daemon.project, '--json']
    const made = await corral(env, ['new', ...args, '[[think so]] [[say hello]]'])
    const sessionId = made.json<{ id: string }>()[0]!.id
    await corral(env, ['send', sessionId, '[[shell ls]]'])
    const editor = await editorFor(t, daemon)
    const { modes } = await load(editor, sessionId)
    assert.equal(modes?.currentModeId, 'auto')
    assert.deepEqual(story(editor), [
      'user: [[think so]] [[say hello]]',
      'thought: so',
      'message: hello',
      'user: [[shell ls]]',
      'tool: `ls`',
      'tool completed',
      'message: tool said: (pretend) ran: ls',
    ])
    editor.updates.length = 0
    await editor.prompt(sessionId, 'and now?')
    assert.equal(editor.text(), 'echo: and now?')
    const seen = await corral(env, ['history', sessionId])
    assert.match(seen.stdout, /> and now\?\n[^]*echo: and now\?/)
  })

  test('in the middle of a turn: what was said so far, then the rest', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon)
    await native.call('session.send', { sessionId, content: '[[drip 100000 20]]' })
    await until(async () => {
      const { events } = await native.call('events.read', { sessionId, types: ['message.delta'] })
      return events.length > 5
    }, 'a few words')
    const editor = await editorFor(t, daemon)
    await load(editor, sessionId)
    const soFar = editor.text()
    assert.match(soFar, /^w1 w2 w3/)
    await until(() => editor.text().length > soFar.length, 'the rest')
    await native.call('session.interrupt', { sessionId })
    const whole = await until(async () => {
      const { events } = await native.call('events.read', { sessionId, types: ['message.completed'] })
      return events.find((event) => event.type === 'message.completed')?.text
    }, 'the end')
    await until(() => editor.text().length >= whole.length, 'all of it')
    assert.ok(editor.text().startsWith(whole))
  })

  test('that waits for an answer: the editor is asked', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon, 'ask')
    await native.call('session.send', { sessionId, content: '[[shell one]]' })
    await until(async () => (await native.call('approval.list', { sessionId })).approvals[0], 'the question')
    const editor = await editorFor(t, daemon)
    await load(editor, sessionId)
    const { params, choose } = await editor.permission()
    assert.deepEqual(params.toolCall.rawInput, { command: 'one' })
    choose('allow')
    await editor.reads('ran: one')
    assert.equal(editor.unseen(), 0)
  })

  test('with old questions: those are not asked again', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon, 'ask')
    await native.call('session.send', { sessionId, content: '[[shell one]]' })
    const { id: approvalId } = await until(async () => {
      return (await native.call('approval.list', { sessionId })).approvals[0]
    }, 'the question')
    await native.call('approval.decide', { approvalId, behavior: 'allow' })
    await until(async () => (await native.call('session.get', { sessionId })).status === 'idle', 'the end')
    const editor = await editorFor(t, daemon)
    await load(editor, sessionId)
    await editor.prompt(sessionId, 'hello')
    assert.equal(editor.unseen(), 0)
  })

  test('whose last turn failed says so', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon)
    await native.call('session.send', { sessionId, content: '[[fail 500]]' })
    await until(async () => (await native.call('session.get', { sessionId })).lastError, 'the failure')
    const editor = await editorFor(t, daemon)
    await load(editor, sessionId)
    assert.match(editor.text(), /The turn failed: .*500/)
  })

  test('is resumed without its history', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon)
    await turn(native, sessionId, '[[remember marzipan]] [[say noted]]')
    const editor = await editorFor(t, daemon)
    const { modes } = await editor.agent.request(on.resume, { sessionId, cwd: daemon.project })
    assert.equal(modes?.currentModeId, 'auto')
    assert.deepEqual(editor.updates, [])
    await editor.prompt(sessionId, '[[recall]]')
    assert.equal(editor.text(), 'recall: marzipan')
  })

  test('is resumed in the middle of a tool call: the call is shown', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon, 'ask')
    await native.call('session.send', { sessionId, content: '[[shell half]]' })
    await until(async () => (await native.call('approval.list', { sessionId })).approvals[0], 'the question')
    const editor = await editorFor(t, daemon)
    await editor.agent.request(on.resume, { sessionId, cwd: daemon.project })
    const { params, choose } = await editor.permission()
    const [shown] = editor.updates
    assert.ok(shown?.sessionUpdate === 'tool_call')
    assert.equal(shown.toolCallId, params.toolCall.toolCallId)
    choose('allow')
    await editor.reads('ran: half')
  })

  test('is loaded again while a prompt runs: the prompt is answered all the same', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[drip 50 20]]')
    await editor.reads('w3')
    await Promise.all([load(editor, sessionId).catch(() => {}), load(editor, sessionId)])
    assert.equal((await done).stopReason, 'end_turn')
    assert.match(editor.text('user_message_chunk'), /drip 50 20/)
    assert.match(editor.text(), /w1 w2[^]* w50$/)
  })

  test('is branched off', async (t) => {
    const { id: sessionId } = await demoSession(native, daemon)
    await turn(native, sessionId, '[[remember nougat]] [[say noted]]')
    const editor = await editorFor(t, daemon)
    const fork = await editor.agent.request(on.fork, { sessionId, cwd: daemon.project })
    assert.notEqual(fork.sessionId, sessionId)
    await editor.prompt(fork.sessionId, '[[recall]]')
    assert.equal(editor.text(), 'recall: nougat')
    assert.equal((await native.call('session.get', { sessionId: fork.sessionId })).parentId, sessionId)
  })

  test('that is not there is not found', async (t) => {
    const editor = await editorFor(t, daemon)
    assert.equal((await refusal(load(editor, 'nobody'))).code, -32002)
  })
})

describe('the list', () => {
  test('has what others made, by directory and page by page', async (t) => {
    const cwd = mkdtempSync(join(daemon.project, 'listed-'))
    const made: string[] = []
    for (let count = 0; count < 60; count++) {
      const title = count === 0 ? 'The first one' : null
      made.push((await native.call('session.create', { agent: 'demo', cwd, title })).id)
    }
    await native.call('session.send', { sessionId: made[1]!, content: 'What   is this?' })
    for (let count = 0; count < 60; count++) await demoSession(native, daemon)
    const editor = await editorFor(t, daemon)
    const found: { sessionId: string; title?: string | null }[] = []
    let pages = 0
    for (let cursor: string | null | undefined = null; cursor !== undefined; pages++) {
      const page: Awaited<ReturnType<typeof list>> = await list(editor, cwd, cursor)
      assert.ok(page.sessions.length > 0 || !page.nextCursor, 'no empty page in between')
      assert.ok(page.sessions.every((session) => session.cwd === cwd && session.updatedAt))
      found.push(...page.sessions)
      cursor = page.nextCursor ?? undefined
    }
    assert.ok(pages > 1)
    assert.deepEqual(found.map(({ sessionId }) => sessionId).sort(), made.sort())
    const titles = found.flatMap(({ title }) => title ?? [])
    assert.deepEqual(titles.sort(), ['The first one', 'What is this?'])
    const all = await editor.agent.request(on.list, {})
    assert.ok(all.nextCursor)
    assert.equal((await refusal(editor.agent.request(on.list, { cursor: 'nonsense' }))).code, -32602)
  })

  function list({ agent }: TestEditor, cwd: string, cursor: string | null) {
    return agent.request(on.list, { cwd, ...(cursor !== null && { cursor }) })
  }

  test('loses what an editor deletes', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await editor.prompt(sessionId, 'hello')
    await editor.agent.request(on.delete, { sessionId })
    assert.equal((await refusal(load(editor, sessionId))).code, -32002)
    const gone = await native
      .call('session.get', { sessionId })
      .catch((error: { code: string }) => error.code)
    assert.equal(gone, 'session_not_found')
  })
})

describe('closing a session', () => {
  test('ends the turn that the editor began, and no more is told', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[drip 10000 20]]')
    await editor.reads('w2')
    await editor.agent.request(on.close, { sessionId })
    assert.equal((await done).stopReason, 'cancelled')
    await until(async () => (await native.call('session.get', { sessionId })).status === 'idle', 'it to stop')
    editor.updates.length = 0
    await turn(native, sessionId, 'hello')
    const other = await newSession(editor, daemon)
    await editor.prompt(other, 'just to be sure')
    assert.equal(editor.text(), 'echo: just to be sure')
  })

  test('leaves the turns of others alone', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await native.call('session.send', { sessionId, content: '[[hang]]' })
    await editor.agent.request(on.close, { sessionId })
    assert.equal((await native.call('session.get', { sessionId })).status, 'running')
    await native.call('session.interrupt', { sessionId })
  })
})
