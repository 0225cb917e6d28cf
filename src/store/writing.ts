import { DatabaseSync } from 'node:sqlite'
import type { Retention } from '../core/retention.ts'
import { createRetention } from './retention.ts'
import { createApplier, type CommitRequest } from './statements.ts'

export type WriterRequest = CommitRequest | { retain: Retention } | { note: Record<string, string> }

/** `error` is null when it is committed. */
export interface WriterAnswer {
  error: { message: string; code: string } | null
  removed?: number
}

/** A connection that writes; used by one thread at a time. */
export interface Writing {
  serve(request: WriterRequest): WriterAnswer
  close(): void
}

export function openForWriting(path: string, checkpointPages: number): Writing {
  const db = new DatabaseSync(path, { timeout: 5000 })
  db.exec(
    'PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;',
  )
  db.exec(`PRAGMA wal_autocheckpoint = ${checkpointPages}`)
  const applyRequest = createApplier(db)
  const retain = createRetention(db)
  const note = db.prepare('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)')

  function inTransaction(request: WriterRequest): number {
    db.exec('BEGIN IMMEDIATE')
    try {
      let removed = 0
      if ('events' in request) applyRequest(request)
      else if ('retain' in request) removed = retain(request.retain)
      else for (const [key, value] of Object.entries(request.note)) note.run(key, value)
      db.exec('COMMIT')
      return removed
    } catch (error) {
      // SQLite has rolled back by itself after some errors (disk full among them).
      if (db.isTransaction) db.exec('ROLLBACK')
      throw error
    }
  }

  return {
    serve(request) {
      try {
        return { error: null, removed: inTransaction(request) }
      } catch (error) {
        const { message, errcode } = error as Error & { errcode?: number }
        return { error: { message, code: String(errcode ?? 'unknown') } }
      }
    },
    close: () => db.close(),
  }
}
