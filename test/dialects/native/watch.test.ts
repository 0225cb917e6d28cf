import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { connect, type NativeClient } from '../../../src/client/client.ts'
import type { SessionRow } from '../../../src/dialects/native/wire.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { until } from '../../support/wait.ts'
import { aPlace } from '../../workspace/support.ts'
import { demoSession, overSocket, overWebSocket, turn } from './support.ts'
import { countOf, dashboardOver, type Dashboard } from './watching.ts'

let daemon: TestDaemon
let client: NativeClient
before(async () => {
  daemon = await startDaemon({ env: { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' } })
  client = await connect(daemon.socket, { reconnect: true })
})
after(async () => {
  client.close()
  await daemon.stop()
})

const newSession = async (mode?: 'ask'): Promise<string> => (await demoSession(client, daemon, mode)).id

/** It has all that happened before now. */
async function upToDate(...boards: Dashboard[]): Promise<void> {
  const mark = await newSession()
  for (const board of boards) await board.see(mark, 'the newest session', () => true)
}

const sorted = (board: Dashboard): SessionRow[] =>
  [...board.rows.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1))

test('a row has what a list shows, from the question to the answer', async (t) => {
  const board = await dashboardOver(await overSocket.rawFor(t, daemon))
  const sessionId = await newSession('ask')
  const fresh = await board.see(sessionId, 'it is there', () => true)
  assert.deepEqual([fresh.attention, fresh.title, fresh.lastLine, fresh.doing], ['quiet', null, null, null])
  const input = Buffer.from('{"command":"make all"}').toString('base64')
  await client.call('session.send', { sessionId, content: `Please build it.\nNow. [[call Shell ${input}]]` })
  const asks = await board.see(sessionId, 'it asks', ({ openApprovals }) => openApprovals === 1)
  assert.deepEqual([asks.attention, asks.status, asks.title], ['needs_you', 'waiting', 'Please build it.'])
  assert.equal(asks.doing, 'Shell: make all')
  assert.ok(asks.lastLine?.startsWith('Now.'))
  assert.ok(asks.turn !== null && asks.turn.startedAt >= asks.createdAt)
  assert.equal(board.counts.approvals, 1)
  const { approvals } = await client.call('approval.list', { sessionId, open: true })
  await client.call('approval.decide', { approvalId: approvals[0]!.id, behavior: 'deny', comment: 'no' })
  const done = await board.see(sessionId, 'it is done', ({ attention }) => attention === 'done')
  assert.deepEqual([done.turn, done.doing, done.openApprovals, done.turnCount], [null, null, 0, 1])
  assert.ok(done.endedAt !== null && done.endedSeq !== null && done.endedAt <= Date.now())
  const { readSeq } = (await client.call('session.mark', { sessionId, readSeq: done.endedSeq })).marks
  assert.equal(readSeq, done.endedSeq)
  await board.see(sessionId, 'it was read', ({ attention }) => attention === 'quiet')
})

test('what fails unread needs you; the next message takes over', async (t) => {
  const board = await dashboardOver(await overSocket.rawFor(t, daemon))
  const sessionId = await newSession()
  await client.call('session.send', { sessionId, content: '[[fail 529]]' })
  const failed = await board.see(sessionId, 'it has failed', ({ attention }) => attention === 'needs_you')
  assert.equal(failed.lastOutcome, 'failed')
  assert.deepEqual(Object.keys(failed.lastError!), ['code', 'message'])
  await turn(client, sessionId, '[[say better]]')
  await board.see(sessionId, 'it is done', ({ attention }) => attention === 'done')
})

test('a long conversation says how full it is', async (t) => {
  const board = await dashboardOver(await overSocket.rawFor(t, daemon))
  const sessionId = await newSession()
  await turn(client, sessionId, `[[say hi]] ${'x'.repeat(20_000)}`)
  const { tokens } = await board.see(sessionId, 'it is told', ({ tokens: { used } }) => used !== null)
  assert.ok(tokens.used! >= 5000 && tokens.window === 100_000)
})

test('two dashboards, over two transports, agree with each other and with a third that comes later', async (t) => {
  const boards = [
    await dashboardOver(await overSocket.rawFor(t, daemon)),
    await dashboardOver(await overWebSocket.rawFor(t, daemon)),
  ]
  const ids = await Promise.all(Array.from({ length: 6 }, () => newSession()))
  await Promise.all(
    ids.map(async (sessionId, index) => {
      await client.call('session.mark', { sessionId, pinned: index % 2 === 0, flags: [`f${index}`] })
      await turn(client, sessionId, `[[drip ${10 * index + 1} 1]]`)
      if (index === 1) await client.call('session.mark', { sessionId, settled: true })
      if (index === 2) await client.call('session.mark', { sessionId, snoozedUntil: Date.now() + 3_600_000 })
      if (index === 3) await client.call('session.destroy', { sessionId })
      if (index === 4) await client.call('session.configure', { sessionId, archived: true })
      if (index === 5) await client.call('session.configure', { sessionId, title: 'named' })
    }),
  )
  // Processes that rest end, and rows say so: agree means to agree in the end.
  await upToDate(...boards)
  await until(async () => {
    const late = await dashboardOver(await overSocket.rawFor(t, daemon))
    for (const board of boards) {
      assert.deepEqual(sorted(board), sorted(late))
      assert.deepEqual(board.counts, late.counts)
      assert.deepEqual(board.counts, countOf(board.rows.values()))
    }
    return true
  }, 'all agree')
  assert.ok(!boards[0]!.rows.has(ids[3]!) && !boards[0]!.rows.has(ids[4]!))
})

test('a session in a worktree of its own belongs to the project that the worktree was made from', async (t) => {
  const board = await dashboardOver(await overSocket.rawFor(t, daemon))
  const place = aPlace()
  t.after(place.close)
  const { path: cwd } = place.repo('repo')
  const project = await client.call('project.create', { name: 'Repo', repos: [cwd] })
  const { id } = await client.call('session.create', { agent: 'demo', cwd, worktree: true })
  const own = await board.see(id, 'it is there', () => true)
  assert.deepEqual([own.worktree, own.project], [true, { id: project.id, name: 'Repo' }])
  const fork = await client.call('session.fork', { sessionId: id })
  const branched = await board.see(fork.id, 'it is there', () => true)
  assert.deepEqual([branched.worktree, branched.project?.name], [false, 'Repo'])
  await client.call('project.delete', { projectId: project.id })
  await board.see(id, 'it belongs to none', (row) => row.project === null)
  for (const sessionId of [fork.id, id]) await client.call('session.destroy', { sessionId })
  await until(() => !board.rows.has(id) && !board.rows.has(fork.id), 'both are gone')
})

test('after kill -9 marks are there, and who watches again has all that happened meanwhile', async (t) => {
  const [kept, other] = [await newSession(), await newSession()]
  const marks = { pinned: true, flags: ['red', 'blue'], settled: true, snoozedUntil: null }
  const { readSeq } = (await client.call('session.mark', { sessionId: kept, readSeq: 1, ...marks })).marks
  const first = await dashboardOver(await overSocket.rawFor(t, daemon))
  assert.deepEqual(first.rows.get(kept)!.marks, { readSeq, ...marks })
  await daemon.kill9()
  await daemon.restart()
  const unseen = await newSession()
  await client.call('session.destroy', { sessionId: other })
  const second = await dashboardOver(await overSocket.rawFor(t, daemon))
  assert.deepEqual(second.rows.get(kept), first.rows.get(kept))
  assert.ok(second.rows.has(unseen) && !second.rows.has(other))
  await client.call('session.mark', { sessionId: unseen, pinned: true })
  await second.see(unseen, 'it goes on', (row) => row.marks.pinned)
})

test('a snooze ends by itself, for everybody who watches', async (t) => {
  const board = await dashboardOver(await overSocket.rawFor(t, daemon))
  const sessionId = await newSession()
  // On a busy machine it may be over before it has begun.
  await until(async () => {
    const snoozedUntil = Date.now() + 400
    return (await client.call('session.mark', { sessionId, snoozedUntil })).attention === 'snoozed'
  }, 'it is put off')
  const back = await board.see(
    sessionId,
    'it is back',
    (row) => row.attention === 'done' && row.marks.snoozedUntil !== null,
  )
  assert.ok(back.marks.snoozedUntil! <= Date.now())
  const looked = await client.call('session.mark', { sessionId, readSeq: 1 })
  assert.deepEqual([looked.attention, looked.marks.snoozedUntil], ['quiet', null])
})

test('whose connection is full gets whole rows later, and is right in the end', async (t) => {
  const raw = await overSocket.rawFor(t, daemon)
  const board = await dashboardOver(raw)
  // The same connection reads all events, which are large: it is soon full.
  await board.call('events.subscribe', {})
  raw.pause()
  const ids = await Promise.all(Array.from({ length: 5 }, () => newSession()))
  await turn(client, ids[0]!, `[[say ok]] ${'x'.repeat(3 * 1024 ** 2)}`)
  for (const sessionId of ids) {
    for (let index = 0; index < 5; index++) {
      await client.call('session.mark', { sessionId, flags: [`n${index}`], pinned: index % 2 === 1 })
    }
    await client.call('session.configure', { sessionId, title: 'last' })
  }
  const gone = ids.pop()!
  await client.call('session.destroy', { sessionId: gone })
  raw.resume()
  for (const sessionId of ids) {
    const row = await board.see(sessionId, 'the last title', ({ title }) => title === 'last')
    assert.deepEqual(row.marks.flags, ['n4'])
  }
  await until(() => !board.rows.has(gone), 'what is destroyed is gone')
  await until(
    () => assert.deepEqual(board.counts, countOf(board.rows.values())) === undefined,
    'the counts are right',
  )
})

test('a watch can be ended, and a connection has a few only', async (t) => {
  const board = await dashboardOver(await overSocket.rawFor(t, daemon))
  const others: string[] = []
  for (let index = 0; index < 7; index++) {
    others.push((await board.call<{ watchId: string }>('session.watch', { archived: true })).watchId)
  }
  await assert.rejects(board.call('session.watch'), { code: 'invalid' })
  assert.deepEqual(await board.call('session.unwatch', { watchId: others[0] }), { closed: true })
  assert.deepEqual(await board.call('session.unwatch', { watchId: others[0] }), { closed: false })
  await board.call('session.watch', { archived: true })
  assert.deepEqual(await board.call('session.unwatch', { watchId: board.id }), { closed: true })
  const { told } = board
  const other = await dashboardOver(await overSocket.rawFor(t, daemon))
  await upToDate(other)
  assert.equal(board.told, told, 'nothing more comes')
  for (const params of [{ limit: 0 }, { limit: 2001 }, { archived: 'yes' }, { other: 1 }]) {
    await assert.rejects(board.call('session.watch', params), { code: 'invalid' })
  }
})

test('two thousand sessions are one list', async (t) => {
  const made = new Set<string>()
  while (made.size < 2000) {
    const some = Array.from({ length: Math.min(100, 2000 - made.size) }, () => newSession())
    for (const id of await Promise.all(some)) made.add(id)
  }
  const whole = await dashboardOver(await overSocket.rawFor(t, daemon), { limit: 2000 })
  // A session of another test may have changed since, and come as well.
  assert.ok(whole.rows.size >= 2000)
  assert.equal(whole.more, true, 'there are those of the other tests')
  const few = await dashboardOver(await overSocket.rawFor(t, daemon))
  assert.ok(few.rows.size >= 500 && few.rows.size < 600)
  assert.deepEqual(few.counts, whole.counts)
  const { counts } = whole
  assert.ok(counts.needs_you + counts.working + counts.done + counts.snoozed + counts.quiet > 2000)
  const left = [...made].find((id) => !few.rows.has(id))!
  await client.call('session.mark', { sessionId: left, pinned: true })
  await few.see(left, 'what was left out comes when it changes', ({ marks }) => marks.pinned)
  const again = await dashboardOver(await overSocket.rawFor(t, daemon), { limit: 100 })
  assert.ok(again.rows.has(left), 'and what is pinned is left out no more')
  const project = await client.call('project.create', { name: 'All', rootPath: daemon.project })
  await until(
    () => [...few.rows.values()].every((row) => row.project?.id === project.id),
    'all of them know the project',
  )
})
