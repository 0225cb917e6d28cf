import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { after, test } from 'node:test'
import { activityFeed, eventFeed } from '../../../src/dialects/relay/feeds.ts'
import type { CallRecord } from '../../../src/relay/records/call-records.ts'
import { createRelayEvents } from '../../../src/relay/records/events.ts'
import { createSseReader, type SseEvent } from '../../../src/relay/providers/sse-reader.ts'
import { createRing, type Ring } from '../../../src/relay/records/ring.ts'
import type { FeedOptions } from '../../../src/dialects/relay/sse-feed.ts'
import { until } from '../../support/wait.ts'
import { serve } from '../../relay/servers.ts'

function record(seq: number, patch: Partial<CallRecord> = {}): CallRecord {
  return {
    seq,
    id: `call-${seq}`,
    sessionId: 's',
    startedAt: 1000,
    completedAt: 1500,
    model: 'm',
    provider: 'claude',
    inputTokens: 1,
    outputTokens: 2,
    costAvoidedUsd: 0.5,
    status: 'success',
    error: null,
    stopReason: 'end_turn',
    fallbackChain: [],
    promptPreview: null,
    rawTranscript: null,
    ...patch,
  }
}

interface Reader {
  res: IncomingMessage
  events: SseEvent[]
  text(): string
}

async function listen(url: string, lastEventId?: string | null): Promise<Reader> {
  const headers = lastEventId ? { 'last-event-id': lastEventId } : {}
  const [res] = (await once(get(url, { agent: false, headers }), 'response')) as [IncomingMessage]
  const events: SseEvent[] = []
  const chunks: string[] = []
  const reader = createSseReader()
  after(() => res.destroy())
  res.on('error', () => undefined)
  res.on('data', (chunk: Buffer) => {
    chunks.push(chunk.toString())
    events.push(...reader.push(chunk))
  })
  return { res, events, text: () => chunks.join('') }
}

const headerOf = (value: string | string[] | undefined) => (typeof value === 'string' ? value : undefined)

async function activity(ring: Ring<CallRecord>, pace: Partial<FeedOptions<CallRecord>> = {}) {
  const feed = activityFeed(ring, pace)
  const { url } = await serve((req, res) => feed.open(res, headerOf(req.headers['last-event-id'])))
  after(() => feed.close())
  return { feed, url }
}

const seqs = ({ events }: Reader): number[] =>
  events.filter(({ name }) => name === 'call').map(({ data }) => (JSON.parse(data) as CallRecord).seq)

test('a call is an event with a name, an id and both spellings', async () => {
  const ring = createRing<CallRecord>(1000)
  const { feed, url } = await activity(ring)
  const reader = await listen(url)
  await until(() => feed.readers === 1)
  ring.add(record(7))
  await until(() => reader.events.length === 1)
  assert.match(reader.text(), /^event: call\nid: 7\ndata: \{.*\}\n\n$/)
  const data = JSON.parse(reader.events[0]!.data) as Record<string, unknown>
  for (const key of [
    'id',
    'sessionId',
    'session_id',
    'inputTokens',
    'input_tokens',
    'costAvoidedUsd',
    'durationMs',
  ]) {
    assert.ok(key in data, key)
  }
  assert.equal(data['durationMs'], 500)
})

test('many readers get the same, made once', async () => {
  const ring = createRing<CallRecord>(1000)
  const { feed, url } = await activity(ring)
  const readers = await Promise.all(Array.from({ length: 20 }, () => listen(url)))
  await until(() => feed.readers === 20)
  let looked = 0
  const counted = new Proxy(record(1), {
    ownKeys(target) {
      looked += 1
      return Reflect.ownKeys(target)
    },
  })
  ring.add(counted)
  await until(() => readers.every(({ events }) => events.length === 1))
  assert.equal(looked, 1)
  for (const { res } of readers.slice(0, 19)) res.destroy()
  await until(() => feed.readers === 1)
})

test('who comes back gets what it missed, as far as it is there; who is new gets what is new', async () => {
  const ring = createRing<CallRecord>(
    1000,
    Array.from({ length: 600 }, (_, i) => record(i + 1)),
  )
  const { feed, url } = await activity(ring)
  const [fresh, back, old, odd, ahead] = await Promise.all(
    [null, '100', '0', 'nonsense', '99999'].map((id) => listen(url, id)),
  )
  await until(() => feed.readers === 5)
  ring.add(record(601))
  await until(() => [fresh, back, old, odd, ahead].every((reader) => seqs(reader!).at(-1) === 601))
  assert.deepEqual(
    [fresh, back, old, odd, ahead].map((reader) => [seqs(reader!).length, seqs(reader!)[0]]),
    [
      [1, 601],
      [501, 101],
      [601, 1],
      [1, 601],
      [1, 601],
    ],
  )
  assert.ok(![fresh, back, old, odd, ahead].some((reader) => reader!.text().includes('lagged')))
})

test('who comes back too late for some of it is told so first', async () => {
  const ring = createRing<CallRecord>(10)
  for (let seq = 1; seq <= 25; seq += 1) ring.add(record(seq))
  const { url } = await activity(ring)
  const [late, last] = await Promise.all(['14', '15'].map((id) => listen(url, id)))
  await until(() => [late, last].every((reader) => seqs(reader!).at(-1) === 25))
  assert.deepEqual([late!.events[0]!.name, late!.events[0]!.data], ['lagged', '{"dropped":1,"atLeast":true}'])
  assert.deepEqual([seqs(late!).length, seqs(last!).length], [10, 10])
  assert.ok(!last!.text().includes('lagged'))
  const records = Array.from({ length: 25 }, (_, i) => record(i + 1))
  const losses = [records, records.slice(-10), records.slice(-9)].map((list) => createRing(10, list).lost)
  assert.deepEqual(losses, [15, 15, 0])
})

test('who reads too slowly is told how much it has missed, and goes on', async () => {
  const ring = createRing<CallRecord>(1000)
  const { feed, url } = await activity(ring, { maxBacklog: 16_384 })
  const slow = await listen(url)
  const quick = await listen(url)
  await until(() => feed.readers === 2)
  slow.res.pause()
  const rawTranscript = 'x'.repeat(8000)
  for (let seq = 1; seq <= 3000; seq += 1) {
    ring.add(record(seq, { rawTranscript }))
    if (seq % 100 === 0) await until(() => quick.events.length === seq)
  }
  slow.res.resume()
  await until(() => slow.events.at(-1)?.data.startsWith('{"id":"call-3000"') === true)
  const marks = slow.events.filter(({ name }) => name === 'lagged')
  const dropped = marks.reduce((sum, { data }) => sum + (JSON.parse(data) as { dropped: number }).dropped, 0)
  assert.ok(dropped > 256, `${dropped} dropped`)
  const sinceMark = slow.events.length - 1 - slow.events.findLastIndex(({ name }) => name === 'lagged')
  assert.equal(sinceMark, 256)
  assert.equal(dropped + seqs(slow).length, 3000)
  assert.deepEqual(
    seqs(slow),
    seqs(slow).toSorted((a, b) => a - b),
  )
  assert.equal(seqs(quick).length, 3000)
  assert.ok(!quick.text().includes('lagged'))
})

test('comments keep the connection alive', async () => {
  const { url } = await activity(createRing<CallRecord>(10), { keepAliveMs: 5 })
  const reader = await listen(url)
  await until(() => reader.text().includes(': keep-alive\n\n: keep-alive\n\n'))
  assert.deepEqual(reader.events, [])
})

test('events are a bounded list with ids that only grow', () => {
  let now = 1000
  const events = createRelayEvents({ now: () => now, keep: 5 })
  for (let i = 0; i < 8; i += 1) events.add({ type: 'session.created', sessionId: String(i) })
  assert.deepEqual(
    events.list().map(({ id }) => id),
    [1003, 1004, 1005, 1006, 1007],
  )
  assert.deepEqual(events.list({ after: 1006 }), [
    { id: 1007, at: 1000, type: 'session.created', sessionId: '7' },
  ])
  assert.equal(events.list({ limit: 2 })[0]?.id, 1006)
  assert.equal(events.list({ after: 0, limit: 2 })[0]?.id, 1003)
  events.clear()
  assert.deepEqual(events.list(), [])
  now = 900
  events.add({ type: 'pool.changed', idle: 1, active: 0, spawning: 1 })
  assert.equal(events.list()[0]?.id, 1008)
})

test('events stream, too', async () => {
  const events = createRelayEvents({ now: () => 1000 })
  events.add({ type: 'license.refreshed', valid: true, tier: 'solo' })
  events.add({ type: 'turn.started', callId: 'c', sessionId: null, model: 'm' })
  const feed = eventFeed(events.ring)
  const { url } = await serve((req, res) => feed.open(res, headerOf(req.headers['last-event-id'])))
  const reader = await listen(url, '1000')
  await until(() => reader.events.length === 1)
  assert.match(reader.text(), /^event: turn\.started\nid: 1001\n/)
  feed.close()
  await once(reader.res, 'end')
})
