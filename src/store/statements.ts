import type { DatabaseSync } from 'node:sqlite'
import type { Write } from '../core/ports.ts'
import { dueAt, isResting, statusOf } from '../core/session.ts'
import { writeCopies } from './copies.ts'
import { writeDaemon, type Writers } from './daemon.ts'
import { createIndex, type SearchIndex } from './search.ts'
import { writeWorkspace } from './workspace.ts'

/** One event on its way to the writer: seq, session, turn, type, at, body, message (deltas only). */
export type NewEventRow = [number, string, string | null, string, number, string, string | null]

export interface CommitRequest {
  events: NewEventRow[]
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
    const queued = new Map<string, number>()
    for (const [seq, session, turn, type, at, body, message] of events) {
      if (message === null) {
        addEvent.run(seq, session, turn, type, at, body)
        search.add(seq, session, type, body)
        // The turns themselves are written after the events.
        if (type === 'turn.queued') queued.set(turn!, seq)
        else if (type === 'turn.cancelled') search.withdraw(turn!, queued.get(turn!))
        else if (type === 'turn.edited') search.replace(turn!, session, body, queued.get(turn!))
      } else addDelta.run(seq, session, turn, message, body)
    }
    for (const one of writes) write(one)
  }
}

function createWriter(db: DatabaseSync, search: SearchIndex): (write: Write) => void {
  const writers: Writers<Write['op']> = {
    ...writeSessions(db),
    ...writeTurns(db),
    ...writeApprovals(db),
    ...writeRuns(db),
    ...writeBookmarks(db),
    ...writeWorkspace(db),
    ...writeDaemon(db),
    ...writeCopies(db, search),
    'search.drop': (w) => search.drop(w.sessionId),
  }
  return (write) => void (writers[write.op] as (write: Write) => unknown)(write)
}

function writeSessions(db: DatabaseSync): Writers<'session' | 'conversation'> {
  const session = db.prepare(
    `INSERT INTO sessions(
       id, key, agent, cwd, parent, status, active_at, unfinished, native_id, archived, due_at, state)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(id) DO UPDATE SET
       status = excluded.status, active_at = excluded.active_at, unfinished = excluded.unfinished,
       native_id = excluded.native_id, archived = excluded.archived, due_at = excluded.due_at, state = excluded.state`,
  )
  const conversation = db.prepare('INSERT OR REPLACE INTO conversations(agent, id, session) VALUES (?, ?, ?)')
  return {
    conversation: ({ agent, id, sessionId }) => conversation.run(agent, id, sessionId),
    session: ({ session: s, key = null }) =>
      session.run(
        s.id,
        key,
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
      ),
  }
}

function writeTurns(db: DatabaseSync): Writers<'turn' | 'turn.update'> {
  const turn = db.prepare(
    `INSERT INTO turns(id, session, seq, state, key, origin, input, queued_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT(id) DO UPDATE SET
       seq = excluded.seq, state = excluded.state, input = excluded.input, queued_at = excluded.queued_at, ended_at = NULL`,
  )
  const update = db.prepare(
    `UPDATE turns SET state = coalesce(?, state), started_at = coalesce(?, started_at), ended_at = coalesce(?, ended_at),
       usage = coalesce(?, usage), error = coalesce(?, error), text = coalesce(?, text),
       agent = coalesce(?, agent), mode = coalesce(?, mode), model = coalesce(?, model), input = coalesce(?, input)
     WHERE id = ?`,
  )
  return {
    turn: ({ turn: t }) =>
      turn.run(t.id, t.sessionId, t.seq, t.state, t.key, t.origin, JSON.stringify(t.input), t.queuedAt),
    'turn.update'({ id, patch }) {
      const { state = null, startedAt = null, endedAt = null, usage, error, text = null } = patch
      const { agent = null, mode = null, model = null, input } = patch
      const ranWith = [agent, mode, model]
      update.run(state, startedAt, endedAt, json(usage), json(error), text, ...ranWith, json(input), id)
    },
  }
}

function writeApprovals(db: DatabaseSync): Writers<'approval' | 'approval.update' | 'approval.defer'> {
  const approval = db.prepare(
    'INSERT INTO approvals(id, session, turn, requested_at, body, decision) VALUES (?, ?, ?, ?, ?, ?)',
  )
  const update = db.prepare(
    'UPDATE approvals SET decision = ?, decided_by = ?, decided_at = ?, asked = ?, device = ? WHERE id = ?',
  )
  const defer = db.prepare('UPDATE approvals SET deferred_until = ? WHERE id = ?')
  return {
    approval(w) {
      const { sessionId, turnId, requestedAt, decision, ...rest } = w.approval
      const { decidedBy: _, decidedAt: __, deferredUntil: ___, ...body } = rest
      approval.run(body.id, sessionId, turnId, requestedAt, JSON.stringify(body), json(decision))
    },
    'approval.update': (w) =>
      update.run(JSON.stringify(w.decision), w.by, w.at, w.asked ? 1 : 0, w.device, w.id),
    'approval.defer': ({ until, id }) => defer.run(until, id),
  }
}

/** Of the log itself. */
type Drops = 'deltas.drop' | 'event.drop'

function writeRuns(db: DatabaseSync): Writers<'run' | 'run.position' | 'run.delete' | Drops> {
  const run = db.prepare(
    'INSERT INTO runs(id, session, process, pid, start_time, boot_id, offset, turn_offset) VALUES (?, ?, ?, ?, ?, ?, ?, ?)',
  )
  const position = db.prepare('UPDATE runs SET offset = ?, turn_offset = ? WHERE id = ?')
  const remove = db.prepare('DELETE FROM runs WHERE id = ?')
  const dropEvent = db.prepare('DELETE FROM events WHERE seq = ?')
  const dropMessage = db.prepare('DELETE FROM deltas WHERE seq >= ? AND session = ? AND message = ?')
  return {
    run: ({ run: r }) =>
      run.run(r.id, r.sessionId, r.process, r.pid, r.startTime, r.bootId, r.offset, r.turnOffset),
    'run.position': ({ position: p }) => position.run(p.offset, p.turnOffset, p.runId),
    'run.delete': ({ id }) => remove.run(id),
    'event.drop': ({ seq }) => dropEvent.run(seq),
    'deltas.drop': (w) => dropMessage.run(w.from, w.sessionId, w.messageId),
  }
}

function writeBookmarks(db: DatabaseSync): Writers<'bookmark' | 'bookmark.delete' | 'bookmarks.drop'> {
  const bookmark = db.prepare(
    `INSERT INTO bookmarks(owner, turn, session, seq) VALUES (?, ?, ?, ?)
     ON CONFLICT(owner, turn) DO UPDATE SET seq = excluded.seq`,
  )
  const remove = db.prepare('DELETE FROM bookmarks WHERE owner = ? AND turn = ?')
  const drop = db.prepare('DELETE FROM bookmarks WHERE session = ?')
  return {
    bookmark: ({ bookmark: b }) => bookmark.run(b.owner, b.turnId, b.sessionId, b.seq),
    'bookmark.delete': ({ owner, turnId }) => remove.run(owner, turnId),
    'bookmarks.drop': ({ sessionId }) => drop.run(sessionId),
  }
}

function json(value: unknown): string | null {
  return value === undefined || value === null ? null : JSON.stringify(value)
}
