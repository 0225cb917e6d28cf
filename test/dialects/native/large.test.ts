import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createFeed } from '../../../src/dialects/native/feed.ts'
import { connect } from '../../../src/client/client.ts'
import { DEFAULT_MAX_LINE, DEFAULT_MAX_MESSAGE } from '../../../src/transports/ndjson.ts'
import { startEngine } from '../../support/engine.ts'
import { clientFor, daemonFor, demoSession, tokenOf, webSocketOf } from './support.ts'

test('connections that are told the same large event hold the same bytes', async (t) => {
  const { engine, cwd, stop } = await startEngine()
  t.after(stop)
  const { id: sessionId } = await engine.sessions.create({ agent: 'demo', cwd })
  const connections = Array.from({ length: 3 }, () => {
    const lines: (string | Buffer)[] = []
    const feed = createFeed(engine, (line) => lines.push(line) > 0)
    t.after(() => feed.closeAll())
    feed.open({ after: engine.events.head }).start()
    return lines
  })
  await new Promise(setImmediate)
  const title = 'é'.repeat(100_000)
  await engine.sessions.configure({ sessionId, title: 'small' })
  await engine.sessions.configure({ sessionId, title })
  const [[small, large] = [], ...others] = connections
  assert.equal(typeof small, 'string')
  assert.ok(Buffer.isBuffer(large))
  const { params } = JSON.parse(large.toString()) as { params: { events: { title: string }[] } }
  assert.equal(params.events[0]!.title, title)
  for (const lines of others) assert.ok(lines[1] === large)
})

test('a request that is longer than a line may be is refused, and not sent again and again', async (t) => {
  const daemon = await daemonFor(t)
  const client = await clientFor(t, daemon, { reconnect: true })
  const { id } = await demoSession(client, daemon)
  const content = 'x'.repeat(DEFAULT_MAX_LINE)
  await assert.rejects(client.call('session.send', { sessionId: id, content, key: 'large' }), {
    code: 'invalid',
  })
  assert.equal((await client.call('session.get', { sessionId: id })).turnCount, 0)
})

test('a WebSocket takes less, and its client knows', async (t) => {
  const daemon = await daemonFor(t)
  const client = await connect(webSocketOf(daemon), { token: tokenOf(daemon), reconnect: true })
  t.after(() => client.close())
  const { id } = await demoSession(client, daemon)
  const send = (length: number): Promise<unknown> =>
    client.call('session.send', { sessionId: id, content: 'x'.repeat(length), key: `large ${length}` })
  await assert.rejects(send(DEFAULT_MAX_MESSAGE), { code: 'invalid' })
  await send(DEFAULT_MAX_MESSAGE - 1000)
  assert.equal((await client.call('turn.list', { sessionId: id })).turns.length, 1)
})
