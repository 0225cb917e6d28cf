import type { DatabaseSync, SQLInputValue } from 'node:sqlite'
import type { Checkpoint, CheckpointKind } from '../core/checkpoint.ts'
import type { Comment } from '../core/comment.ts'
import type { Log } from '../core/ports.ts'
import { orNull, parse, type Writers } from './daemon.ts'
import type { Query, QueryOne, Row } from './event-page.ts'

/** States of files, and comments on their changes. */
export const WORKSPACE_TABLES = `
  CREATE TABLE checkpoints(
    session TEXT NOT NULL, seq INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, at INTEGER NOT NULL,
    tree TEXT NOT NULL, ref TEXT NOT NULL, repository TEXT NOT NULL, files INTEGER, lacks TEXT NOT NULL,
    PRIMARY KEY(session, seq)) WITHOUT ROWID;
  CREATE TABLE comments(
    id TEXT PRIMARY KEY, session TEXT NOT NULL, created_at INTEGER NOT NULL, sent_in TEXT, body TEXT NOT NULL
  ) WITHOUT ROWID;
  CREATE INDEX comments_of_session ON comments(session, created_at, id);
`

export function readWorkspace(all: Query, one: QueryOne) {
  return {
    checkpoints: (sessionId) =>
      all('SELECT * FROM checkpoints WHERE session = ? ORDER BY seq DESC', sessionId).map(checkpointOf),
    checkpointsLeft: () =>
      all(
        `SELECT id FROM sessions WHERE status = 'destroyed'
         AND EXISTS (SELECT 1 FROM checkpoints WHERE checkpoints.session = sessions.id)`,
      ).map((row) => row['id'] as string),
    comment: (id) => orNull(one('SELECT * FROM comments WHERE id = ?', id), commentOf),
    comments(sessionId, limit) {
      const of = 'SELECT * FROM comments WHERE session = ? AND sent_in IS'
      const open = all(`${of} NULL`, sessionId)
      const sent = all(`${of} NOT NULL ORDER BY created_at DESC, id DESC LIMIT ?`, sessionId, limit)
      return [...open, ...sent].map(commentOf).sort(byAge)
    },
  } satisfies Partial<Log>
}

function byAge(a: Comment, b: Comment): number {
  return a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1)
}

type Op = 'checkpoint' | 'checkpoints.drop' | 'comment' | 'comment.update' | 'comment.delete'

export function writeWorkspace(db: DatabaseSync): Writers<Op> {
  const checkpoint = db.prepare(
    `INSERT INTO checkpoints(session, seq, id, kind, at, tree, ref, repository, files, lacks)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const dropCheckpoints = db.prepare('DELETE FROM checkpoints WHERE session = ? AND seq < ?')
  const comment = db.prepare(
    'INSERT INTO comments(id, session, created_at, sent_in, body) VALUES (?, ?, ?, ?, ?)',
  )
  const sent = db.prepare('UPDATE comments SET sent_in = ? WHERE id = ?')
  const text = db.prepare("UPDATE comments SET body = json_set(body, '$.text', ?) WHERE id = ?")
  const deleteComment = db.prepare('DELETE FROM comments WHERE id = ?')
  return {
    checkpoint({ checkpoint: c }) {
      const lacks = JSON.stringify(c.left)
      checkpoint.run(c.sessionId, c.seq, c.id, c.kind, c.at, c.tree, c.ref, c.repository, c.files, lacks)
    },
    'checkpoints.drop': ({ sessionId, before = Number.MAX_SAFE_INTEGER }) =>
      dropCheckpoints.run(sessionId, before),
    comment({ comment: { id, sessionId, createdAt, sentIn, ...body } }) {
      comment.run(id, sessionId, createdAt, sentIn, JSON.stringify(body))
    },
    'comment.update'(w) {
      if (w.sentIn !== undefined) sent.run(w.sentIn, w.id)
      if (w.text !== undefined) text.run(w.text, w.id)
    },
    'comment.delete': ({ id }) => deleteComment.run(id),
  }
}

function checkpointOf(row: Row): Checkpoint {
  return {
    sessionId: row['session'] as string,
    id: row['id'] as string,
    kind: row['kind'] as CheckpointKind,
    seq: row['seq'] as number,
    at: row['at'] as number,
    tree: row['tree'] as string,
    ref: row['ref'] as string,
    repository: row['repository'] as string,
    files: row['files'] as number | null,
    left: parse<string[]>(row['lacks']),
  }
}

function commentOf(row: Row): Comment {
  return {
    ...parse<Omit<Comment, 'id' | 'sessionId' | 'createdAt' | 'sentIn'>>(row['body'] as SQLInputValue),
    id: row['id'] as string,
    sessionId: row['session'] as string,
    createdAt: row['created_at'] as number,
    sentIn: row['sent_in'] as string | null,
  }
}
