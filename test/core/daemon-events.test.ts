import assert from 'node:assert/strict'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, test } from 'node:test'
import { CorralError } from '../../src/core/error.ts'
import { NO_SESSION, type LoggedEvent } from '../../src/core/event.ts'
import { EVENT_TYPES, toWire } from '../../src/dialects/humanlayer/events.ts'
import { startEngine, type TestEngine } from '../support/engine.ts'

let t: TestEngine
beforeEach(async () => {
  t = await startEngine()
})
afterEach(() => t.stop())

const refused = (code: string) => (error: unknown) => error instanceof CorralError && error.code === code

test('the daemon has the name that it was given last, also after a restart', async () => {
  assert.equal(t.engine.daemon.name, null)
  await t.engine.daemon.setName('  Mac Mini ')
  assert.equal(t.engine.daemon.name, 'Mac Mini')
  await t.engine.daemon.setName('Mac Mini')
  await t.engine.daemon.setName('Küche')
  const names = t.engine.events
    .read({ after: 0, types: ['daemon.renamed'], limit: 9 })
    .map(({ event }) => event.type === 'daemon.renamed' && event.name)
  assert.deepEqual(names, ['Mac Mini', 'Küche'], 'the same name again is no news')
  await t.abandon()
  t = await startEngine({ home: t.home })
  assert.equal(t.engine.daemon.name, 'Küche')
})

test('a name is one line of text', async () => {
  for (const name of ['', '  ', 'a\nb', 'a\u0000b', 'a\u2028b', '\ud800', 'x'.repeat(201)]) {
    await assert.rejects(t.engine.daemon.setName(name), refused('invalid'), JSON.stringify(name))
  }
  assert.equal(t.engine.daemon.name, null)
})

test('what belongs to no session has its seq, is live and replayed, and no session sees it', async () => {
  const cwd = t.cwd
  const { id } = await t.engine.sessions.create({ agent: 'demo', cwd })
  const before = t.engine.events.head
  const live: LoggedEvent[] = []
  const ofSession: LoggedEvent[] = []
  const all = t.engine.events.subscribe({ after: before }, (events) => void live.push(...events))
  const one = t.engine.events.subscribe(
    { after: before, sessionId: id },
    (events) => void ofSession.push(...events),
  )
  await t.engine.daemon.setName('first')
  await t.turn(id, '[[say hello]]')
  await t.engine.daemon.setName('second')
  all.close()
  one.close()
  const house = live.filter(({ sessionId }) => sessionId === NO_SESSION)
  assert.deepEqual(
    house.map(({ type }) => type),
    ['daemon.renamed', 'daemon.renamed'],
  )
  assert.equal(house[0]!.seq, before + 1)
  assert.ok(ofSession.length > 0)
  assert.ok(ofSession.every(({ sessionId }) => sessionId === id))
  assert.ok(t.engine.events.read({ after: 0, sessionId: id, limit: 999 }).every((e) => e.sessionId === id))
  assert.throws(
    () => t.engine.events.read({ after: 0, sessionId: NO_SESSION, limit: 9 }),
    refused('session_not_found'),
  )
  assert.deepEqual(
    house.flatMap((event) => toWire(t.engine, event, [])),
    [],
    'nothing to a HumanLayer client',
  )
  assert.ok(!EVENT_TYPES.includes('daemon.renamed'))

  await t.abandon()
  t = await startEngine({ home: t.home })
  const replayed = t.engine.events.read({ after: before, types: ['daemon.renamed'], limit: 9 })
  assert.deepEqual(
    replayed.map(({ json }) => json),
    house.map(({ json }) => json),
  )
})

test('a change that cannot be written down has not happened, and no number is lost or used twice', async () => {
  await t.engine.daemon.setName('kept')
  const db = new DatabaseSync(join(t.home, 'corral.db'))
  try {
    db.exec(`CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT raise(ABORT, 'the disk is full'); END`)
    await assert.rejects(t.engine.daemon.setName('lost'), refused('storage'))
    db.exec('DROP TRIGGER full')
  } finally {
    db.close()
  }
  assert.equal(t.engine.daemon.name, 'kept')
  const before = t.engine.events.head
  await t.engine.daemon.setName('next')
  assert.equal(t.engine.events.head, before + 1)
})

test('names that are given at the same time are given one after the other', async () => {
  const names = Array.from({ length: 20 }, (_, i) => `name ${i}`)
  await Promise.all(names.map((name) => t.engine.daemon.setName(name)))
  const said = t.engine.events
    .read({ after: 0, types: ['daemon.renamed'], limit: 99 })
    .map(({ event }) => event.type === 'daemon.renamed' && event.name)
  assert.deepEqual(said, names)
  assert.equal(t.engine.daemon.name, names.at(-1))
})
