import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { LoggedEvent } from '../../src/core/event.ts'
import { createFeed } from '../../src/core/feed.ts'
import { uuid } from '../../src/core/ids.ts'
import { openLog } from '../../src/store/log.ts'
import { randomEvent, randomly } from '../support/random.ts'
import { aSession } from '../support/session.ts'
import { until } from '../support/wait.ts'

const MIB = 1024 ** 2
const LONGEST = 40_000
const SESSIONS = ['a', 'b', 'c']

function bytesOf(events: LoggedEvent[]): number {
  return events.reduce((bytes, { json }) => bytes + Buffer.byteLength(json), 0)
}

test('readers that catch up on large events get small pages, while more arrive, and each event once', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'corral-feed-'))
  const log = openLog({ path: join(dir, 'corral.db'), bootId: 'boot', newId: uuid, warn() {} })
  t.after(async () => {
    await log.close(true)
    rmSync(dir, { recursive: true, force: true })
  })
  const feed = createFeed(log, (_message, error) => assert.fail(String(error)))
  const random = randomly(3)
  const commit = async (count: number): Promise<void> => {
    const first = log.head + 1
    const events = Array.from({ length: count }, (_, i) =>
      randomEvent(random, first + i, SESSIONS[random(3)]!, LONGEST),
    )
    await log.append({ events, writes: [] })
    feed.publish(events)
  }
  const writes = SESSIONS.map((id) => ({ op: 'session' as const, session: aSession({ id, queue: ['t1'] }) }))
  await log.append({ events: [], writes })
  await commit(700)
  const readers = Array.from({ length: 12 }, (_, i) => {
    const after = i === 0 ? 0 : random(700)
    const filter = i % 3 === 2 ? { sessionId: SESSIONS[random(3)]! } : {}
    const got: LoggedEvent[] = []
    let largest = 0
    const subscription = feed.subscribe({ after, ...filter }, (events) => {
      got.push(...events)
      largest = Math.max(largest, bytesOf(events))
      if (random(4) > 0) return true
      setImmediate(() => subscription.resume())
      return false
    })
    t.after(() => subscription.close())
    return { got, query: { after, ...filter, limit: 10_000 }, largest: () => largest }
  })
  for (let i = 0; i < 40; i++) await commit(1 + random(5))
  await until(
    () => readers.every(({ got, query }) => got.length >= log.events(query).length),
    'everybody has caught up',
  )
  for (const { got, query, largest } of readers) {
    assert.deepEqual(
      got.map(({ seq }) => seq),
      log.events(query).map(({ seq }) => seq),
    )
    assert.ok(largest() <= MIB + 2 * LONGEST + 1000, `a page had ${largest()} bytes`)
  }
})
