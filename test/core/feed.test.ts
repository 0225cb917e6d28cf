import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { LoggedEvent } from '../../src/core/event.ts'
import { createFeed } from '../../src/core/feed.ts'
import type { EventQuery } from '../../src/core/ports.ts'

function notice(seq: number, sessionId = 'a'): LoggedEvent {
  const body = { type: 'agent.notice', level: 'info', code: 'x', message: 'x', data: null } as const
  return LoggedEvent.of({ seq, at: seq, sessionId, ...body })
}

/** A log in memory, as far as a feed sees one. */
function memoryLog() {
  const all: LoggedEvent[] = []
  return {
    all,
    get head() {
      return all.at(-1)?.seq ?? 0
    },
    events: ({ after = 0, sessionId, limit }: EventQuery) =>
      all.filter((e) => e.seq > after && (!sessionId || e.sessionId === sessionId)).slice(0, limit),
  }
}

const warnings: string[] = []
const warn = (message: string): void => void warnings.push(message)
const turnOfLoop = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('a reader that starts anywhere, while events arrive, gets each exactly once and in order', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  let seq = 0
  const commit = (count: number): void => {
    const batch = Array.from({ length: count }, () => notice(++seq))
    log.all.push(...batch)
    feed.publish(batch)
  }
  commit(1700)
  const readers = [0, 1, 499, 500, 501, 1699, 1700].map((after) => {
    const got: number[] = []
    feed.subscribe({ after }, (events) => void got.push(...events.map((e) => e.seq)))
    return { after, got }
  })
  for (let i = 0; i < 30; i++) {
    commit(1 + (i % 7))
    await turnOfLoop()
  }
  for (const { after, got } of readers) {
    assert.deepEqual(
      got,
      Array.from({ length: seq - after }, (_, i) => after + 1 + i),
    )
  }
})

test('a reader that comes back before the head is told has its place, and gets nothing twice', async () => {
  const all = memoryLog()
  let head = 0
  const log = {
    events: all.events,
    get head() {
      return head
    },
  }
  const feed = createFeed(log, warn)
  const got: number[] = []
  let ready = false
  const reader = feed.subscribe({ after: 0 }, (events) => {
    got.push(...events.map(({ seq }) => seq))
    return ready
  })
  const batch = [notice(1), notice(2), notice(3)]
  all.all.push(...batch)
  await turnOfLoop()
  assert.deepEqual(got, [1, 2, 3])
  ready = true
  reader.resume()
  await turnOfLoop()
  await turnOfLoop()
  head = 3
  feed.publish(batch)
  assert.deepEqual(got, [1, 2, 3])
  assert.equal(reader.cursor, 3)
})

test('events that the log shows before they are published are not delivered twice', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  const batch = [notice(1), notice(2)]
  log.all.push(...batch)
  const got: number[] = []
  feed.subscribe({ after: 0 }, (events) => void got.push(...events.map((e) => e.seq)))
  await turnOfLoop()
  feed.publish(batch)
  assert.deepEqual(got, [1, 2])
})

test('a reader that says stop gets nothing until it resumes, and then everything', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  const got: number[] = []
  let room = true
  const subscription = feed.subscribe({ after: 0 }, (events) => {
    got.push(...events.map((e) => e.seq))
    return room
  })
  await turnOfLoop()
  const commit = (seq: number): void => {
    log.all.push(notice(seq))
    feed.publish([notice(seq)])
  }
  commit(1)
  room = false
  commit(2)
  for (let seq = 3; seq < 2000; seq++) commit(seq)
  assert.deepEqual(got, [1, 2])
  room = true
  subscription.resume()
  for (let i = 0; i < 10; i++) await turnOfLoop()
  commit(2000)
  assert.deepEqual(
    got,
    Array.from({ length: 2000 }, (_, i) => i + 1),
  )
})

test('a reader of one session sees that session only, and one of chosen types those types', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  const got: string[] = []
  feed.subscribe({ after: 0, sessionId: 'b' }, (events) => void got.push(...events.map((e) => e.sessionId)))
  const typed: string[] = []
  feed.subscribe(
    { after: 0, types: ['turn.started'] },
    (events) => void typed.push(...events.map((e) => e.type)),
  )
  await turnOfLoop()
  feed.publish([notice(1, 'a'), notice(2, 'b'), notice(3, 'a'), notice(4, 'b')])
  assert.deepEqual(got, ['b', 'b'])
  assert.deepEqual(typed, [])
})

test('a closed reader gets nothing more', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  let count = 0
  const subscription = feed.subscribe({ after: 0, sessionId: 'a' }, () => void count++)
  await turnOfLoop()
  subscription.close()
  feed.publish([notice(1)])
  assert.equal(count, 0)
})

test('closing twice takes nobody else along', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  const first = feed.subscribe({ after: 0, sessionId: 'a' }, () => undefined)
  first.close()
  let count = 0
  feed.subscribe({ after: 0, sessionId: 'a' }, () => void count++)
  first.close()
  await turnOfLoop()
  feed.publish([notice(1)])
  assert.equal(count, 1)
})

test('a reader that throws is closed, said so, and the others get everything', async () => {
  const log = memoryLog()
  const feed = createFeed(log, warn)
  let count = 0
  feed.subscribe({ after: 0 }, () => {
    throw new Error('oh')
  })
  feed.subscribe({ after: 0 }, () => void count++)
  await turnOfLoop()
  feed.publish([notice(1)])
  feed.publish([notice(2)])
  assert.equal(count, 2)
  assert.equal(warnings.length, 1)
})

test('a reader that broke is forgotten, with all that it held', async () => {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  const log = memoryLog()
  const feed = createFeed(log, warn)
  const breaking = (sessionId?: string): WeakRef<object> => {
    const connection = { broken: true }
    feed.subscribe({ after: 0, ...(sessionId !== undefined && { sessionId }) }, () => {
      throw new Error(`broken: ${connection.broken}`)
    })
    return new WeakRef(connection)
  }
  const connections = [breaking(), breaking('a')]
  await turnOfLoop()
  log.all.push(notice(1))
  feed.publish([notice(1)])
  await turnOfLoop()
  collect()
  assert.deepEqual(
    connections.map((connection) => connection.deref()),
    [undefined, undefined],
  )
})
