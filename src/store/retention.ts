import type { DatabaseSync } from 'node:sqlite'
import type { Retention } from '../core/retention.ts'
import { lastSeqKeeper } from './last-seq.ts'
import { createIndex } from './search.ts'

/** Returns how many events went; call again until it is less than the limit. */
export function createRetention(db: DatabaseSync): (request: Retention) => number {
  const old = db.prepare(
    `WITH oldest AS (SELECT seq, at, turn FROM events ORDER BY seq LIMIT ?)
     DELETE FROM events WHERE seq IN (
       SELECT seq FROM oldest WHERE at < ? AND (turn IS NULL OR turn NOT IN
         (SELECT id FROM turns WHERE state IN ('queued', 'running'))))
     RETURNING seq, type`,
  )
  const { forget } = createIndex(db)
  const oldRows = [
    'DELETE FROM turns WHERE id IN (SELECT id FROM turns WHERE ended_at < ? LIMIT ?)',
    `DELETE FROM approvals WHERE id IN (
       SELECT id FROM approvals WHERE requested_at < ? AND decision IS NOT NULL LIMIT ?)`,
  ].map((sql) => db.prepare(sql))
  // A session that another one branched off is part of that one's conversation: it goes after it.
  const goners = db.prepare(
    `SELECT id FROM sessions WHERE status = 'destroyed' AND active_at < ?
       AND NOT EXISTS (SELECT 1 FROM sessions child WHERE child.parent = sessions.id) LIMIT 20`,
  )
  const eventsOf = db.prepare(
    'DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE session = ? LIMIT ?)',
  )
  const rest = ['turns', 'approvals', 'bookmarks', 'deltas', 'checkpoints', 'comments'].map((t) =>
    db.prepare(`DELETE FROM ${t} WHERE session = ?`),
  )
  const row = db.prepare('DELETE FROM sessions WHERE id = ?')

  const keepLast = lastSeqKeeper(db)
  const forgetCopies = db.prepare('DELETE FROM copies WHERE seq < (SELECT coalesce(min(seq), 0) FROM events)')

  return ({ eventsBefore, destroyedBefore, limit }) => {
    keepLast()
    let removed = 0
    if (eventsBefore !== null) {
      const gone = old.all(limit, eventsBefore) as { seq: number; type: string }[]
      for (const { seq, type } of gone) forget(seq, type)
      removed = gone.length
      for (const statement of oldRows) statement.run(eventsBefore, limit)
      forgetCopies.run()
    }
    if (destroyedBefore === null) return removed
    for (const { id } of goners.all(destroyedBefore) as { id: string }[]) {
      if (removed >= limit) break
      const room = limit - removed
      const gone = Number(eventsOf.run(id, room).changes)
      removed += gone
      if (gone === room) break
      for (const statement of rest) statement.run(id)
      row.run(id)
    }
    return removed
  }
}
