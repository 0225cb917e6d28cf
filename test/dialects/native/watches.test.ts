import assert from 'node:assert/strict'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { createSessionList } from '../../../src/dialects/native/session-list.ts'
import { createWatches } from '../../../src/dialects/native/watches.ts'
import type { SessionRow } from '../../../src/dialects/native/wire.ts'
import { startEngine } from '../../support/engine.ts'
import { until } from '../../support/wait.ts'

interface Told {
  method: string
  params: { watchId: string; changed: SessionRow[]; removed: string[] }
}

/** A connection that takes lines, and says that it is full whenever a test wants it to be. */
async function rigFor(t: TestContext) {
  const { engine, cwd, stop } = await startEngine()
  t.after(stop)
  const list = createSessionList({ engine, now: Date.now, onFault: assert.fail })
  const lines: string[] = []
  const connection = { isFull: false }
  const watches = createWatches(list, (line) => {
    lines.push(line.toString())
    return !connection.isFull
  })
  t.after(watches.closeAll)
  const told = (): Told[] => lines.map((line) => JSON.parse(line) as Told)
  const rows = (): SessionRow[] => told().flatMap(({ params }) => params.changed)
  const newSession = async (at = cwd) => (await engine.sessions.create({ agent: 'demo', cwd: at })).id
  return { engine, cwd, list, watches, lines, connection, told, rows, newSession }
}

const ALL = { archived: false, limit: 500 }

test('before its answer has been sent a watch says nothing, and then all that it has missed', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.newSession()
  const watch = await rig.watches.open(ALL)
  const other = await rig.watches.open(ALL)
  other.start()
  await rig.engine.sessions.mark({ sessionId: id, pinned: true })
  await until(() => rig.told().some(({ params }) => params.watchId === other.id), 'the other one is told')
  assert.ok(rig.told().every(({ params }) => params.watchId === other.id))
  watch.start()
  const [last] = rig.told().slice(-1)
  assert.deepEqual([last!.params.watchId, last!.params.changed[0]!.marks.pinned], [watch.id, true])
})

test('a full connection gets nothing more, and once it has room every row once', async (t) => {
  const rig = await rigFor(t)
  const ids = [await rig.newSession(), await rig.newSession(), await rig.newSession()]
  const [first, second, third] = ids as [string, string, string]
  const watch = await rig.watches.open(ALL)
  watch.start()
  const other = createWatches(rig.list, (line) => Boolean(seen.push(line.toString())))
  const seen: string[] = []
  t.after(other.closeAll)
  ;(await other.open(ALL)).start()
  rig.connection.isFull = true
  await rig.engine.sessions.mark({ sessionId: first, flags: ['n0'] })
  await until(() => rig.lines.length === 1, 'the line that fills it')
  for (let index = 1; index < 5; index++) {
    for (const sessionId of [first, second])
      await rig.engine.sessions.mark({ sessionId, flags: [`n${index}`] })
    await until(() => seen.at(-1)?.includes(`n${index}`), 'others are told each time')
  }
  await rig.engine.sessions.destroy(third)
  await until(() => seen.at(-1)?.includes(`"removed":["${third}"]`), 'others are told that it is gone')
  assert.equal(rig.lines.length, 1, 'nothing is kept for it, nor sent')
  rig.connection.isFull = false
  rig.watches.drained()
  assert.equal(rig.lines.length, 2)
  const { changed, removed } = rig.told()[1]!.params
  assert.deepEqual(
    new Map(changed.map(({ id, marks }) => [id, marks.flags])),
    new Map([
      [first, ['n4']],
      [second, ['n4']],
    ]),
  )
  assert.equal(changed.length, 2)
  assert.deepEqual(removed, [third])
  await rig.engine.sessions.mark({ sessionId: first, pinned: true })
  await until(() => rig.rows().at(-1)!.marks.pinned, 'it is up to date again')
})

test('what one brings and the next takes back is told to who has seen it', async (t) => {
  const rig = await rigFor(t)
  const id = await rig.newSession()
  const first = await rig.watches.open(ALL)
  first.start()
  await rig.engine.sessions.mark({ sessionId: id, pinned: true })
  await until(() => rig.rows().length === 1, 'it is pinned')
  // Not told yet, but whoever comes now sees it.
  await rig.engine.sessions.mark({ sessionId: id, pinned: false })
  const second = await rig.watches.open(ALL)
  const shown = JSON.parse(second.snapshot.rows[0]!) as SessionRow
  second.start()
  await rig.engine.sessions.mark({ sessionId: id, pinned: true })
  assert.equal(shown.marks.pinned, false)
  await until(
    () => rig.told().findLast(({ params }) => params.watchId === second.id)?.params.changed[0]?.marks.pinned,
    'it hears that it is pinned again',
  )
})

test('no line is much longer than a megabyte', async (t) => {
  const rig = await rigFor(t)
  const deep = join(rig.cwd, ...Array.from({ length: 18 }, () => 'd'.repeat(200)))
  mkdirSync(deep, { recursive: true })
  await Promise.all(Array.from({ length: 600 }, () => rig.newSession(deep)))
  const watch = await rig.watches.open(ALL)
  watch.start()
  await rig.engine.projects.create({ name: 'Deep', rootPath: deep })
  await until(() => new Set(rig.rows().map(({ id }) => id)).size === 600, 'all have a project')
  assert.ok(Math.max(...rig.lines.map((line) => line.length)) < 1.1 * 1024 ** 2)
  assert.ok(rig.rows().every(({ project }) => project?.name === 'Deep'))
})

test('a connection that goes away while its list is being read leaves nothing behind', async (t) => {
  const rig = await rigFor(t)
  for (let index = 0; index < 3; index++) await rig.newSession()
  const opening = rig.watches.open(ALL)
  rig.watches.closeAll()
  await assert.rejects(opening, { code: 'storage' })
  await rig.newSession()
  const watch = await rig.watches.open(ALL)
  watch.start()
  assert.equal(watch.snapshot.rows.length, 4)
  assert.deepEqual(rig.lines, [])
})
