import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import {
  clientFor,
  DEMO,
  demoSession,
  shape,
  startClient,
  turn,
  type Client,
  talking,
  type Sent,
} from './support.ts'

let daemon: TestDaemon
let native: NativeClient
let client: Client

before(async () => {
  daemon = await startDaemon()
  native = await connect(daemon.socket)
  client = startClient(daemon)
})

after(async () => {
  await client.close()
  native.close()
  await daemon.stop()
})

const { status, send, about } = talking(() => client)

/** Runs of the same become one. */
function squeezed(shapes: readonly string[]): string[] {
  const pairs = shapes.join(' | ').replaceAll(/(drafting response\.\.\. \| stream\.chunk \| )\1+/g, '$1')
  return pairs.split(' | ')
}

describe('a turn', () => {
  test('is told in order: the first status before the answer, all else after it', async () => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    const { turnId } = await turn(client, sessionId, 'hello there')
    const lines = about(sessionId, from)
    assert.deepEqual(squeezed(shape(lines)), [
      'preparing...',
      '=',
      'thinking...',
      'user',
      'estimate',
      'drafting response...',
      'stream.chunk',
      'assistant',
      'estimate',
      'completed',
      'ready',
    ])
    const events = lines.flatMap(({ params }) => params ?? [])
    const [preparing, thinking] = events as [(typeof events)[0], (typeof events)[0]]
    assert.deepEqual(preparing.payload, {
      session_id: sessionId,
      pending: true,
      status_label: 'preparing...',
      turn_id: turnId,
    })
    assert.equal(thinking.payload.turn_id, turnId)
    assert.deepEqual(events.at(-1)!.payload, {
      session_id: sessionId,
      pending: false,
      status_label: 'ready',
    })
    const done = events.find(({ type }) => type === 'session.completed')!
    const answer = 'echo: hello there'
    assert.deepEqual(done.payload, { session_id: sessionId, turn_id: turnId, answer_length: answer.length })
    const pieces = events
      .filter(({ type }) => type === 'session.stream.chunk')
      .map((one) => one.payload.chunk)
    assert.equal(pieces.map(({ answerText }) => answerText).join(''), answer)
    assert.deepEqual(pieces[0]!.segments, [{ kind: 'answer', text: pieces[0]!.answerText }])
    assert.deepEqual(pieces[0]!.thoughts, [])
    const { messages, history, pending, statusLabel, conversationProvider } = await client.state(sessionId)
    assert.deepEqual(
      messages.map(({ kind, text }) => [kind, text]),
      [
        ['user', 'hello there'],
        ['assistant', answer],
      ],
    )
    assert.deepEqual(history, [
      { role: 'user', text: 'hello there' },
      { role: 'assistant', text: answer },
    ])
    assert.deepEqual([pending, statusLabel, conversationProvider], [false, 'ready', 'demo'])
  })

  test('has numbers that rise, and ids of messages that are used once', async () => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    await turn(client, sessionId, 'one')
    await turn(client, sessionId, 'two')
    const events = about(sessionId, from).flatMap(({ params }) => params ?? [])
    const seqs = events.map(({ seq }) => seq)
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].sort((a, b) => a - b),
    )
    const ids = events.flatMap(({ type, payload }) =>
      type === 'session.message.appended' ? [payload.message.id] : [],
    )
    assert.equal(new Set(ids).size, 4)
    assert.ok(ids.every(Number.isInteger))
    assert.ok(events.every(({ timestamp }) => new Date(timestamp).toISOString() === timestamp))
  })

  test('shows thoughts: what was thought so far, the new piece, and a title', async () => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    await turn(client, sessionId, '[[think **Big Plan** and more]] [[say done]]')
    const chunks = about(sessionId, from).flatMap(({ params }) =>
      params?.type === 'session.stream.chunk' ? [params.payload.chunk] : [],
    )
    const thoughts = chunks.filter(({ segments }) => segments[0]!.kind === 'thought')
    assert.equal(thoughts.at(-1)!.thoughts[0], '**Big Plan** and more')
    assert.equal(thoughts.map(({ segments }) => segments[0]!.text).join(''), '**Big Plan** and more')
    assert.ok(thoughts.every(({ answerText }) => answerText === ''))
    await status(sessionId, 'thinking: big plan', from)
  })

  test('tells tools with the id of the call, in rounds', async () => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    const { turnId } = await turn(client, sessionId, '[[shell echo [[say found]]]]')
    const tools = about(sessionId, from)
      .flatMap(({ params }) => params ?? [])
      .filter(({ type }) => type.startsWith('session.tool.'))
    assert.deepEqual(
      tools.map(({ type }) => type),
      ['session.tool.call.started', 'session.tool.call.completed', 'session.tool.results'],
    )
    const [started, completed, results] = tools.map(({ payload }) => payload)
    const { call, toolRound } = started!.data
    assert.deepEqual(
      [call.name, call.providerToolName, toolRound, started!.turn_id],
      ['Shell', 'Shell', 1, turnId],
    )
    assert.deepEqual(call.input, { command: 'echo [[say found]]' })
    const { executed } = completed!.data
    assert.deepEqual([executed.ok, executed.name, executed.callId], [true, 'Shell', call.callId])
    assert.match(executed.result, /ran: echo/)
    assert.deepEqual(results!.data, { toolRound: 1, executed: [executed] })
  })

  test('that fails is a message, an error, and the end; the prompt is no part of the conversation', async () => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    const { turnId } = await turn(client, sessionId, '[[fail 500]]')
    assert.deepEqual(shape(about(sessionId, from)).slice(-3), ['system', 'error', 'ready'])
    const { payload } = await client.event('session.error', (it) => it.session_id === sessionId)
    assert.equal(payload.turn_id, turnId)
    assert.match(payload.message, /500/)
    const { messages, history } = await client.state(sessionId)
    assert.deepEqual(
      messages.map(({ kind }) => kind),
      ['user', 'system'],
    )
    assert.equal(messages[1]!.text, `inference error: ${payload.message}`)
    assert.deepEqual(history, [])
  })

  test('of somebody else is told as well', async () => {
    const sessionId = await demoSession(client)
    const from = client.lines.length
    await native.call('session.send', { sessionId, content: 'from elsewhere' })
    await client.event('session.completed', (it) => it.session_id === sessionId)
    assert.deepEqual(shape(about(sessionId, from)).slice(0, 3), ['preparing...', 'thinking...', 'user'])
  })

  test('may say what some take for an end of a line', async () => {
    const sessionId = await demoSession(client)
    let raw = ''
    const listen = (data: Buffer): void => void (raw += data.toString())
    client.child.stdout!.on('data', listen)
    await turn(client, sessionId, 'a\u2028b\u2029c')
    client.child.stdout!.off('data', listen)
    assert.doesNotMatch(raw, /[\u2028\u2029]/)
    assert.equal((await client.state(sessionId)).history[1]!.text, 'echo: a\u2028b\u2029c')
  })

  test('that waits for an approval says so, and others answer', async () => {
    const sessionId = await demoSession(client)
    await native.call('session.configure', { sessionId, mode: 'ask' })
    await send(sessionId, '[[shell ls]]')
    await status(sessionId, 'waiting for approval: Shell')
    const { approvals } = await native.call('approval.list', { sessionId })
    await native.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'allow' })
    await client.event('session.completed', (it) => it.session_id === sessionId)
  })

  test('whose agent asks a question is not held up: nobody could answer here', async () => {
    const sessionId = await demoSession(client)
    await turn(client, sessionId, '[[ask Red or blue?]]')
    assert.match((await client.state(sessionId)).history.at(-1)!.text, /Nobody can answer questions/)
  })
})

describe('a message', () => {
  test('to a session that is busy is refused, and queued on request', async () => {
    const sessionId = await demoSession(client)
    await send(sessionId, '[[hang]]')
    const error = await client.fails('session.send', { session_id: sessionId, text: 'now' })
    assert.deepEqual(error, {
      code: -32603,
      message: 'session is busy; use enqueue=true to queue the prompt',
      data: { reason: 'internal_error', kind: 'busy' },
    })
    const from = client.lines.length
    const first = await send(sessionId, 'first', { enqueue: true })
    const second = await send(sessionId, 'second', { enqueue: true })
    assert.deepEqual([first.queued, second.queued], [true, true])
    assert.deepEqual(shape(about(sessionId, from)), ['queued (1)', '=', 'queued (2)', '='])
    const { queue } = await client.call<{ queue: { id: string; text: string; images: unknown[] }[] }>(
      'session.queue.list',
      { session_id: sessionId },
    )
    assert.deepEqual(
      queue.map(({ id, text, images }) => [id, text, images]),
      [
        [first.turn_id, 'first', []],
        [second.turn_id, 'second', []],
      ],
    )
    const since = client.lines.length
    await client.call('session.interrupt', { session_id: sessionId })
    await client.event('session.completed', (it) => it.turn_id === second.turn_id)
    const told = shape(about(sessionId, since))
    assert.deepEqual(told.slice(0, 7), [
      'interrupting...',
      '=',
      'system',
      'interrupted',
      'ready',
      'preparing...',
      'thinking...',
    ])
    const { messages } = await client.state(sessionId)
    assert.deepEqual(
      messages.flatMap(({ kind, text }) => (kind === 'assistant' ? [text] : [])),
      ['echo: first', 'echo: second'],
    )
  })

  test('may be queued where nothing runs: it starts at once', async () => {
    const sessionId = await demoSession(client)
    const { queued } = await send(sessionId, 'at once', { enqueue: true })
    assert.equal(queued, false)
    await client.event('session.completed', (it) => it.session_id === sessionId)
  })

  test('that waits can be taken back', async () => {
    const sessionId = await demoSession(client)
    await send(sessionId, '[[hang]]')
    await send(sessionId, 'never', { enqueue: true })
    const cleared = await client.call('session.queue.clear', { session_id: sessionId })
    assert.deepEqual(cleared, { session_id: sessionId, cleared_count: 1 })
    await client.call('session.interrupt', { session_id: sessionId })
    await client.event('session.interrupted', (it) => it.session_id === sessionId)
    assert.deepEqual((await client.state(sessionId)).queue, [])
  })

  test('two at the same time: one runs, one is refused', async () => {
    const sessionId = await demoSession(client)
    const params = { session_id: sessionId, text: '[[hang]]' }
    const answers = await Promise.all([
      client.ask('session.send', params),
      client.ask('session.send', params),
    ])
    assert.deepEqual(
      answers.map(({ error }) => error?.data.kind),
      [undefined, 'busy'],
    )
    await client.call('session.interrupt', { session_id: sessionId })
  })

  test('needs a text or an image, and a session', async () => {
    const sessionId = await demoSession(client)
    for (const images of [undefined, [], [{}], 'none']) {
      const { code, message } = await client.fails('session.send', {
        session_id: sessionId,
        text: ' ',
        images,
      })
      assert.deepEqual(
        [code, message],
        [-32603, 'session.send requires non-empty text or at least one image'],
      )
    }
    for (const method of ['session.send', 'session.get', 'session.interrupt', 'session.queue.list']) {
      const error = await client.fails(method, { session_id: 'nobody', text: 'x' })
      const data = { reason: 'internal_error', kind: 'session_not_found' }
      assert.deepEqual(error, { code: -32603, message: 'unknown session: nobody', data })
    }
  })

  test('without a model is accepted, and all of its failure comes before the answer', async (t) => {
    const other = clientFor(t, daemon)
    const { session_id: sessionId } = await other.call<{ session_id: string }>('session.create')
    const from = other.lines.length
    const sent = await other.call<Sent>('session.send', { session_id: sessionId, text: 'hello' })
    assert.deepEqual([sent.accepted, sent.queued], [true, false])
    assert.deepEqual(shape(other.lines.slice(from)), ['preparing...', 'system', 'error', 'ready', '='])
    const failed = other.events('session.error')[0]!
    assert.equal(failed.payload.turn_id, sent.turn_id)
    assert.match(failed.payload.message, /select a model first/)
    assert.equal(failed.payload['kind'], 'no_model')
    await other.call('model.select', DEMO)
    await turn(other, sessionId, 'and now')
    assert.equal((await native.call('session.get', { sessionId })).agent, 'demo')
  })

  test('no two messages have the same id, in whichever session they are', async (t) => {
    const other = clientFor(t, daemon)
    const sessions: string[] = []
    for (let n = 0; n < 3; n++) {
      const { session_id } = await other.call<{ session_id: string }>('session.create')
      for (let m = 0; m < 2; m++) await other.call('session.send', { session_id, text: 'hello' })
      sessions.push(session_id)
    }
    await other.call('model.select', DEMO)
    await turn(other, sessions[0]!, 'and now')
    const states = await Promise.all(sessions.map((sessionId) => other.state(sessionId)))
    const ids = states.flatMap(({ messages }) => messages.map(({ id }) => id))
    assert.deepEqual([ids.length, new Set(ids).size], [8, 8])
  })
})
