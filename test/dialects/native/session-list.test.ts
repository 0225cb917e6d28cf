import assert from 'node:assert/strict'
import { test, type TestContext } from 'node:test'
import {
  createSessionList,
  type ListChange,
  type Watcher,
} from '../../../src/dialects/native/session-list.ts'
import type { SessionRow } from '../../../src/dialects/native/wire.ts'
import { startEngine, type TestEngine, type TestEngineOptions } from '../../support/engine.ts'
import { until } from '../../support/wait.ts'

const HOUR = 3_600_000

/** Somebody who keeps all that it is told. */
class Reader implements Watcher {
  readonly archived: boolean
  readonly changes: ListChange[] = []
  readonly rows = new Map<string, SessionRow>()
  isBroken = false

  constructor(archived = false) {
    this.archived = archived
  }

  tell(change: ListChange): void {
    this.changes.push(change)
    for (const { json } of change.changed) this.put(json)
    for (const id of change.removed) this.rows.delete(id)
  }

  broken(): void {
    this.isBroken = true
  }

  put(json: string): void {
    const row = JSON.parse(json) as SessionRow
    this.rows.set(row.id, row)
  }

  attention(id: string): string | undefined {
    return this.rows.get(id)?.attention
  }
}

async function rigFor(t: TestContext, options: TestEngineOptions = {}) {
  const engine = await startEngine(options)
  t.after(() => engine.stop())
  const now = options.clock?.now ?? Date.now
  const list = createSessionList({ engine: engine.engine, now, onFault: assert.fail })
  async function enter(reader: Reader, limit = 500) {
    const snapshot = await list.enter(reader, limit)
    t.after(() => list.leave(reader))
    for (const json of snapshot.rows) reader.put(json)
    return snapshot
  }
  return { ...engine, list, enter }
}

const newSession = ({ engine, cwd }: Pick<TestEngine, 'engine' | 'cwd'>) =>
  engine.sessions.create({ agent: 'demo', cwd })

test('a snooze ends by itself, when the clock says so', async (t) => {
  let now = 1_000_000
  const rig = await rigFor(t, { clock: { now: () => now } })
  const { id } = await newSession(rig)
  const reader = new Reader()
  await rig.enter(reader)
  await rig.engine.sessions.mark({ sessionId: id, snoozedUntil: now + 20 })
  await until(() => reader.attention(id) === 'snoozed', 'it is snoozed')
  now += 20
  await until(() => reader.attention(id) === 'done', 'it is back')
  const { counts } = reader.changes.at(-1)!
  assert.deepEqual([counts.snoozed, counts.done], [0, 1])
})

test('a snooze that ended while nobody watched has ended', async (t) => {
  let now = 1_000_000
  const rig = await rigFor(t, { clock: { now: () => now } })
  const { id } = await newSession(rig)
  await rig.engine.sessions.mark({ sessionId: id, snoozedUntil: now + HOUR })
  const first = new Reader()
  const { counts } = await rig.enter(first)
  assert.deepEqual([first.attention(id), counts.snoozed], ['snoozed', 1])
  rig.list.leave(first)
  now += HOUR
  const second = new Reader()
  await rig.enter(second)
  assert.equal(second.attention(id), 'done')
})

test('two who watch are told the same, and only what is different', async (t) => {
  const rig = await rigFor(t)
  const { id } = await newSession(rig)
  const [one, two] = [new Reader(), new Reader()]
  await rig.enter(one)
  await rig.enter(two)
  await rig.turn(id, '[[say one two three]]')
  await until(
    () => [one, two].every((reader) => reader.attention(id) === 'done'),
    'both know that it is done',
  )
  assert.deepEqual(one.changes, two.changes)
  assert.ok(
    one.changes.every((change, index) => change === two.changes[index]),
    'it was put together once',
  )
  const row = one.rows.get(id)!
  assert.equal(row.lastLine, 'one two three')
  assert.equal(row.title, '[[say one two three]]')
  assert.deepEqual([row.turnCount, row.turn, row.doing, row.lastOutcome], [1, null, null, 'completed'])
  assert.equal(row.endedSeq, rig.engine.sessions.get(id).endedSeq)
  for (const [index, { changed }] of one.changes.entries()) {
    const before = one.changes[index - 1]?.changed.find((known) => known.id === id)
    for (const { json } of changed) assert.notEqual(json, before?.json, 'no row twice')
  }
})

test('what streams is not told, however much it is', async (t) => {
  const rig = await rigFor(t)
  const { id } = await newSession(rig)
  const reader = new Reader()
  await rig.enter(reader)
  const events = await rig.turn(id, '[[drip 300 0]]')
  assert.ok(events.filter(({ type }) => type === 'message.delta').length >= 100)
  await until(() => reader.attention(id) === 'done', 'it is done')
  const others = events.filter(({ type }) => type !== 'message.delta').length
  assert.ok(reader.changes.length <= others, `${reader.changes.length} for ${others} events`)
})

test('archived sessions are another list', async (t) => {
  const rig = await rigFor(t)
  const [{ id: a }, { id: b }] = [await newSession(rig), await newSession(rig)]
  await rig.engine.sessions.configure({ sessionId: a, archived: true })
  const [others, archived] = [new Reader(), new Reader(true)]
  assert.equal((await rig.enter(others)).counts.quiet, 1)
  assert.equal((await rig.enter(archived)).counts.quiet, 1)
  assert.deepEqual([[...others.rows.keys()], [...archived.rows.keys()]], [[b], [a]])
  await rig.engine.sessions.configure({ sessionId: b, archived: true })
  await until(() => others.rows.size === 0 && archived.rows.size === 2, 'it has moved')
  await rig.engine.sessions.configure({ sessionId: a, archived: false })
  await until(() => others.rows.has(a) && !archived.rows.has(a), 'and back')
  await rig.engine.sessions.destroy(b)
  await until(() => archived.rows.size === 0, 'what is destroyed is gone')
  assert.deepEqual(archived.changes.at(-1)!.counts.quiet, 0)
})

test('with too many for the limit, those that want something come first', async (t) => {
  const rig = await rigFor(t)
  const made: string[] = []
  for (let index = 0; index < 8; index++) made.push((await newSession(rig)).id)
  await rig.engine.sessions.mark({ sessionId: made[0]!, pinned: true })
  await rig.turn(made[1]!, '[[say hi]]')
  for (const sessionId of made.slice(2)) await rig.engine.sessions.configure({ sessionId, title: 'newer' })
  const reader = new Reader()
  const { more, rows, counts } = await rig.enter(reader, 3)
  assert.deepEqual([more, rows.length], [true, 3])
  assert.ok(reader.rows.has(made[0]!) && reader.rows.has(made[1]!))
  assert.deepEqual([counts.done, counts.quiet], [1, 7], 'all are counted')
  const activity = rows.map((json) => (JSON.parse(json) as SessionRow).activeAt)
  assert.deepEqual(
    activity,
    activity.toSorted((a, b) => b - a),
  )
  await rig.engine.sessions.mark({ sessionId: made[5]!, flags: ['red'] })
  await until(() => reader.rows.has(made[5]!), 'what was left out comes when it changes')
})

test('a session belongs to the project of its directory', async (t) => {
  const rig = await rigFor(t)
  const { id } = await newSession(rig)
  const reader = new Reader()
  await rig.enter(reader)
  assert.equal(reader.rows.get(id)!.project, null)
  const project = await rig.engine.projects.create({ name: 'Home', rootPath: rig.cwd })
  await until(() => reader.rows.get(id)!.project?.name === 'Home', 'it has a project')
  await rig.engine.projects.update({ projectId: project.id, name: 'House' })
  await until(() => reader.rows.get(id)!.project?.name === 'House', 'it has another name')
  await rig.engine.projects.remove(project.id)
  await until(() => reader.rows.get(id)!.project === null, 'it has none')
})

test('of a session of an older log the last turn tells how it ended', async (t) => {
  const rig = await rigFor(t)
  const { id } = await newSession(rig)
  await rig.turn(id, '[[say one]] [[say two]]')
  await rig.host.end(id)
  await until(() => rig.engine.sessions.get(id).run === null, 'its process is gone')
  const { glance: _, endedAt, endedSeq: __, ...old } = rig.engine.sessions.get(id)
  await rig.log.append({ events: [], writes: [{ op: 'session', session: old }] })
  const reader = new Reader()
  await rig.enter(reader)
  const row = reader.rows.get(id)!
  assert.deepEqual([row.lastLine, row.endedAt, row.endedSeq], ['two', endedAt, null])
  assert.deepEqual([row.attention, row.title], ['quiet', null])
})

test('while nobody watches, nobody listens', async (t) => {
  const rig = await rigFor(t)
  const subscribed: string[] = []
  const events = {
    ...rig.engine.events,
    get head() {
      return rig.engine.events.head
    },
    subscribe: ((options, deliver, failed) => {
      const subscription = rig.engine.events.subscribe(options, deliver, failed)
      subscribed.push('open')
      return { ...subscription, close: () => (subscribed.push('closed'), subscription.close()) }
    }) satisfies TestEngine['engine']['events']['subscribe'],
  }
  const list = createSessionList({ engine: { ...rig.engine, events }, now: Date.now, onFault: assert.fail })
  assert.deepEqual(subscribed, [])
  const [one, two] = [new Reader(), new Reader(true)]
  await Promise.all([list.enter(one, 10), list.enter(two, 10)])
  assert.deepEqual(subscribed, ['open'], 'one for all of them')
  list.leave(one)
  assert.deepEqual(subscribed, ['open'])
  list.leave(two)
  assert.deepEqual(subscribed, ['open', 'closed'])
  await list.enter(one, 10)
  list.leave(one)
  assert.deepEqual(subscribed, ['open', 'closed', 'open', 'closed'])
})

test('a log that cannot be read ends the watch, and says so; the next one may try again', async (t) => {
  const rig = await rigFor(t)
  const { id } = await newSession(rig)
  let isDamaged = false
  const sessions = {
    ...rig.engine.sessions,
    get(sessionId: string) {
      if (isDamaged) throw new Error('database disk image is malformed')
      return rig.engine.sessions.get(sessionId)
    },
  }
  const faults: unknown[] = []
  const list = createSessionList({
    engine: { ...rig.engine, sessions },
    now: Date.now,
    onFault: (error) => faults.push(error),
  })
  const reader = new Reader()
  await list.enter(reader, 10)
  isDamaged = true
  await rig.engine.sessions.mark({ sessionId: id, pinned: true })
  await until(() => reader.isBroken, 'it is told')
  assert.equal(faults.length, 1)
  await assert.rejects(list.enter(new Reader(), 10), /malformed/)
  isDamaged = false
  const again = new Reader()
  assert.equal((await list.enter(again, 10)).rows.length, 1)
  list.leave(again)
})
