import type { DatabaseSync } from 'node:sqlite'
import type { Write } from '../core/ports.ts'
import { dueAt, isResting, statusOf } from '../core/session.ts'
import { createHouseWriter } from './house.ts'
import { createIndex, type SearchIndex } from './search.ts'

/** One event on its way to the writer: seq, session, turn, type, at, body, message (deltas only). */
export type EventRow = [number, string, string | null, string, number, string, string | null]

export interface CommitRequest {
  events: EventRow[]
  writes: Write[]
}

/** Does a commit inside the caller's transaction. */
export function createApplier(db: DatabaseSync): (request: CommitRequest) => void {
  const addEvent = db.prepare(
    'INSERT INTO events(seq, session, turn, type, at, body) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const addDelta = db.prepare('INSERT INTO deltas(seq, session, turn, message, body) VALUES (?, ?, ?, ?, ?)')
  const search = createIndex(db)
  const write = createWriter(db, search)
  return ({ events, writes }) => {
    for (const [seq, session, turn, type, at, body, message] of events) {
      if (message === null) {
        addEvent.run(seq, session, turn, type, at, body)
        search.add(seq, session, type, body)
      } else addDelta.run(seq, session, turn, message, body)
    }
    for (const one of writes) write(one)
  }
}

function createWriter(db: DatabaseSync, search: SearchIndex): (write: Write) => void {
  const session = db.prepare(
    `INSERT INTO sessions(
       id, key, agent, cwd, parent, status, active_at, unfinished, native_id, archived, due_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(id) DO UPDATE SET
       status = excluded.status, active_at = excluded.active_at, unfinished = excluded.unfinished,
       native_id = excluded.native_id, archived = excluded.archived, due_at = excluded.due_at, state = excluded.state`,
  )
  const turn = db.prepare(
    `INSERT INTO turns(id, session, seq, state, key, origin, input, queued_at, started_at, ended_at, usage, error)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const turnUpdate = db.prepare(
    `UPDATE turns SET state = coalesce(?, state), started_at = coalesce(?, started_at), ended_at = coalesce(?, ended_at),
       usage = coalesce(?, usage), error = coalesce(?, error), text = coalesce(?, text),
       agent = coalesce(?, agent), mode = coalesce(?, mode), model = coalesce(?, model) WHERE id = ?`,
  )
  const approval = db.prepare(
    'INSERT INTO approvals(id, session, turn, requested_at, body, decision) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const approvalUpdate = db.prepare(
    'UPDATE approvals SET decision = ?, decided_by = ?, decided_at = ? WHERE id = ?',
  )
  const run = db.prepare(
    'INSERT INTO runs(id, session, process, pid, start_time, boot_id, offset, turn_offset) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const runPosition = db.prepare('UPDATE runs SET offset = ?, turn_offset = ? WHERE id = ?')
  const runDelete = db.prepare('DELETE FROM runs WHERE id = ?')
  const dropMessage = db.prepare('DELETE FROM deltas WHERE seq >= ? AND session = ? AND message = ?')
  const bookmark = db.prepare(
    `INSERT INTO bookmarks(owner, turn, session, seq) VALUES (?, ?, ?, ?)
     ON CONFLICT(owner, turn) DO UPDATE SET seq = excluded.seq`,
  )
  const bookmarkDelete = db.prepare('DELETE FROM bookmarks WHERE owner = ? AND turn = ?')

  const house = createHouseWriter(db)
  const bookmarksDrop = db.prepare('DELETE FROM bookmarks WHERE session = ?')

  return (w) => {
    switch (w.op) {
      case 'session': {
        const s = w.session
        session.run(
          s.id,
          w.key ?? null,
          s.agent,
          s.cwd,
          s.parentId,
          statusOf(s),
          s.activeAt,
          isResting(s) ? 0 : 1,
          s.nativeId,
          s.archived ? 1 : 0,
          dueAt(s),
          JSON.stringify(s),
        )
        return
      }
      case 'turn': {
        const t = w.turn
        const input = JSON.stringify(t.input)
        turn.run(
          t.id,
          t.sessionId,
          t.seq,
          t.state,
          t.key,
          t.origin,
          input,
          t.queuedAt,
          null,
          null,
          null,
          null,
        )
        return
      }
      case 'turn.update': {
        const { state = null, startedAt = null, endedAt = null, usage, error, text = null } = w.patch
        const { agent = null, mode = null, model = null } = w.patch
        const ran = [agent, mode, model]
        turnUpdate.run(state, startedAt, endedAt, json(usage), json(error), text, ...ran, w.id)
        return
      }
      case 'approval': {
        const { sessionId, turnId, requestedAt, decision, decidedBy: _, decidedAt: __, ...body } = w.approval
        approval.run(body.id, sessionId, turnId, requestedAt, JSON.stringify(body), json(decision))
        return
      }
      case 'approval.update':
        approvalUpdate.run(JSON.stringify(w.decision), w.by, w.at, w.id)
        return
      case 'run': {
        const r = w.run
        run.run(r.id, r.sessionId, r.process, r.pid, r.startTime, r.bootId, r.offset, r.turnOffset)
        return
      }
      case 'run.position':
        runPosition.run(w.position.offset, w.position.turnOffset, w.position.runId)
        return
      case 'run.delete':
        runDelete.run(w.id)
        return
      case 'deltas.drop':
        dropMessage.run(w.from, w.sessionId, w.messageId)
        return
      case 'bookmark':
        bookmark.run(w.bookmark.owner, w.bookmark.turnId, w.bookmark.sessionId, w.bookmark.seq)
        return
      case 'bookmark.delete':
        bookmarkDelete.run(w.owner, w.turnId)
        return
      case 'bookmarks.drop':
        bookmarksDrop.run(w.sessionId)
        return
      case 'search.drop':
        search.drop(w.sessionId)
        return
      default:
        house(w)
    }
  }
}

function json(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}
