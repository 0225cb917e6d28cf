import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { goOn, HELD, sessionToHold } from '../../support/held.ts'
import { askUntil } from '../../support/wait.ts'
import { create, type Json, result, send, type Stream, textOf, types } from './client.ts'

let daemon: TestDaemon
let base = ''
before(async () => {
  daemon = await startDaemon()
  base = daemon.codecast
})
after(() => daemon.stop())

/** Leaves a stream, and waits until the daemon has noticed. */
async function leave(sessionId: string, stream: Stream): Promise<void> {
  stream.cut()
  await askUntil(
    () => result(base, 'session.queue_stats', { sessionId }),
    (stats) => stats['clientConnected'] === false,
  )
}

describe('disconnect and reconnect', () => {
  test('a turn whose stream was cut goes on, and reconnect returns it from its start, once', async () => {
    const sessionId = await sessionToHold(daemon)
    const stream = await send(base, sessionId, HELD)
    await stream.until('tool_use')
    await leave(sessionId, stream)
    const stats = await result(base, 'session.queue_stats', { sessionId })
    assert.equal(stats['userPending'], 0)
    assert.ok(Number(stats['responsePending']) > 0)
    await goOn(daemon, sessionId, '[[drip 30 10]]')
    const seen: Json[] = []
    await askUntil(
      async () => {
        const { bufferedEvents } = await result<{ bufferedEvents: Json[] }>(base, 'session.reconnect', {
          sessionId,
        })
        seen.push(...bufferedEvents)
        return seen.at(-1)?.['type']
      },
      (type) => type === 'result',
    )
    assert.equal(seen[0]?.['type'], 'system', 'from the start of the turn')
    assert.ok(!seen.some((event) => event['type'] === 'ping'))
    assert.match(textOf(seen as never), /^w1 .*w30$/)
    assert.deepEqual(await result(base, 'session.reconnect', { sessionId }), { bufferedEvents: [] })
    assert.deepEqual(await result(base, 'session.queue_stats', { sessionId }), {
      userPending: 0,
      responsePending: 0,
      clientConnected: true,
    })
  })

  test('responsePending is what reconnect returns', async () => {
    const sessionId = await sessionToHold(daemon)
    const first = await send(base, sessionId, HELD)
    assert.deepEqual(types(await (await send(base, sessionId, '[[shell a]]')).rest()), ['queued', '[DONE]'])
    await goOn(daemon, sessionId)
    await first.rest()
    // Pieces of a message are counted until it is whole: what is counted stays the same once the turn is over.
    await askUntil(
      () => result(base, 'session.queue_stats', { sessionId }),
      (stats) => Number(stats['responsePending']) > 0,
    )
    await askUntil(
      async () => (await result<{ sessions: Json[] }>(base, 'session.list')).sessions,
      (all) => all.some((one) => one['sessionId'] === sessionId && one['status'] === 'idle'),
    )
    const stats = await result(base, 'session.queue_stats', { sessionId })
    const { bufferedEvents } = await result<{ bufferedEvents: Json[] }>(base, 'session.reconnect', {
      sessionId,
    })
    assert.equal(bufferedEvents.length, stats['responsePending'])
    assert.deepEqual(types(bufferedEvents as never), ['tool_use', 'tool_use', 'text', 'result'])
  })

  test('queued answers are there too, in order and once, however their senders went', async () => {
    const sessionId = await create(base, daemon.project, { mode: 'ask' })
    const running = await send(base, sessionId, '[[shell one]]')
    await running.until('tool_use')
    await (await send(base, sessionId, '[[say two]]')).rest()
    const queued = await send(base, sessionId, '[[say three]]', { follow: true })
    await queued.until('queued')
    queued.cut()
    await result(base, 'session.set_mode', { sessionId, mode: 'auto' })
    await running.rest()
    const seen: Json[] = []
    await askUntil(
      async () => {
        const { bufferedEvents } = await result<{ bufferedEvents: Json[] }>(base, 'session.reconnect', {
          sessionId,
        })
        seen.push(...bufferedEvents)
        return seen.filter((event) => event['type'] === 'result').length
      },
      (results) => results === 2,
    )
    assert.deepEqual(
      seen.filter((event) => event['type'] === 'text').map((event) => event['content']),
      ['two', 'three'],
    )
    assert.deepEqual(await result(base, 'session.reconnect', { sessionId }), { bufferedEvents: [] })
  })

  test('a stream that was read to its end leaves nothing to reconnect to', async () => {
    const sessionId = await create(base, daemon.project)
    await (await send(base, sessionId, '[[say all]]')).rest()
    assert.deepEqual(await result(base, 'session.reconnect', { sessionId }), { bufferedEvents: [] })
  })

  test('resume marks the client as back and keeps what waits', async () => {
    const sessionId = await sessionToHold(daemon)
    const stream = await send(base, sessionId, HELD)
    await stream.until('tool_use')
    await leave(sessionId, stream)
    await result(base, 'session.resume', { sessionId })
    const stats = await result(base, 'session.queue_stats', { sessionId })
    assert.equal(stats['clientConnected'], true)
    assert.ok(Number(stats['responsePending']) > 0)
  })

  test('after names the last event that came: nothing twice', async () => {
    const sessionId = await create(base, daemon.project)
    const stream = await send(base, sessionId, '[[shell one]]', { ids: true })
    const seen = await stream.until('tool_use')
    const after = stream.ids.at(-1)!
    stream.cut()
    const rest: Json[] = []
    let cursor = after
    await askUntil(
      async () => {
        const answer = await result<{ bufferedEvents: Json[]; lastSeq: number }>(base, 'session.reconnect', {
          sessionId,
          after: cursor,
        })
        rest.push(...answer.bufferedEvents)
        cursor = answer.lastSeq
        return rest.at(-1)?.['type']
      },
      (type) => type === 'result',
    )
    const all = [...seen, ...rest]
    assert.equal(all.filter((event) => event['type'] === 'system' && event['subtype'] === 'init').length, 1)
    assert.equal(all.filter((event) => event['type'] === 'tool_use').length, 2)
    assert.equal(all.filter((event) => event['type'] === 'result').length, 1)
  })
})
