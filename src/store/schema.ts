import type { DatabaseSync } from 'node:sqlite'
import { CorralError } from '../core/error.ts'
import { COPY_TABLES } from './copies.ts'
import { indexAll, SEARCH_TABLE } from './search.ts'
import { WORKSPACE_TABLES } from './workspace.ts'

/**
 * Numbered steps, never edited once released. The log itself is two tables: `events` for what stays, and `deltas` for streamed
 * pieces of messages that are not complete yet; one `seq` runs through both.
 */
const MIGRATIONS: readonly (string | ((db: DatabaseSync) => void))[] = [
  `
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
  `,
  `
  ALTER TABLE sessions ADD COLUMN cwd TEXT NOT NULL DEFAULT '';
  ALTER TABLE sessions ADD COLUMN parent TEXT;
  ALTER TABLE sessions ADD COLUMN native_id TEXT;
  ALTER TABLE sessions ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
  ALTER TABLE sessions ADD COLUMN due_at INTEGER;
  UPDATE sessions SET cwd = state ->> 'cwd', parent = state ->> 'parentId', native_id = state ->> 'nativeId';
  UPDATE sessions SET due_at = state ->> '$.rules.skipUntil'
    WHERE status <> 'destroyed' AND state ->> '$.rules.skipUntil' < 8640000000000000;
  CREATE INDEX sessions_of_parent ON sessions(parent) WHERE parent IS NOT NULL;
  CREATE INDEX sessions_by_native_id ON sessions(native_id) WHERE native_id IS NOT NULL;
  CREATE INDEX sessions_due ON sessions(due_at) WHERE due_at IS NOT NULL;
  CREATE INDEX sessions_of_path ON sessions(cwd, active_at) WHERE status <> 'destroyed';

  ALTER TABLE turns ADD COLUMN text TEXT;

  CREATE TABLE projects(path TEXT PRIMARY KEY, rules TEXT NOT NULL) WITHOUT ROWID;
  `,
  'ALTER TABLE runs ADD COLUMN process TEXT',
  `
  ALTER TABLE projects RENAME TO directories;
  CREATE TABLE projects(id TEXT PRIMARY KEY, created_at INTEGER NOT NULL, state TEXT NOT NULL) WITHOUT ROWID;
  `,
  `
  CREATE TABLE devices(
    id TEXT PRIMARY KEY, token_hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL, platform TEXT NOT NULL, scopes TEXT NOT NULL,
    paired_at INTEGER NOT NULL, last_seen_at INTEGER) WITHOUT ROWID;
  `,
  (db) => {
    db.exec(SEARCH_TABLE)
    indexAll(db)
  },
  `CREATE INDEX sessions_by_origin ON sessions(state ->> 'origin', active_at DESC, id DESC)
   WHERE status <> 'destroyed' AND state ->> 'origin' IS NOT NULL`,
  `
  ALTER TABLE turns ADD COLUMN agent TEXT;
  ALTER TABLE turns ADD COLUMN mode TEXT;
  ALTER TABLE turns ADD COLUMN model TEXT;
  `,
  "DELETE FROM search WHERE rowid IN (SELECT seq FROM turns WHERE state = 'cancelled')",
  `
  ALTER TABLE approvals ADD COLUMN asked INTEGER;
  ALTER TABLE approvals ADD COLUMN device TEXT;
  ALTER TABLE approvals ADD COLUMN deferred_until INTEGER;
  UPDATE approvals SET asked = decided_by NOT LIKE 'mode:%' AND decided_by NOT IN ('rule', 'interrupt', 'approval')
    WHERE decision IS NOT NULL;
  CREATE INDEX approvals_by_decision ON approvals(asked, decided_at DESC, id DESC) WHERE asked IS NOT NULL;
  `,
  WORKSPACE_TABLES,
  `
  CREATE TABLE conversations(
    agent TEXT NOT NULL, id TEXT NOT NULL, session TEXT NOT NULL, PRIMARY KEY(agent, id)) WITHOUT ROWID;
  INSERT OR IGNORE INTO conversations(agent, id, session)
    SELECT agent, native_id, id FROM sessions WHERE native_id IS NOT NULL ORDER BY active_at DESC;
  INSERT OR IGNORE INTO conversations(agent, id, session)
    SELECT sessions.agent, body ->> 'nativeId', session FROM events JOIN sessions ON sessions.id = session
    WHERE type = 'agent.init' AND body ->> 'nativeId' IS NOT NULL;
  `,
  COPY_TABLES,
]

export const SCHEMA_VERSION = MIGRATIONS.length

/** Brings a database up to date; a log of a newer Corral is left alone. */
export function migrate(db: DatabaseSync, path: string): void {
  const found = Number(db.prepare('PRAGMA user_version').get()?.['user_version'] ?? 0)
  if (found > SCHEMA_VERSION) {
    throw new CorralError(
      'storage',
      `The log ${path} was written by a newer Corral (schema ${found}; this one knows ${SCHEMA_VERSION}). ` +
        'Upgrade Corral, or point CORRAL_HOME at another directory.',
      { path, found, known: SCHEMA_VERSION },
    )
  }
  for (let version = found; version < SCHEMA_VERSION; version++) {
    db.exec('BEGIN IMMEDIATE')
    try {
      const step = MIGRATIONS[version]!
      if (typeof step === 'string') db.exec(step)
      else step(db)
      db.exec(`PRAGMA user_version = ${version + 1}`)
      db.exec('COMMIT')
    } catch (error) {
      db.exec('ROLLBACK')
      throw error
    }
  }
}
