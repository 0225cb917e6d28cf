import type { DatabaseSync } from 'node:sqlite'
import type { CopyWrite } from '../core/machine.ts'
import type { Log } from '../core/ports.ts'
import type { Query, QueryOne } from './event-page.ts'
import type { Writers } from './daemon.ts'
import { lastSeqKeeper } from './last-seq.ts'
import type { SearchIndex } from './search.ts'

/** Other machines, and which events of the log were copied from them. A log that has none has empty tables. */
export const COPY_TABLES = `
  CREATE TABLE machines(name TEXT PRIMARY KEY, target TEXT NOT NULL, log TEXT, seq INTEGER) WITHOUT ROWID;
  CREATE TABLE copies(seq INTEGER PRIMARY KEY, machine TEXT NOT NULL, owner_seq INTEGER NOT NULL);
  CREATE INDEX copies_by_owner ON copies(machine, owner_seq);
  CREATE INDEX sessions_of_machine ON sessions(state ->> 'machine') WHERE state ->> 'machine' IS NOT NULL;
`

/** Sessions that run elsewhere. */
export const COPIED_IDS = "SELECT id FROM sessions WHERE state ->> 'machine' IS NOT NULL"

const IDS = "SELECT id FROM sessions WHERE state ->> 'machine' = ?"

export const COPIED_FROM = "SELECT state FROM sessions WHERE state ->> 'machine' = ? ORDER BY id"

export function readCopies(all: Query, one: QueryOne) {
  return {
    machines: () =>
      all('SELECT * FROM machines ORDER BY name').map((row) => ({
        name: row['name'] as string,
        target: row['target'] as string,
        cursor: row['log'] === null ? null : { log: row['log'] as string, seq: row['seq'] as number },
      })),
    ownSessions: () =>
      all("SELECT id FROM sessions WHERE status <> 'destroyed' AND state ->> 'machine' IS NULL").map(
        (row) => row['id'] as string,
      ),
    countCopied: (machine) =>
      Number(
        one(
          "SELECT count(*) AS n FROM sessions WHERE state ->> 'machine' = ? AND status <> 'destroyed'",
          machine,
        )?.['n'] ?? 0,
      ),
    ownerSeqOf: (machine, seq) =>
      Number(
        one(
          'SELECT owner_seq FROM copies WHERE machine = ? AND seq <= ? ORDER BY seq DESC LIMIT 1',
          machine,
          seq,
        )?.['owner_seq'] ?? 0,
      ),
    copyOf: (machine, ownerSeq) =>
      Number(
        one(
          'SELECT seq FROM copies WHERE machine = ? AND owner_seq <= ? ORDER BY owner_seq DESC, seq DESC LIMIT 1',
          machine,
          ownerSeq,
        )?.['seq'] ?? 0,
      ),
  } satisfies Partial<Log>
}

export function writeCopies(db: DatabaseSync, search: SearchIndex): Writers<CopyWrite['op']> {
  const copy = db.prepare('INSERT INTO copies(seq, machine, owner_seq) VALUES (?, ?, ?)')
  const machine = db.prepare('INSERT INTO machines(name, target) VALUES (?, ?)')
  const cursor = db.prepare('UPDATE machines SET log = ?, seq = ? WHERE name = ?')
  const remove = db.prepare('DELETE FROM machines WHERE name = ?')
  const ids = db.prepare(IDS)
  const keepLast = lastSeqKeeper(db)
  const ofSessions = ['events', 'deltas', 'turns', 'approvals', 'bookmarks', 'comments'].map((table) =>
    db.prepare(`DELETE FROM ${table} WHERE session IN (${IDS})`),
  )
  const rest = ["DELETE FROM sessions WHERE state ->> 'machine' = ?", 'DELETE FROM copies WHERE machine = ?']
  const removeRest = rest.map((text) => db.prepare(text))
  return {
    copy: (w) => copy.run(w.seq, w.machine, w.ownerSeq),
    'copies.drop'({ machine: name }) {
      keepLast()
      for (const { id } of ids.all(name) as { id: string }[]) search.drop(id)
      for (const statement of [...ofSessions, ...removeRest]) statement.run(name)
    },
    machine: ({ machine: m }) => machine.run(m.name, m.target),
    'machine.cursor': (w) => cursor.run(w.cursor?.log ?? null, w.cursor?.seq ?? null, w.name),
    'machine.delete': (w) => remove.run(w.name),
  }
}
