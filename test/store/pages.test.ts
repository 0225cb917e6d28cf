import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { test, type TestContext } from 'node:test'
import type { LoggedEvent } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { EventQuery, Log } from '../../src/core/ports.ts'
import { openLog } from '../../src/store/log.ts'
import { randomEvent, randomly } from '../support/random.ts'
import { aSession } from '../support/session.ts'

const SESSIONS = ['a', 'b', 'c']
const COUNT = 400

/** A log with events and deltas of all sizes, as they would be while three sessions run. */
async function filledLog(t: TestContext, random: (below: number) => number): Promise<Log & { path: string }> {
  const dir = mkdtempSync(join(tmpdir(), 'corral-pages-'))
  const path = join(dir, 'corral.db')
  const log = openLog({ path, bootId: 'boot', newId: uuid, warn() {} })
  t.after(async () => {
    await log.close(true)
    rmSync(dir, { recursive: true, force: true })
  })
  const writes = SESSIONS.map((id) => ({ op: 'session' as const, session: aSession({ id, queue: ['t1'] }) }))
  const events = Array.from({ length: COUNT }, (_, i) =>
    randomEvent(random, i + 1, SESSIONS[random(3)]!, 5000),
  )
  await log.append({ events, writes })
  return Object.assign(log, { path })
}

/** The first ones of a list, as the query's bounds would have it. */
function pageOf(events: LoggedEvent[], limit: number, maxBytes: number): LoggedEvent[] {
  let bytes = 0
  const last = events.findIndex(({ json }) => (bytes += Buffer.byteLength(json)) > maxBytes)
  return events.slice(0, Math.min(limit, last === -1 ? Infinity : last + 1))
}

test('pages bounded by bytes are, one after the other, what one unbounded read gives', async (t) => {
  const random = randomly(1)
  const log = await filledLog(t, random)
  for (let round = 0; round < 60; round++) {
    const filter: Partial<EventQuery> = {
      ...(random(2) === 0 && { sessionId: SESSIONS[random(3)]! }),
      ...(random(3) === 0 && { whole: true }),
      ...(random(3) === 0 && { types: ['message.delta'] }),
    }
    const bounds = { limit: 1 + random(100), maxBytes: random(20_000) }
    let rest = log.events({ ...filter, after: 0, limit: COUNT })
    for (let after = 0; rest.length > 0; after = rest[0] ? rest[0].seq - 1 : after) {
      const page = log.events({ ...filter, ...bounds, after })
      assert.deepEqual(page, pageOf(rest, bounds.limit, bounds.maxBytes))
      rest = rest.slice(page.length)
    }
    rest = log.events({ ...filter, after: 0, limit: COUNT }).toReversed()
    for (let before = COUNT + 1; rest.length > 0; before = rest[0] ? rest[0].seq + 1 : before) {
      const page = log.events({ ...filter, ...bounds, before }).toReversed()
      assert.deepEqual(page, pageOf(rest, bounds.limit, bounds.maxBytes))
      rest = rest.slice(page.length)
    }
  }
})

test('after a page that was cut, what is committed next is seen', async (t) => {
  const random = randomly(2)
  const log = await filledLog(t, random)
  for (const query of [{}, { whole: true }, { sessionId: 'a' }]) {
    assert.equal(log.events({ after: 0, limit: 100, maxBytes: 0, ...query }).length, 1)
    const seq = log.head + 1
    await log.append({ events: [randomEvent(random, seq, 'a', 10)], writes: [] })
    assert.equal(log.events({ after: seq - 1, limit: 1 })[0]?.seq, seq)
  }
})

test('in the place of an event whose bytes have changed on the disk there is a word about it', async (t) => {
  const log = await filledLog(t, randomly(2))
  const whole = log.events({ after: 0, limit: COUNT })
  const last = (isDelta: boolean): number =>
    whole.findLast(({ type }) => (type === 'message.delta') === isDelta)!.seq
  const damaged = [last(true), last(false)]
  const db = new DatabaseSync(log.path)
  db.prepare('UPDATE deltas SET body = substr(body, 2) WHERE seq = ?').run(damaged[0]!)
  db.prepare(`UPDATE events SET body = replace(body, '":', '"' || char(1)) WHERE seq = ?`).run(damaged[1]!)
  db.close()
  const read = log.events({ after: 0, limit: COUNT })
  assert.equal(read.length, whole.length)
  for (const [index, { seq, sessionId, json, event }] of read.entries()) {
    const told = JSON.parse(json) as { seq: number; sessionId: string; code?: string }
    assert.deepEqual([told.seq, told.sessionId], [seq, sessionId])
    assert.equal(event.type === 'agent.notice' && event.code === 'log_damaged', damaged.includes(seq))
    if (!damaged.includes(seq)) assert.equal(json, whole[index]!.json)
  }
})
