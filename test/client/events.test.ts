import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { NativeError, type Cursor, type Event } from '../../src/client/node.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { until } from '../support/wait.ts'
import { corralFor, demo, lastingDaemon, WAYS } from './support.ts'

let daemon: TestDaemon
before(async () => {
  daemon = await lastingDaemon()
})
after(() => daemon.stop())

for (const way of WAYS) {
  describe(`events over ${way.name}`, () => {
    test('are read on from a cursor, each once', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      await session.turn('[[say one]]')
      await session.turn('[[say two]]')
      const texts: (string | null)[] = []
      let cursor: Cursor | null = null
      const first = session.events({ from: 'start', types: ['turn.completed'] })
      for await (const event of first) {
        texts.push(event.text)
        cursor = first.cursor
        break
      }
      for await (const event of session.events({ from: cursor!, types: ['turn.completed'] })) {
        texts.push(event.text)
        break
      }
      assert.deepEqual(texts, ['one', 'two'])
    })

    test('go on over a daemon that is killed, without a gap or a repeat', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const links: string[] = []
      const events: Event[] = []
      const feed = session.events({ from: 'start', onLink: (state) => links.push(state) })
      const reading = (async () => {
        for await (const event of feed) events.push(event)
      })()
      await session.turn('[[say before]]')
      await daemon.kill9()
      await daemon.restart()
      await session.turn('[[say after]]')
      await until(() => events.filter(({ type }) => type === 'turn.completed').length === 2)
      feed.close()
      await reading
      const { events: log } = await corral.call('events.read', {
        sessionId: session.id,
        after: 0,
        whole: true,
      })
      const seqs = events.map(({ seq }) => seq)
      assert.deepEqual(
        log.filter(({ seq }) => seq <= seqs.at(-1)! && !seqs.includes(seq)),
        [],
      )
      assert.deepEqual(
        seqs,
        [...new Set(seqs)].sort((a, b) => a - b),
      )
      assert.deepEqual(links, ['away', 'back'])
    })

    test('of another log are refused, unless the reader says where to read on', async (t) => {
      const corral = await corralFor(t, way, daemon)
      const session = await demo(corral, daemon)
      const from = { log: 'another', seq: 3 }
      const reading = async (): Promise<void> => {
        for await (const _ of session.events({ from }));
      }
      await assert.rejects(reading(), (error) => {
        assert.ok(error instanceof NativeError)
        assert.deepEqual([error.code, error.remedy], ['cursor_reset', 'Read this log from its beginning.'])
        return true
      })
      const gaps: string[] = []
      for await (const event of session.events({
        from,
        onGap({ log }) {
          gaps.push(log)
          return 'start'
        },
      })) {
        assert.equal(event.type, 'session.created')
        break
      }
      assert.equal(gaps.length, 1)
    })
  })
}

test('a page that reads slowly holds a bounded number of events, and misses none', async (t) => {
  let received = 0
  const real = globalThis.WebSocket
  t.after(() => void (globalThis.WebSocket = real))
  class CountingSocket extends real {
    constructor(url: string) {
      super(url)
      this.addEventListener('message', ({ data }) => {
        const { params } = JSON.parse(String(data)) as { params?: { events?: Event[] } }
        received += params?.events?.length ?? 0
      })
    }
  }
  globalThis.WebSocket = CountingSocket as typeof real
  const corral = await corralFor(t, WAYS[2]!, daemon)
  const session = await demo(corral, daemon)
  const feed = session.events()
  await feed.ready
  const other = await corralFor(t, WAYS[0]!, daemon)
  const words = 5000
  const reader = feed[Symbol.asyncIterator]()
  const first = reader.next()
  const answer = await (await other.sessions.get(session.id)).turn(`[[drip ${words} 0]]`)
  assert.ok(received < words / 2, `${received} events came to a reader that did not read`)
  const told: Event[] = [(await first).value as Event]
  for (;;) {
    const { value } = await reader.next()
    const event = value as Event
    told.push(event)
    if (event.type === 'turn.completed' && event.turnId === answer.turnId) break
  }
  const { events: log } = await other.call('events.read', { sessionId: session.id, after: 0, whole: true })
  const seqs = new Set(told.map(({ seq }) => seq))
  assert.equal(seqs.size, told.length, 'none twice')
  const missing = log.filter(({ seq }) => seq > told[0]!.seq && seq < told.at(-1)!.seq && !seqs.has(seq))
  assert.deepEqual(missing, [])
})
