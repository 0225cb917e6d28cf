import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import { CorralError } from '../../src/core/error.ts'
import { LoggedEvent, type EventBody } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Log, SessionQuery } from '../../src/core/ports.ts'
import { FOR_EVER, NO_RULES } from '../../src/core/rule.ts'
import type { Session } from '../../src/core/session.ts'
import { openLog } from '../../src/store/log.ts'
import { SCHEMA_VERSION } from '../../src/store/schema.ts'
import { aQuestion, aSession } from '../support/session.ts'

const dirs: string[] = []
after(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })))

function freshDir(): string {
  const dir = mkdtempSync(join(tmpdir(), 'corral-log-'))
  dirs.push(dir)
  return dir
}

function open(dir: string, warnings: string[] = [], bootId = 'boot'): Log {
  return openLog({
    path: join(dir, 'corral.db'),
    bootId,
    newId: uuid,
    warn: (message) => warnings.push(message),
  })
}

function event(seq: number, sessionId: string, body: EventBody, at = seq): LoggedEvent {
  return LoggedEvent.of({ seq, at, sessionId, ...body })
}

function delta(seq: number, sessionId: string, messageId = 'm', text = `t${seq}`): LoggedEvent {
  return event(seq, sessionId, { type: 'message.delta', messageId, kind: 'text', text, parent: null })
}

function notice(seq: number, sessionId: string, at = seq): LoggedEvent {
  return event(
    seq,
    sessionId,
    { type: 'agent.notice', level: 'info', code: 'x', message: 'x', data: null },
    at,
  )
}

function newSession(id: string, at = 1, patch: Partial<Session> = {}): Session {
  return aSession({ id, createdAt: at, activeAt: at, ...patch })
}

test('what is appended is read back in order, by cursor, by session and backwards', async () => {
  const log = open(freshDir())
  const events = Array.from({ length: 20 }, (_, i) =>
    i % 3 === 2 ? delta(i + 1, 'a') : notice(i + 1, i % 2 ? 'a' : 'b'),
  )
  const busy = newSession('a', 1, { queue: ['t1'] })
  await log.append({ events, writes: [{ op: 'session', session: busy }] })
  const seqs = (found: LoggedEvent[]): number[] => found.map((e) => e.seq)
  assert.equal(log.head, 20)
  assert.deepEqual(seqs(log.events({ after: 5, limit: 4 })), [6, 7, 8, 9])
  assert.deepEqual(seqs(log.events({ before: 10, limit: 4 })), [6, 7, 8, 9])
  assert.deepEqual(seqs(log.events({ before: 21, limit: 3, whole: true })), [17, 19, 20])
  assert.deepEqual(seqs(log.events({ after: 0, before: 4, limit: 10 })), [1, 2, 3])
  assert.deepEqual(
    seqs(log.events({ after: 0, sessionId: 'a', types: ['message.delta'], limit: 3 })),
    [3, 6, 9],
  )
  assert.deepEqual(log.events({ after: 1, limit: 1 })[0]!.event, events[1]!.event)
  await log.close(true)
})

test('deltas of a complete message leave the log and their numbers are not used again', async () => {
  const dir = freshDir()
  let log = open(dir)
  await log.append({ events: [delta(1, 'a', 'one'), delta(2, 'b', 'one'), delta(3, 'a', 'two')], writes: [] })
  const drop = { op: 'deltas.drop', sessionId: 'a', messageId: 'one', from: 1 } as const
  await log.append({ events: [notice(4, 'a')], writes: [drop] })
  assert.deepEqual(
    log.events({ after: 0, limit: 9 }).map((e) => e.seq),
    [2, 3, 4],
  )
  await log.close(true)
  log = open(dir)
  assert.equal(log.head, 4)
  await log.close(true)
})

test('a log that a living process has is refused to another one, a copy of it is not', async () => {
  const dir = freshDir()
  const path = join(dir, 'corral.db')
  const living = new Set([1])
  const openAs = (pid: number, at = path): Log =>
    openLog({
      path: at,
      bootId: 'boot',
      newId: uuid,
      warn: assert.fail,
      holding: {
        self: { pid, startTime: 'then', bootId: 'boot' },
        lives: (holder) => living.has(holder.pid),
      },
    })
  const first = openAs(1)
  await first.append({ events: [notice(1, 'a')], writes: [] })
  assert.throws(() => openAs(2), /A Corral daemon \(pid 1\) already uses this data directory/)
  const copy = join(freshDir(), 'corral.db')
  cpSync(path, copy)
  await openAs(2, copy).close(true)

  living.delete(1) // it was killed
  const second = openAs(2)
  living.add(2)
  assert.throws(() => openAs(3), /pid 2/)
  await second.close(true)
  await openAs(3).close(true)
  await first.close(false)
})

test('a batch that fails takes everything gathered behind it along, and the log goes on', async () => {
  const log = open(freshDir())
  let rollbacks = 0
  log.onRollback = () => rollbacks++
  await log.append({ events: [notice(1, 'a')], writes: [] })
  const failing = log.append({ events: [notice(1, 'a')], writes: [] }) // the same seq again
  const behind = new Promise((resolve) => setImmediate(resolve)).then(() => undefined)
  const alsoRefused = log.append({ events: [notice(2, 'a')], writes: [] })
  await assert.rejects(failing, (error: unknown) => error instanceof CorralError && error.code === 'storage')
  await assert.rejects(alsoRefused)
  await behind
  assert.equal(rollbacks, 1)
  assert.equal(log.head, 1)
  await log.append({ events: [notice(2, 'a')], writes: [] })
  assert.equal(log.head, 2)
  await log.close(true)
})

test('what is large is written elsewhere: nobody is held up, also not right after a quiet time', async () => {
  const log = open(freshDir())
  const next = (): Promise<'elsewhere'> => new Promise((resolve) => setImmediate(resolve, 'elsewhere'))
  const written = async (seq: number, text: string) => {
    const appended = log.append({ events: [delta(seq, 'a', 'm', text)], writes: [] }).then(() => 'here')
    const where = await Promise.race([appended, next()])
    await appended
    return where
  }
  assert.equal(await written(1, 'small'), 'here')
  assert.equal(await written(2, 'x'.repeat(2 * 1024 ** 2)), 'elsewhere')
  assert.equal(log.events({ after: 1, limit: 1 })[0]?.event.type, 'message.delta')
  await log.close(true)
})

test('an approval whose id is taken is not passed over', async () => {
  const log = open(freshDir())
  const undecided = { decision: null, decidedBy: null, decidedAt: null, deferredUntil: null }
  const row = { turnId: null, requestedAt: 1, ...undecided }
  const approval = { ...aQuestion('q'), ...row, sessionId: 'a', external: false, timeoutAt: null }
  await log.append({ events: [], writes: [{ op: 'approval', approval }] })
  await assert.rejects(
    log.append({ events: [], writes: [{ op: 'approval', approval: { ...approval, sessionId: 'b' } }] }),
  )
  assert.equal(log.approval('q')?.sessionId, 'a')
  await log.close(true)
})

test('sessions are listed by activity, page by page, without destroyed ones', async () => {
  const log = open(freshDir())
  const writes = Array.from({ length: 25 }, (_, i) => ({
    op: 'session' as const,
    session: newSession(`s${String(i).padStart(2, '0')}`, i, { destroyed: i === 24 }),
  }))
  await log.append({ events: [], writes })
  const first = log.sessions({ limit: 10 })
  assert.deepEqual(
    first.map((s) => s.id),
    ['s23', 's22', 's21', 's20', 's19', 's18', 's17', 's16', 's15', 's14'],
  )
  const last = first.at(-1)!
  const second = log.sessions({ limit: 10, before: { activeAt: last.activeAt, id: last.id } })
  assert.equal(second[0]!.id, 's13')
  assert.deepEqual(log.countSessions(), { idle: 24, running: 0, waiting: 0, paused: 0 })
  await log.close(true)
})

test('the log id stays over a clean stop and over a crash of the daemon, and changes when the machine went down', async () => {
  const dir = freshDir()
  const ids: string[] = []
  for (const [bootId, clean] of [
    ['one', false],
    ['one', true],
    ['two', false],
    ['two', false],
    ['three', false],
  ] as const) {
    const log = open(dir, [], bootId)
    ids.push(log.id)
    await log.close(clean)
  }
  assert.equal(ids[1], ids[0], 'same boot')
  assert.equal(ids[2], ids[0], 'clean stop before the boot')
  assert.equal(ids[3], ids[0], 'same boot again')
  assert.notEqual(ids[4], ids[0], 'unclean stop, then another boot')
})

test('a log of a newer version is refused and left alone', async () => {
  const dir = freshDir()
  await open(dir).close(true)
  const db = new DatabaseSync(join(dir, 'corral.db'))
  db.exec(`PRAGMA user_version = ${SCHEMA_VERSION + 1}`)
  db.close()
  assert.throws(() => open(dir), /newer Corral .*Upgrade/)
  assert.deepEqual(
    readdirSync(dir).filter((name) => name.includes('corrupt')),
    [],
  )
})

test('a damaged log is set aside, said where, and never deleted', async () => {
  const dir = freshDir()
  writeFileSync(join(dir, 'corral.db'), 'this is no database, whatever its name may say'.repeat(100))
  const warnings: string[] = []
  const log = open(dir, warnings)
  const aside = readdirSync(dir).find((name) => name.includes('.corrupt-'))
  assert.ok(aside)
  assert.match(warnings.join(), new RegExp(aside))
  await log.append({ events: [notice(1, 'a')], writes: [] })
  await log.close(true)
})

test('retention removes old events and destroyed sessions, and keeps what still runs', async () => {
  const dir = freshDir()
  const log = open(dir)
  const destroyed = newSession('gone', 5, { destroyed: true })
  await log.append({
    events: [notice(1, 'a', 10), notice(2, 'a', 20), notice(3, 'gone', 21), notice(4, 'a', 30)],
    writes: [
      { op: 'session', session: newSession('a') },
      { op: 'session', session: destroyed },
    ],
  })
  assert.equal(await log.retain({ eventsBefore: 15, destroyedBefore: null, limit: 100 }), 1)
  assert.equal(log.oldest, 2)
  assert.equal(await log.retain({ eventsBefore: null, destroyedBefore: 10, limit: 100 }), 1)
  assert.equal(log.session('gone'), null)
  assert.equal(await log.retain({ eventsBefore: 99, destroyedBefore: null, limit: 100 }), 2)
  await log.close(true)
  const again = open(dir)
  assert.equal(again.head, 4, 'the last number is remembered although its event is gone')
  await again.close(true)
})

test('what a session branched off stays as long as that one does, and goes after it', async () => {
  const log = open(freshDir())
  const gone = (id: string, parentId: string | null) => newSession(id, 5, { destroyed: true, parentId })
  const tidy = () => log.retain({ eventsBefore: null, destroyedBefore: 10, limit: 100 })
  await log.append({
    events: [notice(1, 'old'), notice(2, 'middle'), notice(3, 'living'), notice(4, 'alone')],
    writes: [
      { op: 'session', session: gone('old', null) },
      { op: 'session', session: gone('middle', 'old') },
      { op: 'session', session: newSession('living', 5, { parentId: 'middle' }) },
      { op: 'session', session: gone('alone', null) },
    ],
  })
  const left = () => ['old', 'middle', 'living', 'alone'].filter((id) => log.session(id) !== null)
  assert.equal(await tidy(), 1)
  assert.deepEqual(left(), ['old', 'middle', 'living'])
  assert.equal(log.events({ sessionId: 'old', after: 0, limit: 10 }).length, 1)
  await log.append({ events: [], writes: [{ op: 'session', session: gone('living', 'middle') }] })
  for (let round = 0; (await tidy()) > 0; round++) assert.ok(round < 3)
  assert.deepEqual(left(), [])
  await log.close(true)
})

test('sessions are found by what they are: archived, a leaf, a conversation, a directory', async () => {
  const log = open(freshDir())
  const sessions = [
    newSession('ancestor', 1, { cwd: '/a', nativeId: 'n1' }),
    newSession('child', 2, { cwd: '/a', parentId: 'ancestor', nativeId: 'n1' }),
    newSession('put-away', 3, { cwd: '/b', archived: true }),
    newSession('childless', 4, { cwd: '/a' }),
    newSession('gone', 5, { cwd: '/c', parentId: 'childless', nativeId: 'n2', destroyed: true }),
  ]
  await log.append({ events: [], writes: sessions.map((session) => ({ op: 'session', session })) })
  const ids = (query: Omit<SessionQuery, 'limit'>): string[] =>
    log.sessions({ limit: 9, ...query }).map(({ id }) => id)
  assert.deepEqual(ids({}), ['childless', 'put-away', 'child', 'ancestor'])
  assert.deepEqual(ids({ archived: true }), ['put-away'])
  assert.deepEqual(ids({ archived: false }), ['childless', 'child', 'ancestor'])
  assert.deepEqual(ids({ leaves: true }), ['childless', 'put-away', 'child'])
  assert.deepEqual(ids({ leaves: true, archived: false }), ['childless', 'child'])
  assert.deepEqual(ids({ leaves: true, before: { activeAt: 4, id: 'childless' } }), ['put-away', 'child'])
  assert.equal(log.sessionByNativeId('n1')?.id, 'child', 'the one that was active last')
  assert.equal(log.sessionByNativeId('n2'), null)
  assert.deepEqual(log.recentPaths(9), [
    { path: '/a', usedAt: 4, sessions: 3 },
    { path: '/b', usedAt: 3, sessions: 1 },
  ])
  assert.deepEqual(
    log.recentPaths(1).map(({ path }) => path),
    ['/a'],
  )
  const back = { ...sessions[2]!, archived: false, nativeId: 'n3' }
  await log.append({ events: [], writes: [{ op: 'session', session: back }] })
  assert.deepEqual(ids({ archived: true }), [])
  assert.equal(log.sessionByNativeId('n3')?.id, 'put-away')
  await log.close(true)
})

test('what falls due is known without looking at every session, until it is over', async () => {
  const log = open(freshDir())
  const asked = { turnId: null, requestedAt: 1, decision: null, external: true, timeoutAt: 50 }
  const waiting = newSession('waiting', 1, { approvals: [{ ...aQuestion('a'), ...asked }] })
  const skipping = newSession('skipping', 1, { rules: { ...NO_RULES, skipUntil: 70 } })
  const lasting = newSession('lasting', 1, { rules: { ...NO_RULES, skipUntil: FOR_EVER } })
  const all = [waiting, skipping, lasting, newSession('plain')]
  await log.append({ events: [], writes: all.map((session) => ({ op: 'session', session })) })
  assert.deepEqual(
    log.due().toSorted((a, b) => a.at - b.at),
    [
      { sessionId: 'waiting', at: 50 },
      { sessionId: 'skipping', at: 70 },
    ],
  )
  const over = [
    { ...waiting, approvals: [] },
    { ...skipping, destroyed: true },
  ]
  await log.append({ events: [], writes: over.map((session) => ({ op: 'session', session })) })
  assert.deepEqual(log.due(), [])
  await log.close(true)
})

test('rules of a directory are kept, replaced and read back by path', async () => {
  const dir = freshDir()
  const log = open(dir)
  const rules = { ...NO_RULES, allow: ['Bash(ls)'], skipUntil: 5 }
  for (const directory of [
    { path: '/b', rules: NO_RULES },
    { path: '/a', rules: NO_RULES },
    { path: '/b', rules },
  ])
    await log.append({ events: [], writes: [{ op: 'directory', directory }] })
  await log.close(true)
  const again = open(dir)
  assert.deepEqual(again.directories(), [
    { path: '/a', rules: NO_RULES },
    { path: '/b', rules },
  ])
  await again.close(true)
})

test('what is no batch gets its turn however much is appended', async () => {
  const log = open(freshDir())
  let appended = 0
  let retained = false
  async function saturate(): Promise<void> {
    while (!retained && appended < 2000) await log.append({ events: [notice(++appended, 'a')], writes: [] })
  }
  const writers = [saturate(), saturate()]
  await Promise.resolve() // a commit is under way
  await log.retain({ eventsBefore: 0, destroyedBefore: null, limit: 10 }).then(() => (retained = true))
  await Promise.all(writers)
  assert.ok(appended < 2000, `${appended} commits came before it`)
  assert.equal(log.head, appended)
  await log.close(true)
})

test('what was appended before a log is closed is in it', async () => {
  const dir = freshDir()
  const log = open(dir)
  const appended = log.append({ events: [notice(1, 'a')], writes: [] })
  await Promise.all([appended, log.close(true)])
  const again = open(dir)
  assert.equal(again.head, 1)
  await again.close(true)
})
