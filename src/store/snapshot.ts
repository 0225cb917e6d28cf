import { DatabaseSync } from 'node:sqlite'
import { CorralError } from '../core/error.ts'
import { SCHEMA_VERSION } from './schema.ts'

export interface SnapshotFacts {
  schema: number
  logId: string | null
  /** The last event. */
  head: number
  sessions: number
}

/**
 * Writes the log, as it is at this moment, into a new file. Whoever writes meanwhile is not held up, and is not in it: one
 * transaction reads all of it.
 */
export function snapshotLog(path: string, target: string): SnapshotFacts {
  const db = new DatabaseSync(path, { timeout: 5000 })
  try {
    db.prepare('VACUUM INTO ?').run(target)
  } catch (error) {
    throw new CorralError(
      'storage',
      `The log ${path} cannot be copied: ${(error as Error).message}`,
      { path },
      error,
    )
  } finally {
    db.close()
  }
  return checkLog(target)
}

/** What is in a log that nobody uses. Throws when it is damaged, or of a newer Corral. */
export function checkLog(path: string): SnapshotFacts {
  const db = new DatabaseSync(path)
  try {
    const value = (sql: string): unknown => Object.values(db.prepare(sql).get() ?? {})[0]
    const schema = Number(value('PRAGMA user_version'))
    if (schema > SCHEMA_VERSION) throw newer(path, schema)
    const found = value('PRAGMA integrity_check')
    if (found !== 'ok') throw new CorralError('storage', `${path} is damaged: ${String(found)}`, { path })
    return {
      schema,
      logId: (value("SELECT value FROM meta WHERE key = 'log_id'") as string | undefined) ?? null,
      head: Number(
        value('SELECT max(seq) FROM (SELECT max(seq) AS seq FROM events UNION SELECT max(seq) FROM deltas)'),
      ),
      sessions: Number(value("SELECT count(*) FROM sessions WHERE status <> 'destroyed'")),
    }
  } finally {
    db.close()
  }
}

function newer(path: string, found: number): CorralError {
  return new CorralError(
    'storage',
    `This backup was made by a newer Corral (schema ${found}; this one knows ${SCHEMA_VERSION}). Upgrade Corral first.`,
    { path, found, known: SCHEMA_VERSION },
  )
}

/**
 * Makes a restored log one of its own. It has another log id, so that cursors of before get an honest reset; and the processes that
 * it speaks of are of another life: their numbers, which may be anybody's by now, fit nothing any more.
 */
export function disownPast(path: string): void {
  const db = new DatabaseSync(path)
  try {
    db.exec(`BEGIN IMMEDIATE;
      DELETE FROM meta WHERE key IN ('log_id', 'boot_id', 'clean');
      UPDATE runs SET boot_id = 'restored from a backup';
      COMMIT`)
  } finally {
    db.close()
  }
}

/** Whether a file has a log with something in it. */
export function hasLog(path: string): boolean {
  const db = new DatabaseSync(path)
  try {
    const found = db.prepare("SELECT 1 FROM sqlite_master WHERE name = 'events'").get()
    return found !== undefined && db.prepare('SELECT 1 FROM events LIMIT 1').get() !== undefined
  } catch {
    return true // whatever it is, it is not nothing
  } finally {
    db.close()
  }
}
