import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { after, test } from 'node:test'
import type { EventBody } from '../../src/core/event.ts'
import { uuid } from '../../src/core/ids.ts'
import type { Log } from '../../src/core/ports.ts'
import { FOR_EVER, NO_RULES } from '../../src/core/rule.ts'
import { openLog } from '../../src/store/log.ts'
import { SCHEMA_VERSION } from '../../src/store/schema.ts'
import { eventsOf } from '../support/asking.ts'
import { startEngine } from '../support/engine.ts'
import { aQuestion, aSession } from '../support/session.ts'

const dirs: string[] = []
after(() => dirs.forEach((dir) => rmSync(dir, { recursive: true, force: true })))

/** The tables as the first version made them. */
const FIRST_SCHEMA = `
  CREATE TABLE meta(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
  CREATE TABLE events(
    seq INTEGER PRIMARY KEY, session TEXT NOT NULL, turn TEXT, type TEXT NOT NULL, at INTEGER NOT NULL, body TEXT NOT NULL);
  CREATE INDEX events_of_session ON events(session, seq);
  CREATE TABLE deltas(
    seq INTEGER PRIMARY KEY, session TEXT NOT NULL, turn TEXT, message TEXT NOT NULL, body TEXT NOT NULL);
  CREATE TABLE sessions(
    id TEXT PRIMARY KEY, key TEXT UNIQUE, agent TEXT NOT NULL, status TEXT NOT NULL, active_at INTEGER NOT NULL,
    unfinished INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;
  CREATE INDEX sessions_by_activity ON sessions(active_at DESC, id DESC) WHERE status <> 'destroyed';
  CREATE INDEX sessions_by_status ON sessions(status);
  CREATE INDEX sessions_unfinished ON sessions(id) WHERE unfinished = 1;
  CREATE TABLE turns(
    id TEXT PRIMARY KEY, session TEXT NOT NULL, seq INTEGER NOT NULL, state TEXT NOT NULL, key TEXT, origin TEXT,
    input TEXT NOT NULL, queued_at INTEGER NOT NULL, started_at INTEGER, ended_at INTEGER, usage TEXT, error TEXT
  ) WITHOUT ROWID;
  CREATE INDEX turns_of_session ON turns(session, seq);
  CREATE INDEX turns_by_end ON turns(ended_at) WHERE ended_at IS NOT NULL;
  CREATE UNIQUE INDEX turns_by_key ON turns(session, key) WHERE key IS NOT NULL;
  CREATE TABLE approvals(
    id TEXT PRIMARY KEY, session TEXT NOT NULL, turn TEXT, requested_at INTEGER NOT NULL, body TEXT NOT NULL,
    decision TEXT, decided_by TEXT, decided_at INTEGER) WITHOUT ROWID;
  CREATE INDEX approvals_of_session ON approvals(session, requested_at);
  CREATE INDEX approvals_by_time ON approvals(requested_at);
  CREATE INDEX approvals_open ON approvals(requested_at) WHERE decision IS NULL;
  CREATE TABLE runs(
    id TEXT PRIMARY KEY, session TEXT NOT NULL, pid INTEGER NOT NULL, start_time TEXT NOT NULL, boot_id TEXT NOT NULL,
    offset INTEGER NOT NULL, turn_offset INTEGER NOT NULL) WITHOUT ROWID;
  CREATE TABLE bookmarks(
    owner TEXT NOT NULL, turn TEXT NOT NULL, session TEXT NOT NULL, seq INTEGER NOT NULL, PRIMARY KEY(owner, turn)
  ) WITHOUT ROWID;
  CREATE INDEX bookmarks_of_session ON bookmarks(owner, session);
  PRAGMA user_version = 1;
`

interface OldSession {
  id: string
  at: number
  cwd?: string
  parentId?: string | null
  nativeId?: string | null
  destroyed?: boolean
  skipUntil?: number
  /** Sessions of the very first days had no rules. */
  withoutRules?: boolean
}

/** The database of an earlier Corral, with these sessions. */
function oldHome(...sessions: OldSession[]): string {
  const home = mkdtempSync(join(tmpdir(), 'corral-old-'))
  dirs.push(home)
  const db = new DatabaseSync(join(home, 'corral.db'))
  db.exec(FIRST_SCHEMA)
  const add = db.prepare(
    'INSERT INTO sessions(id, key, agent, status, active_at, unfinished, state) VALUES (?, ?, ?, ?, ?, 0, ?)',
  )
  for (const session of sessions) {
    const status = session.destroyed ? 'destroyed' : 'idle'
    add.run(session.id, `key-${session.id}`, 'demo', status, session.at, JSON.stringify(oldState(session)))
  }
  db.exec(`
    INSERT INTO turns(id, session, seq, state, input, queued_at) VALUES ('t1', 'one', 1, 'completed', '[]', 1);
    INSERT INTO events(seq, session, type, at, body)
      VALUES (7, 'one', 'session.destroyed', 7, '{"type":"session.destroyed","seq":7,"at":7,"sessionId":"one"}'),
        (5, 'one', 'agent.init', 5, '{"type":"agent.init","seq":5,"at":5,"sessionId":"one","nativeId":"native-0"}');
  `)
  db.prepare('INSERT INTO approvals(id, session, requested_at, body) VALUES (?, ?, 3, ?)').run(
    'a1',
    'one',
    JSON.stringify(aQuestion('a1')),
  )
  db.close()
  return home
}

function oldState({ id, at, cwd = '/p', skipUntil, withoutRules, ...patch }: OldSession): object {
  const { archived: _, lastOutcome: __, rules, ...state } = aSession({ id, cwd, activeAt: at, ...patch })
  return { ...state, ...(!withoutRules && { rules: { ...rules, skipUntil: skipUntil ?? null } }) }
}

function open(home: string): Log {
  return openLog({ path: join(home, 'corral.db'), bootId: 'boot', newId: uuid, warn: assert.fail })
}

test('a log of the first version keeps what it has and answers what it could not be asked before', async () => {
  const home = oldHome(
    { id: 'one', at: 1, cwd: '/p', nativeId: 'native-1', withoutRules: true },
    { id: 'two', at: 2, cwd: '/p', parentId: 'one', nativeId: 'native-2' },
    { id: 'three', at: 3, cwd: '/q' },
    { id: 'gone', at: 4, cwd: '/r', parentId: 'three', nativeId: 'native-3', destroyed: true },
  )
  const log = open(home)
  const ids = (sessions: { id: string }[]): string[] => sessions.map(({ id }) => id)
  assert.equal(log.head, 7)
  assert.deepEqual(ids(log.sessions({ limit: 9 })), ['three', 'two', 'one'])
  assert.deepEqual(ids(log.sessions({ limit: 9, leaves: true })), ['three', 'two'])
  assert.deepEqual(ids(log.sessions({ limit: 9, archived: false })), ['three', 'two', 'one'])
  assert.deepEqual(log.sessions({ limit: 9, archived: true }), [])
  assert.deepEqual(log.recentPaths(9), [
    { path: '/q', usedAt: 3, sessions: 1 },
    { path: '/p', usedAt: 2, sessions: 2 },
  ])
  assert.equal(log.sessionByNativeId('native-2')?.id, 'two')
  assert.equal(log.sessionByNativeId('native-3'), null)
  // What was told once is known, also of sessions that are gone or have another conversation by now.
  const had = ['native-1', 'native-3', 'native-0', 'native-9'].map((id) => log.conversation('demo', id))
  assert.deepEqual(had, ['one', 'gone', 'one', null])
  assert.equal(log.conversation('claude', 'native-1'), null)
  assert.equal(log.sessionByKey('key-one')?.id, 'one')
  assert.deepEqual(log.session('one'), aSession({ id: 'one', cwd: '/p', nativeId: 'native-1', activeAt: 1 }))
  assert.equal(log.turn('t1')?.text, null)
  const approval = log.approval('a1')
  assert.deepEqual([approval?.external, approval?.timeoutAt, approval?.decision], [false, null, null])
  assert.deepEqual([log.directories(), log.due()], [[], []])
  await log.close(true)

  const db = new DatabaseSync(join(home, 'corral.db'))
  assert.equal(db.prepare('PRAGMA user_version').get()?.['user_version'], SCHEMA_VERSION)
  db.close()
  const again = open(home)
  assert.equal(again.sessions({ limit: 9 }).length, 3, 'it is done once')
  await again.close(true)
})

test('old sessions can be changed, and what is new about them is kept', async () => {
  const log = open(oldHome({ id: 'one', at: 1 }))
  const session = { ...log.session('one')!, archived: true, activeAt: 5 }
  await log.append({ events: [], writes: [{ op: 'session', session }] })
  assert.deepEqual(log.sessions({ limit: 9, archived: true }), [session])
  assert.deepEqual(log.recentPaths(9), [{ path: '/p', usedAt: 5, sessions: 1 }])
  await log.close(true)
})

test('a time of skipping that an earlier version has begun still ends', async () => {
  const skipUntil = Date.now() - 1000
  const home = oldHome(
    { id: 'one', at: 1, skipUntil },
    { id: 'lasting', at: 2, skipUntil: FOR_EVER },
    { id: 'gone', at: 3, skipUntil, destroyed: true },
  )
  const t = await startEngine({ home })
  try {
    assert.deepEqual(t.log.due(), [{ sessionId: 'one', at: skipUntil }])
    await t.event('session.changed', { sessionId: 'one' })
    assert.deepEqual(t.engine.sessions.get('one').rules, NO_RULES)
    assert.equal(eventsOf(t, 'one', 'session.changed').length, 1)
  } finally {
    await t.stop()
  }
})

test('of decisions in an older log it is known whether a human was asked, and nothing is put off', async () => {
  const home = oldHome({ id: 'one', at: 1 })
  const db = new DatabaseSync(join(home, 'corral.db'))
  const add = db.prepare(
    'INSERT INTO approvals(id, session, requested_at, body, decision, decided_by, decided_at) VALUES (?, ?, ?, ?, ?, ?, ?)',
  )
  const decision = JSON.stringify({ behavior: 'allow' })
  const decided: [id: string, by: string, at: number][] = [
    ['a2', 'mode:auto', 4],
    ['a3', 'native', 5],
    ['a4', 'rule', 6],
    ['a5', 'cli', 6],
  ]
  for (const [id, by, at] of decided) add.run(id, 'one', 3, JSON.stringify(aQuestion(id)), decision, by, at)
  db.close()
  const log = open(home)
  const ids = (asked: boolean, before?: { decidedAt: number; id: string }): string[] =>
    log.decided({ asked, limit: 9, ...(before && { before }) }).map(({ id }) => id)
  assert.deepEqual(
    [ids(true), ids(false)],
    [
      ['a5', 'a3'],
      ['a4', 'a2'],
    ],
  )
  assert.deepEqual(ids(true, { decidedAt: 6, id: 'a5' }), ['a3'])
  const [last] = log.decided({ asked: true, sessionId: 'one', limit: 1 })
  assert.deepEqual([last?.id, last?.device, last?.deferredUntil], ['a5', null, null])
  await log.close(true)
})

test('what was said before there was an index is found, but for what was removed', async () => {
  const home = oldHome({ id: 'one', at: 1 }, { id: 'gone', at: 2, destroyed: true })
  const db = new DatabaseSync(join(home, 'corral.db'))
  const add = db.prepare('INSERT INTO events(seq, session, turn, type, at, body) VALUES (?, ?, ?, ?, ?, ?)')
  const said = (seq: number, sessionId: string, body: EventBody): void => {
    add.run(
      seq,
      sessionId,
      't1',
      body.type,
      seq,
      JSON.stringify({ seq, at: seq, sessionId, turnId: 't1', ...body }),
    )
  }
  const input = [{ type: 'text' as const, text: 'ancient question' }]
  const answer = { type: 'message.completed', messageId: 'm', parent: null, aborted: false } as const
  said(10, 'one', { type: 'turn.queued', turnId: 't1', input, key: null, origin: null, position: 0 })
  said(11, 'one', { ...answer, kind: 'thinking', text: 'ancient thought' })
  said(12, 'one', { ...answer, kind: 'text', text: 'An ancientAnswer' })
  said(13, 'gone', { ...answer, kind: 'text', text: 'ancient folly' })
  db.close()
  const t = await startEngine({ home })
  try {
    const { hits } = t.engine.search({ text: 'ancient', limit: 9 })
    assert.deepEqual(
      hits.toSorted((a, b) => a.seq - b.seq).map(({ seq, role, text }) => [seq, role, text]),
      [
        [10, 'user', 'ancient question'],
        [12, 'assistant', 'An ancientAnswer'],
      ],
    )
  } finally {
    await t.stop()
  }
})
