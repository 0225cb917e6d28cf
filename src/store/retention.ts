import type { DatabaseSync } from 'node:sqlite'
import type { Retention } from '../core/ports.ts'

/** Returns how many events went; call again until it is less than the limit. */
export function createRetention(db: DatabaseSync): (request: Retention) => number {
  const old = db.prepare(
    `WITH oldest AS (SELECT seq, at, turn FROM events ORDER BY seq LIMIT ?)
     DELETE FROM events WHERE seq IN (
       SELECT seq FROM oldest WHERE at < ? AND (turn IS NULL OR turn NOT IN
         (SELECT id FROM turns WHERE state IN ('queued', 'running'))))`,
  )
  const goners = db.prepare("SELECT id FROM sessions WHERE status = 'destroyed' AND active_at < ? LIMIT 20")
  const eventsOf = db.prepare(
    'DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE session = ? LIMIT ?)',
  )
  const rest = ['turns', 'approvals', 'bookmarks', 'deltas'].map((t) =>
    db.prepare(`DELETE FROM ${t} WHERE session = ?`),
  )
  const row = db.prepare('DELETE FROM sessions WHERE id = ?')

  // Numbers are never given twice, also when the newest event of all is removed.
  const keepLast = db.prepare(
    "INSERT OR REPLACE INTO meta(key, value) SELECT 'last_seq', max(seq) FROM events HAVING max(seq) IS NOT NULL",
  )

  return ({ eventsBefore, destroyedBefore, limit }) => {
    keepLast.run()
    let removed = eventsBefore === null ? 0 : Number(old.run(limit, eventsBefore).changes)
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
