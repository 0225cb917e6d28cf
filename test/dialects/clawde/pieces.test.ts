import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createPieces } from '../../../src/dialects/clawde/pieces.ts'
import { rigFor, type Client, type Json } from './support.ts'

/** What the pieces add up to that a client was told from here on. */
const pieces = (client: Client, method = 'session.message.delta'): string =>
  client.pushes
    .filter((one) => one.method === method)
    .map(({ params }) => params['delta'])
    .join('')

test('who has asked for the messages gets only what comes after them, though nobody listened before', async (t) => {
  const rig = await rigFor(t)
  const { id: sessionId } = await rig.engine.sessions.create({ agent: 'demo', cwd: rig.cwd })
  await rig.engine.turns.send({ sessionId, input: [{ type: 'text', text: '[[drip 100000 20]]' }] })
  await rig.event('message.delta', { sessionId })
  await rig.engine.sessions.pause(sessionId)
  const client = await rig.client()
  const { messages } = await client.call<{ messages: Json[] }>('session.messages', { sessionId })
  const open = messages.at(-1)!
  assert.equal(open['status'], 'streaming')
  await client.call('session.resume', { sessionId })
  await client.push('session.message.delta')
  await client.call('session.cancel', { sessionId })
  const { content } = await client.push('session.message.complete')
  assert.equal((open['content'] as string) + pieces(client), content)
  assert.equal((open['content'] as string) + pieces(client, 'session.messageDelta'), content)
})

test('an answer that comes whole, to somebody who comes late or reads the log, comes once', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.call('session.send', { sessionId, content: '[[drip 30 20]]' })
  const { seq } = await client.push('session.messageUpdated')
  const { content } = await client.push('session.message.complete')
  assert.equal(pieces(client), content)
  for (const after of [0, seq as number]) {
    const late = await rig.client()
    await late.call('session.messages', { sessionId })
    await late.call('events.subscribe', { after })
    await late.push('session.messageComplete')
    assert.equal(pieces(late), content, `after ${after}`)
  }
})

test('who asks for the log again in the middle of an answer gets no piece twice', async (t) => {
  const rig = await rigFor(t)
  const client = await rig.client()
  const sessionId = await rig.session(client)
  await client.call('session.send', { sessionId, content: '[[drip 100000 20]]' })
  const { seq: after } = await client.push('session.messageUpdated')
  const told = (): number => client.pushes.filter(({ method }) => method === 'session.messageDelta').length
  for (let n = 1; n <= 3; n++) {
    await client.until(() => told() >= 4 * n)
    await client.call('events.subscribe', { after })
  }
  await client.call('session.cancel', { sessionId })
  const { content } = await client.push('session.message.complete')
  assert.equal(pieces(client), content)
})

test('an answer that becomes another one is told whole at its end, and no more pieces', () => {
  const { of } = createPieces()
  const grown = (content: string, done: boolean): unknown[] =>
    of({
      method: 'session.messageUpdated',
      sessionId: 's',
      seq: 1,
      params: {},
      grown: { messageId: 'm', content, done },
    })
      .filter(({ method }) => method.startsWith('session.message.'))
      .map(({ params }) => params['delta'] ?? params['content'])
  assert.deepEqual(grown('Hello wor', false), ['Hello wor'])
  assert.deepEqual(grown('Hello, world', true), ['Hello, world'])
  assert.deepEqual(grown('Again', true), ['Again', 'Again'], 'another one of the same id')
})
