import { DatabaseSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'
import type { Retention } from '../core/ports.ts'
import { createRetention } from './retention.ts'
import { createApplier, type CommitRequest } from './statements.ts'

/** The one thread that writes. It answers every request in order: null when committed, else what went wrong. */
export type WriterRequest = CommitRequest | { retain: Retention } | { close: Record<string, string> }
export type WriterAnswer = { error: { message: string; code: string } | null; removed?: number }

const { path } = workerData as { path: string }
const db = new DatabaseSync(path, { timeout: 5000 })
db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA wal_autocheckpoint = 2000;')
db.exec('PRAGMA cache_size = -4096; PRAGMA temp_store = MEMORY;')
const applyRequest = createApplier(db)
const retain = createRetention(db)

function inTransaction<T>(work: () => T): T {
  db.exec('BEGIN IMMEDIATE')
  try {
    const result = work()
    db.exec('COMMIT')
    return result
  } catch (error) {
    // SQLite has rolled back by itself after some errors (disk full among them).
    if (db.isTransaction) db.exec('ROLLBACK')
    throw error
  }
}

function serve(request: WriterRequest): WriterAnswer {
  if ('events' in request) {
    inTransaction(() => applyRequest(request))
    return { error: null }
  }
  if ('retain' in request) return { error: null, removed: inTransaction(() => retain(request.retain)) }
  const note = db.prepare('INSERT OR REPLACE INTO meta(key, value) VALUES (?, ?)')
  inTransaction(() => Object.entries(request.close).forEach(([key, value]) => note.run(key, value)))
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  return { error: null }
}

parentPort!.on('message', (request: WriterRequest) => {
  let answer: WriterAnswer
  try {
    answer = serve(request)
  } catch (error) {
    const { message, errcode } = error as Error & { errcode?: number }
    answer = { error: { message, code: String(errcode ?? 'unknown') } }
  }
  parentPort!.postMessage(answer)
  if ('close' in request) parentPort!.close()
})
