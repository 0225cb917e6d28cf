import type { DatabaseSync } from 'node:sqlite'
import { LoggedEvent, type Event, type EventType } from '../core/event.ts'
import type { SearchQuery } from '../core/ports.ts'
import type { Phrase } from '../core/search/query.ts'
import { SPOKEN_TYPES, spokenIn } from '../core/search/spoken.ts'
import { SEARCHED_CHARACTERS, wordsOf } from '../core/search/words.ts'
import type { Query } from './event-page.ts'

/**
 * Where words are found. Its rows are those events in which somebody says something, by their `seq`; the texts themselves stay
 * in the events. What is put in has been cut into words already, with spaces between them: `ascii` does nothing to that but
 * cut it there (`unicode61` would take a Chinese sentence for one word and a name like parseRequest, too; `trigram` finds
 * no word of two characters, and takes three times the room). The session is a word in a column of its own, so that
 * one session is searched without looking at all the others.
 */
export const SEARCH_TABLE = `
  CREATE VIRTUAL TABLE search USING fts5(
    session, words, wholes, content = '', contentless_delete = 1, tokenize = 'ascii');
`

/** The most relevant are looked for among so many of the newest. */
const MAX_HITS = 1000
/** What is found more often than this says nothing by how often it is found: the newest first, and nothing is weighed. */
const MAX_WEIGHED = 20_000

const SPOKEN: ReadonlySet<string> = new Set(SPOKEN_TYPES)

export interface SearchIndex {
  add(seq: number, session: string, type: string, body: string): void
  /** The message of a turn that was cancelled: it is in no conversation, so nobody finds it. `seq`: of its own event, if it is new. */
  withdraw(turn: string, seq?: number): void
  /** The message says something else: it is found by that, in its place. */
  replace(turn: string, session: string, body: string, seq?: number): void
  forget(seq: number, type: string): void
  drop(session: string): void
}

export function createIndex(db: DatabaseSync): SearchIndex {
  const add = db.prepare('INSERT INTO search(rowid, session, words, wholes) VALUES (?, ?, ?, ?)')
  const forget = db.prepare('DELETE FROM search WHERE rowid = ?')
  const placeOf = db.prepare('SELECT seq FROM turns WHERE id = ?')
  const drop = db.prepare('DELETE FROM search WHERE rowid IN (SELECT rowid FROM search WHERE search MATCH ?)')
  const textOf = (list: { text: string }[]): string => list.map((word) => word.text).join(' ')

  function put(seq: number, session: string, body: string): void {
    const spoken = spokenIn(JSON.parse(body) as Event)
    if (!spoken || spoken.text === '') return
    const { words, wholes } = wordsOf(spoken.text.slice(0, SEARCHED_CHARACTERS))
    if (words.length > 0) add.run(seq, wordFor(session), textOf(words), textOf(wholes))
  }

  /** Where its message is; null: nowhere. */
  function withdraw(turn: string, seq = placeOf.get(turn)?.['seq']): number | null {
    if (typeof seq !== 'number') return null
    forget.run(seq)
    return seq
  }

  return {
    add(seq, session, type, body) {
      if (SPOKEN.has(type)) put(seq, session, body)
    },
    withdraw: (turn, seq) => void withdraw(turn, seq),
    replace(turn, session, body, seq) {
      const place = withdraw(turn, seq)
      if (place !== null) put(place, session, body)
    },
    forget(seq, type) {
      if (SPOKEN.has(type)) forget.run(seq)
    },
    drop: (session) => void drop.run(ofSession(session)),
  }
}

/** What was said before there was an index. */
export function indexAll(db: DatabaseSync): void {
  const { add } = createIndex(db)
  const rows = db
    .prepare(
      `SELECT seq, session, type, body FROM events WHERE type IN (${SPOKEN_TYPES.map(() => '?').join()})
       AND session NOT IN (SELECT id FROM sessions WHERE status = 'destroyed')`,
    )
    .iterate(...SPOKEN_TYPES)
  for (const row of rows) {
    add(row['seq'] as number, row['session'] as string, row['type'] as string, row['body'] as string)
  }
}

export function readHits(all: Query, query: SearchQuery): LoggedEvent[] {
  const match = matchOf(query)
  const counted = all(
    'SELECT count(*) AS n FROM (SELECT 1 FROM search WHERE search MATCH ? LIMIT ?)',
    match,
    MAX_WEIGHED,
  )
  const score = (counted[0]!['n'] as number) < MAX_WEIGHED ? 'bm25(search, 0, 1, 1)' : '0'
  const rows = all(
    `SELECT seq FROM (
       SELECT rowid AS seq, ${score} AS score FROM search
       WHERE search MATCH ? AND rowid <= ? ORDER BY rowid DESC LIMIT ${MAX_HITS})
     ORDER BY score, seq DESC LIMIT ? OFFSET ?`,
    match,
    query.until,
    query.limit,
    query.offset,
  )
  return rows.flatMap(({ seq }) =>
    all('SELECT session, type, body FROM events WHERE seq = ?', seq!).map((row) => {
      return new LoggedEvent(
        seq as number,
        row['session'] as string,
        row['type'] as EventType,
        row['body'] as string,
      )
    }),
  )
}

/** Words have nothing in them that means something to FTS5. */
function matchOf({ phrases, sessionId }: SearchQuery): string {
  const wanted = phrases.map(phraseText).join(' AND ')
  const said = `{words wholes} : (${wanted})`
  return sessionId === undefined ? said : `${ofSession(sessionId)} AND ${said}`
}

function phraseText({ words, open }: Phrase): string {
  return `"${words.join(' ')}"${open ? ' *' : ''}`
}

function ofSession(session: string): string {
  return `session : "${wordFor(session)}"`
}

/** An id, whatever is in it, as one word. */
function wordFor(session: string): string {
  return Buffer.from(session).toString('hex')
}
