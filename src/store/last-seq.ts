import type { DatabaseSync } from 'node:sqlite'

/** Notes the last number before events are removed: none is given twice, also when the newest event of all goes. */
export function lastSeqKeeper(db: DatabaseSync): () => void {
  const keep = db.prepare(
    `INSERT OR REPLACE INTO meta(key, value) SELECT 'last_seq', max(
       coalesce((SELECT max(seq) FROM events), 0),
       coalesce((SELECT max(seq) FROM deltas), 0),
       coalesce((SELECT CAST(value AS INTEGER) FROM meta WHERE key = 'last_seq'), 0))`,
  )
  return () => void keep.run()
}
