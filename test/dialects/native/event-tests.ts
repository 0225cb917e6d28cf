import assert from 'node:assert/strict'
import { after, before, test, type TestContext } from 'node:test'
import type { Event } from '../../../src/core/event.ts'
import { NativeError } from '../../../src/client/client.ts'
import type { TestDaemon } from '../../support/daemon.ts'
import { demoSession, turn, readTo, type Over } from './support.ts'

/** What holds for events and connections, over whichever transport. */
export function eventTests({ startDaemon, clientFor, rawFor }: Over): void {
  let daemon: TestDaemon

  before(async () => {
    daemon = await startDaemon()
  })

  after(() => daemon.stop())

  /** Until the end of the test there is no daemon. */
  async function kill9(t: TestContext): Promise<void> {
    await daemon.kill9()
    t.after(() => daemon.restart())
  }

  test('the answer to a subscription comes before its first event', async (t) => {
    const client = await clientFor(t, daemon)
    const { id } = await demoSession(client, daemon)
    const raw = await rawFor(t, daemon)
    raw.send(`{"jsonrpc":"2.0","id":1,"method":"events.subscribe","params":{"after":0,"sessionId":"${id}"}}`)
    const answer = await raw.next()
    assert.equal(answer['id'], 1)
    const result = answer['result'] as { subscriptionId: string; log: string; gap: boolean }
    assert.equal(result.gap, false)
    const first = await raw.next()
    assert.equal(first['method'], 'events')
    const params = first['params'] as { subscriptionId: string; log: string; events: Event[] }
    assert.equal(params.subscriptionId, result.subscriptionId)
    assert.equal(params.log, result.log)
    assert.equal(params.events[0]?.type, 'session.created')
    assert.equal(params.events[0]?.sessionId, id)
  })

  test('an ended subscription sends nothing more', async (t) => {
    const client = await clientFor(t, daemon)
    const raw = await rawFor(t, daemon)
    raw.send('{"jsonrpc":"2.0","id":1,"method":"events.subscribe"}')
    const { subscriptionId } = (await raw.next())['result'] as { subscriptionId: string }
    raw.send(
      `{"jsonrpc":"2.0","id":2,"method":"events.unsubscribe","params":{"subscriptionId":"${subscriptionId}"}}`,
    )
    assert.deepEqual((await raw.next())['result'], { closed: true })
    await demoSession(client, daemon)
    raw.send('{"jsonrpc":"2.0","id":3,"method":"daemon.status"}')
    assert.equal((await raw.next())['id'], 3)
  })

  test('a subscription can be for one session and some types', async (t) => {
    const client = await clientFor(t, daemon)
    const mine = await demoSession(client, daemon)
    const other = await demoSession(client, daemon)
    const stream = client.events({ sessionId: mine.id, types: ['turn.started', 'turn.completed'] })
    await stream.ready
    await turn(client, other.id, '[[say other]]')
    await turn(client, mine.id, '[[say mine]]')
    const events = await readTo(stream, 'turn.completed')
    assert.deepEqual(
      events.map((event) => [event.sessionId, event.type]),
      [
        [mine.id, 'turn.started'],
        [mine.id, 'turn.completed'],
      ],
    )
  })

  test('bad lines on a connection are answered and everything goes on', async (t) => {
    const raw = await rawFor(t, daemon)
    for (const line of ['nonsense', '[]', '{"jsonrpc":"2.0","id":9,"method":"no.such"}']) raw.send(line)
    const codes = []
    for (let index = 0; index < 3; index++) codes.push(((await raw.next())['error'] as { code: number }).code)
    assert.deepEqual(codes, [-32700, -32600, -32601])
    raw.send('{"jsonrpc":"2.0","id":10,"method":"daemon.status"}')
    assert.equal((await raw.next())['id'], 10)
  })

  test('a slow reader gets every event once it reads, and holds up nobody', async (t) => {
    const client = await clientFor(t, daemon)
    const { id: sessionId } = await demoSession(client, daemon)
    const slow = client.events({ after: 0, sessionId })
    await slow.ready
    await turn(client, sessionId, '[[burst 20000 200]]')
    await turn(client, sessionId, '[[say last]]')
    const seqs: number[] = []
    let text = ''
    for await (const event of slow) {
      seqs.push(event.seq)
      if (event.type === 'message.completed') text = event.text
      if (event.type === 'turn.completed' && text === 'last') break
    }
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].toSorted((a, b) => a - b),
    )
  })

  test('events go on from the cursor across a killed daemon, without a gap or a repeat', async (t) => {
    const client = await clientFor(t, daemon, { reconnect: true })
    const { id: sessionId } = await demoSession(client, daemon)
    const stream = client.events({ after: 0, sessionId })
    const sent = await client.call('session.send', { sessionId, content: '[[drip 60 50]]' })
    const seen: Event[] = []
    let killed: Promise<void> | null = null
    for await (const event of stream) {
      seen.push(event)
      if (event.type === 'message.delta') killed ??= daemon.kill9().then(() => daemon.restart())
      if (event.type === 'turn.completed') break
    }
    await killed
    assert.ok(killed, 'the turn was over before the daemon was killed')
    const seqs = seen.map((event) => event.seq)
    assert.deepEqual(
      seqs,
      [...new Set(seqs)].toSorted((a, b) => a - b),
    )
    const whole = await client.call('events.read', { after: 0, sessionId, whole: true, limit: 1000 })
    const got = seen.filter((event) => event.type !== 'message.delta').map((event) => event.seq)
    const expected = whole.events.map((event) => event.seq).filter((seq) => seq <= seqs.at(-1)!)
    assert.deepEqual(got, expected)
    const ended = seen.at(-1)
    assert.equal(ended?.turnId, sent.turnId)
    const message = seen.find((event) => event.type === 'message.completed')
    assert.equal(message?.text.split(' ').length, 60)
  })

  test('a message with a key is sent again after the connection was lost, and is one message', async (t) => {
    const client = await clientFor(t, daemon, { reconnect: true })
    const { id: sessionId } = await demoSession(client, daemon)
    await daemon.kill9()
    const sending = client.call('session.send', { sessionId, content: '[[say once]]', key: 'k1' })
    await daemon.restart()
    const sent = await sending
    const again = await client.call('session.send', { sessionId, content: '[[say once]]', key: 'k1' })
    assert.deepEqual([again.turnId, again.repeated], [sent.turnId, true])
    await readTo(client.events({ after: 0, sessionId }), 'turn.completed')
    assert.equal((await client.call('turn.list', { sessionId })).turns.length, 1)
  })

  test('calls that find no daemon give up together, not one after the other', async (t) => {
    const client = await clientFor(t, daemon, { reconnect: true, giveUpMs: 500 })
    await kill9(t)
    // One after the other they would take two and a half minutes, which no test has.
    const calls = Array.from({ length: 300 }, () => client.call('daemon.status'))
    for (const { status } of await Promise.allSettled(calls)) assert.equal(status, 'rejected')
  })

  test('without reconnect a lost connection ends calls and streams with an error', async (t) => {
    const client = await clientFor(t, daemon)
    const stream = client.events({ after: 0 })
    await stream.ready
    const ended = assert.rejects(readTo(stream, 'session.destroyed'), { name: 'ConnectionLost' })
    await kill9(t)
    await ended
    await assert.rejects(client.call('daemon.status'), { name: 'ConnectionLost' })
  })

  test('a cursor of another log ends the stream, or is answered by onReset', async (t) => {
    const client = await clientFor(t, daemon)
    await demoSession(client, daemon)
    await assert.rejects(
      readTo(client.events({ after: 0, log: 'another' }), 'session.created'),
      (error: unknown) => {
        assert.ok(error instanceof NativeError)
        assert.equal(error.code, 'cursor_reset')
        return true
      },
    )
    const { log } = await client.call('daemon.status')
    let told: unknown
    const stream = client.events({
      after: 5,
      log: 'another',
      onReset(range) {
        told = range
        return 0
      },
    })
    await readTo(stream, 'session.created')
    assert.deepEqual(told, { log: log.id, head: log.head, oldest: log.oldest, code: 'cursor_reset' })
  })

  test('many subscribers each get the same events', async (t) => {
    const client = await clientFor(t, daemon)
    const { id: sessionId } = await demoSession(client, daemon)
    const streams = Array.from({ length: 20 }, () =>
      client.events({ sessionId, types: ['message.completed', 'turn.completed'] }),
    )
    await Promise.all(streams.map((stream) => stream.ready))
    await client.call('session.send', { sessionId, content: '[[say to all]]' })
    const all = await Promise.all(streams.map((stream) => readTo(stream, 'turn.completed')))
    for (const events of all) assert.deepEqual(events, all[0])
  })

  test('daemon.stop answers, then the daemon is gone', async (t) => {
    const client = await clientFor(t, daemon)
    assert.equal((await client.call('daemon.stop', { agents: 'keep', now: true })).pid, daemon.pid)
    assert.equal(await daemon.terminate(), 0)
    // The next one ends the agents that were kept.
    await daemon.restart()
  })
}
