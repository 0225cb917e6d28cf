import { existsSync, renameSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { CorralError } from '../core/error.ts'
import type { Batch, Log } from '../core/ports.ts'
import { CommitQueue } from './commit-queue.ts'
import { HELD_BY_NOBODY, heldBy, refuseIfHeld, type Holding } from './holder.ts'
import { createPen } from './pen.ts'
import { createReader } from './reader.ts'
import { migrate } from './schema.ts'

export interface LogOptions {
  path: string
  /** Identity of the machine's boot: after a power failure committed events may be gone. */
  bootId: string
  newId: () => string
  warn: (message: string) => void
  /** For a process that must be the only one. */
  holding?: Holding
}

/** Opens the log: migrations and the reading connection are here, writing is up to the commit queue. */
export function openLog(options: LogOptions): Log {
  const db = openOrSetAside(options)
  const reader = createReader(db)
  // Whether the last stop was clean must itself survive a power failure.
  db.exec('PRAGMA synchronous = FULL')
  const id = claimLogId(db, options)
  const commits = new CommitQueue({
    pen: createPen(options.path, options.warn),
    path: options.path,
    head: lastSeq(db),
    lastSeq: () => lastSeq(db),
    rolledBack: () => log.onRollback?.(),
  })
  db.exec('PRAGMA query_only = ON')
  const oldest = db.prepare('SELECT min(seq) AS seq FROM events')
  const counts = keepCounts(reader)
  const log: Log = {
    ...reader,
    countSessions: counts.read,
    id,
    get head() {
      return commits.head
    },
    get oldest() {
      return Number(oldest.get()?.['seq'] ?? 0)
    },
    onRollback: null,
    append: (batch) => counts.minding(batch, commits.append(batch)),
    async retain(request) {
      const { error, removed } = await commits.inLine({ retain: request })
      if (error) throw new CorralError('storage', `Old events cannot be removed: ${error.message}`)
      return removed ?? 0
    },
    async close(clean) {
      if (clean) {
        const { error } = await commits.inLine({ note: { clean: 'yes', ...HELD_BY_NOBODY } })
        if (error) options.warn(`closing the log: ${error.message}`)
      }
      await commits.close()
      db.close()
    },
  }
  return log
}

/** Sessions are counted again only when one of them has been written. */
function keepCounts({ countSessions }: Pick<Log, 'countSessions'>) {
  let known: ReturnType<Log['countSessions']> | null = null
  const forget = (): void => void (known = null)
  return {
    read: () => ({ ...(known ??= countSessions()) }),
    /** Before anybody hears that it is committed. */
    minding(batch: Batch, committed: Promise<void>): Promise<void> {
      if (batch.writes.some(({ op }) => op === 'session' || op === 'copies.drop'))
        committed.then(forget, forget)
      return committed
    },
  }
}

/** A file that is no readable database is moved aside, never deleted; a fresh one takes its place. */
function openOrSetAside(options: LogOptions): DatabaseSync {
  const { path, warn } = options
  try {
    return open(options)
  } catch (error) {
    if (error instanceof CorralError) throw error
    const { errcode, message } = error as Error & { errcode?: number }
    const corrupt = errcode === 11 || errcode === 26 // SQLITE_CORRUPT, SQLITE_NOTADB
    if (!corrupt || !existsSync(path)) {
      throw new CorralError('storage', `The log ${path} cannot be opened: ${message}`, { path }, error)
    }
    const aside = `${path}.corrupt-${new Date().toISOString().replaceAll(/[:.]/g, '-')}`
    for (const suffix of ['', '-wal', '-shm']) {
      if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
    }
    warn(`The log ${path} is damaged (${message}). It was set aside as ${aside}; a new log begins.`)
    return open(options)
  }
}

function open({ path, holding }: LogOptions): DatabaseSync {
  const db = new DatabaseSync(path, { timeout: 5000 })
  try {
    db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -8192;')
    if (holding) refuseIfHeld(db, path, holding)
    migrate(db, path)
    // Touches the tables that the daemon lives on, so that damage shows now and not in the middle of a turn.
    db.prepare('SELECT count(*) FROM meta').get()
    db.prepare('SELECT seq FROM events ORDER BY seq DESC LIMIT 1').get()
    db.prepare('SELECT id FROM sessions ORDER BY id LIMIT 1').get()
    return db
  } catch (error) {
    db.close()
    throw error
  }
}

/** The log id stays as long as nothing committed can have been lost: same boot, or a clean stop. */
function claimLogId(db: DatabaseSync, { bootId, newId, path, holding }: LogOptions): string {
  const read = db.prepare('SELECT value FROM meta WHERE key = ?')
  const meta = (key: string): string | null => (read.get(key)?.['value'] as string | undefined) ?? null
  try {
    db.exec('BEGIN IMMEDIATE')
    if (holding) refuseIfHeld(db, path, holding)
    const known = meta('log_id')
    const id = known !== null && (meta('clean') === 'yes' || meta('boot_id') === bootId) ? known : newId()
    const write = db.prepare('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)')
    const noted = { log_id: id, boot_id: bootId, clean: 'no', ...(holding && heldBy(path, holding)) }
    for (const [key, value] of Object.entries(noted)) write.run(key, value)
    db.exec('COMMIT')
    return id
  } catch (error) {
    if (error instanceof CorralError) throw error
    const reason = (error as Error).message
    throw new CorralError('storage', `The log ${path} cannot be written: ${reason}`, { path }, error)
  }
}

function lastSeq(db: DatabaseSync): number {
  const last = (table: string): number =>
    Number(db.prepare(`SELECT max(seq) AS seq FROM ${table}`).get()?.['seq'] ?? 0)
  const kept = Number(db.prepare("SELECT value FROM meta WHERE key = 'last_seq'").get()?.['value'] ?? 0)
  return Math.max(last('events'), last('deltas'), kept)
}
