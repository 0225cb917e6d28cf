import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { methods } from '@agentclientprotocol/sdk/unstable'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { editorFor, newSession, refusal, toolStates } from './support.ts'

const ASK = ['--agent', 'demo', '--mode', 'ask']
const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

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

describe('an editor and Corral', () => {
  test('say hello: what Corral can do', async (t) => {
    const editor = await editorFor(t, daemon, { silent: true })
    const hello = await editor.agent.request(methods.agent.initialize, { protocolVersion: 1 })
    assert.equal(hello.protocolVersion, 1)
    assert.equal(hello.agentInfo?.name, 'corral')
    assert.deepEqual(hello.authMethods, [])
    const { loadSession, promptCapabilities, sessionCapabilities } = hello.agentCapabilities!
    assert.equal(loadSession, true)
    assert.deepEqual([promptCapabilities!.image, promptCapabilities!.embeddedContext], [true, true])
    const can = ['additionalDirectories', 'close', 'delete', 'fork', 'list', 'resume']
    assert.deepEqual(Object.keys(sessionCapabilities!).sort(), can)
  })

  test('nothing goes before hello, and a newer version is told ours', async (t) => {
    const editor = await editorFor(t, daemon, { silent: true })
    assert.equal((await refusal(newSession(editor, daemon))).code, -32600)
    const hello = await editor.agent.request(methods.agent.initialize, { protocolVersion: 7 })
    assert.equal(hello.protocolVersion, 1)
  })

  test('a new session is one of Corral, with its modes', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const { cwd } = await native.call('session.create', { agent: 'demo', cwd: daemon.project, model: 'big' })
    const made = await editor.agent.request(methods.agent.session.new, { cwd, mcpServers: [] })
    const session = await native.call('session.get', { sessionId: made.sessionId })
    assert.deepEqual([session.agent, session.cwd, session.mode, session.origin], ['demo', cwd, 'ask', 'acp'])
    assert.equal(made.modes?.currentModeId, 'ask')
    assert.deepEqual(
      made.modes?.availableModes.map(({ id, description }) => [id, description !== undefined]),
      [
        ['auto', true],
        ['code', true],
        ['plan', true],
        ['ask', true],
      ],
    )
    assert.deepEqual(
      made.configOptions?.map(({ id, category, currentValue }) => [id, category, currentValue]),
      [
        ['mode', 'mode', 'ask'],
        ['model', 'model', 'default'],
      ],
    )
  })

  test('a directory that is not there is refused in words', async (t) => {
    const editor = await editorFor(t, daemon)
    const wish = { cwd: `${daemon.project}/nowhere`, mcpServers: [] }
    const { code, message } = await refusal(editor.agent.request(methods.agent.session.new, wish))
    assert.equal(code, -32602)
    assert.match(message, /nowhere/)
  })

  test('the MCP servers and directories of the editor go to the agent', async (t) => {
    const editor = await editorFor(t, daemon)
    const { sessionId } = await editor.agent.request(methods.agent.session.new, {
      cwd: daemon.project,
      additionalDirectories: [daemon.home],
      mcpServers: [{ name: 'files', command: 'files-mcp', args: ['-v'], env: [{ name: 'A', value: 'b' }] }],
    })
    const { settings } = await native.call('session.get', { sessionId })
    assert.deepEqual(settings.additionalDirectories, [daemon.home])
    const { events } = await native.call('events.read', { sessionId, types: ['session.created'] })
    const [created] = events
    assert.ok(created?.type === 'session.created')
    assert.ok(created.settings.mcpConfig, 'what is in it is not shown')
  })

  test('text and thinking come, the answer at the end with what it used', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const { stopReason, usage } = await editor.prompt(sessionId, '[[think hm, well]] [[drip 5 5]]')
    assert.equal(stopReason, 'end_turn')
    assert.equal(usage!.totalTokens, usage!.inputTokens + usage!.outputTokens)
    assert.ok(usage!.outputTokens > 0)
    assert.equal(editor.text('agent_thought_chunk'), 'hm, well')
    assert.equal(editor.text(), 'w1 w2 w3 w4 w5')
    assert.equal(editor.text('user_message_chunk'), '', 'the editor shows its own message itself')
  })

  test('pictures and attached files come with the message', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await editor.prompt(sessionId, [
      { type: 'image', data: PIXEL, mimeType: 'image/png' },
      { type: 'text', text: '[[attachments]]' },
    ])
    assert.match(editor.text(), /^attachments: 1 image\/png/)
    await editor.prompt(sessionId, [
      { type: 'text', text: 'look at ' },
      { type: 'resource', resource: { uri: 'file:///a/b.txt', text: 'inside' } },
    ])
    assert.match(editor.text(), /echo: look at \[@b\.txt\]\(file:\/\/\/a\/b\.txt\)[^]*inside/)
    const sound = { type: 'audio', data: PIXEL, mimeType: 'audio/wav' } as const
    assert.equal((await refusal(editor.prompt(sessionId, [sound]))).code, -32602)
    assert.equal((await refusal(editor.prompt(sessionId, []))).code, -32602)
  })

  test('a failed turn is an error with the words of the agent, and the session goes on', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const { code, message, data } = await refusal(editor.prompt(sessionId, '[[fail 529]]'))
    assert.equal(code, -32603)
    assert.match(message, /529/)
    assert.equal((data as { code: string }).code, 'model_error')
    assert.equal((await editor.prompt(sessionId, 'still there?')).stopReason, 'end_turn')
  })

  test('a prompt to a session that is not there is refused', async (t) => {
    const editor = await editorFor(t, daemon)
    const { code, data } = await refusal(editor.prompt('nobody', 'hello'))
    assert.deepEqual([code, data], [-32002, { sessionId: 'nobody' }])
  })
})

describe('stopping', () => {
  test('cancel ends the turn, which was told while it ran', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[drip 10000 20]]')
    await editor.reads('w2')
    await editor.agent.notify(methods.agent.session.cancel, { sessionId })
    assert.equal((await done).stopReason, 'cancelled')
    assert.equal((await editor.prompt(sessionId, 'next')).stopReason, 'end_turn')
  })

  test('cancel while a question is open takes the question back', async (t) => {
    const editor = await editorFor(t, daemon, { args: ASK })
    const sessionId = await newSession(editor, daemon)
    const done = editor.prompt(sessionId, '[[shell sleep]]')
    const { signal } = await editor.permission()
    await editor.agent.notify(methods.agent.session.cancel, { sessionId })
    assert.equal((await done).stopReason, 'cancelled')
    await until(() => signal.aborted, 'the question to be taken back')
    assert.equal(toolStates(editor).at(-1), 'failed')
  })

  test('a request that is cancelled as such ends its turn too', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const stop = new AbortController()
    const prompt = [{ type: 'text', text: '[[drip 10000 20]]' } as const]
    const options = { cancellationSignal: stop.signal }
    const done = editor.agent.request(methods.agent.session.prompt, { sessionId, prompt }, options)
    await editor.reads('w2')
    stop.abort()
    assert.equal((await done).stopReason, 'cancelled')
  })

  test('what somebody else says to the running turn is shown', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await native.call('session.configure', { sessionId, mode: 'ask' })
    const { turnId } = await native.call('session.send', { sessionId, content: '[[shell make]]' })
    const approvalId = await until(async () => {
      const { approvals } = await native.call('approval.list', { sessionId, open: true })
      return approvals[0]?.id
    }, 'the question')
    await native.call('session.steer', { sessionId, content: '[[say steered]]' })
    await native.call('approval.decide', { approvalId, behavior: 'allow' })
    await until(async () => (await native.call('turn.get', { turnId })).endedAt, 'the end')
    await until(() => /steered$/.exec(editor.text()), 'the answer')
    assert.match(editor.text('user_message_chunk'), /\[\[shell make\]\]\[\[say steered\]\]$/)
  })

  test('a prompt waits for the turn of somebody else, and can be taken back meanwhile', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await native.call('session.send', { sessionId, content: '[[hang]]' })
    const done = editor.prompt(sessionId, 'mine')
    await until(async () => (await native.call('session.get', { sessionId })).queued === 1, 'it to wait')
    await editor.agent.notify(methods.agent.session.cancel, { sessionId })
    assert.equal((await done).stopReason, 'cancelled')
    const { status, queued } = await native.call('session.get', { sessionId })
    assert.deepEqual([status, queued], ['running', 0], 'the turn of the other goes on')
    const next = editor.prompt(sessionId, 'mine again')
    await native.call('session.interrupt', { sessionId })
    assert.equal((await next).stopReason, 'end_turn')
    assert.match(editor.text(), /echo: mine again$/)
    assert.doesNotMatch(editor.text('user_message_chunk'), /mine/)
  })
})

describe('choosing', () => {
  test('the mode, in both ways', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await editor.agent.request(methods.agent.session.setMode, { sessionId, modeId: 'plan' })
    assert.equal((await native.call('session.get', { sessionId })).mode, 'plan')
    const { configOptions } = await editor.agent.request(methods.agent.session.setConfigOption, {
      sessionId,
      configId: 'mode',
      value: 'ask',
    })
    assert.equal(configOptions.find(({ id }) => id === 'mode')?.currentValue, 'ask')
    assert.equal((await native.call('session.get', { sessionId })).mode, 'ask')
    const wrong = { sessionId, modeId: 'yolo' }
    assert.equal((await refusal(editor.agent.request(methods.agent.session.setMode, wrong))).code, -32602)
  })

  test('the models are those that the agent has told of', async (t) => {
    const editor = await editorFor(t, daemon)
    await editor.prompt(await newSession(editor, daemon), 'hello')
    const { configOptions } = await editor.agent.request(methods.agent.session.new, {
      cwd: daemon.project,
      mcpServers: [],
    })
    const offered = configOptions?.find(({ id }) => id === 'model')
    assert.ok(offered && 'options' in offered)
    assert.deepEqual(offered.options.slice(0, 2), [
      { value: 'default', name: 'Default' },
      { value: 'demo', name: 'Demo' },
    ])
  })

  test('the model, in both ways', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    const model = async () => (await native.call('session.get', { sessionId })).model
    const option = { sessionId, configId: 'model' }
    await editor.agent.request(methods.agent.session.setConfigOption, { ...option, value: 'small' })
    assert.equal(await model(), 'small')
    await editor.agent.request('session/set_model', { sessionId, modelId: 'large' })
    assert.equal(await model(), 'large')
    await editor.agent.request(methods.agent.session.setConfigOption, { ...option, value: 'default' })
    assert.equal(await model(), null)
    assert.equal((await refusal(editor.agent.request('session/set_model', { sessionId }))).code, -32602)
  })

  test('what somebody else changes is told', async (t) => {
    const editor = await editorFor(t, daemon)
    const sessionId = await newSession(editor, daemon)
    await native.call('session.configure', { sessionId, mode: 'code', title: 'Tidy up' })
    await until(() => {
      return editor.updates.find((one) => one.sessionUpdate === 'current_mode_update')?.currentModeId
    }, 'the mode')
    await until(() => {
      const told = editor.updates.find((one) => one.sessionUpdate === 'config_option_update')
      return told?.configOptions.find(({ id }) => id === 'mode')?.currentValue === 'code'
    }, 'the mode among the options')
    await until(() => {
      return editor.updates.find((one) => one.sessionUpdate === 'session_info_update')?.title
    }, 'the title')
  })
})
