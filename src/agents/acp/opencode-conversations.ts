import { lstat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { DatabaseSync } from 'node:sqlite'
import type { Past, PastMessage } from '../../core/adoption.ts'
import { asString } from '../json.ts'
import { openingOf, placeFilter, timeIn } from '../kept-file.ts'
import { likelyHolder } from '../processes.ts'
import { homeIn } from '../signed-in.ts'
import { NOTHING, type ConversationStore, type Kept, type Listing, type Look } from '../store.ts'

const ID = /^ses_[0-9A-Za-z]+$/
/** Conversations that are looked at to fill a list. */
const MAX_ROWS = 5000
/** Messages of a conversation that are read, from its end. */
const MAX_MESSAGES = 2000
const MAX_TEXT = 1_000_000

type Row = Record<string, unknown>

/** A database with a row for each conversation, each message and each part of one. */
export const opencodeConversations: ConversationStore = {
  place: pathIn,
  list: async (env, look) => (await withDatabase(pathIn(env), (db) => listIn(db, look))) ?? NOTHING,
  find: (env, id) =>
    withDatabase(pathIn(env), (db) => {
      const row = db.prepare(`${SESSIONS} AND id = ?`).get(id)
      return row ? keptOf(db, row) : null
    }),
  past: async (env, id) =>
    (await withDatabase(pathIn(env), (db) => pastIn(db, id))) ?? { messages: [], isCut: false },
  async holders(_, processes) {
    const programs = await processes.of('opencode')
    return (kept) => likelyHolder(programs, kept, ID)
  },
}

function pathIn(env: NodeJS.ProcessEnv): string {
  const directory = join(env.XDG_DATA_HOME || join(homeIn(env), '.local', 'share'), 'opencode')
  return resolve(directory, env.OPENCODE_DB || 'opencode.db')
}

/** Those of sub-agents have a parent. */
const SESSIONS = 'SELECT id, directory, title, time_updated FROM session WHERE parent_id IS NULL'

/**
 * Reads without a trace: not even the index of the write-ahead log is touched, which every reader shares. Without such a log all there
 * is is in the database itself. Null: there is none.
 */
async function withDatabase<T>(path: string, read: (db: DatabaseSync) => T | Promise<T>): Promise<T | null> {
  const [file, log, index] = await Promise.all(
    ['', '-wal', '-shm'].map((end) => lstat(path + end).catch(() => null)),
  )
  if (!file?.isFile()) return null
  const { DatabaseSync } = await import('node:sqlite')
  const url = pathToFileURL(path)
  url.search = log && log.size > 0 && index ? 'mode=ro&readonly_shm=1' : 'mode=ro&immutable=1'
  const db = new DatabaseSync(url, { readOnly: true, timeout: 1000 })
  try {
    return await read(db)
  } finally {
    db.close()
  }
}

async function listIn(db: DatabaseSync, look: Look): Promise<Listing> {
  const rows = db.prepare(`${SESSIONS} ORDER BY time_updated DESC LIMIT ?`).all(MAX_ROWS)
  const isWanted = placeFilter(look)
  const found: Kept[] = []
  let skipped = 0
  let truncated = rows.length === MAX_ROWS
  for (const row of rows) {
    if (look.skip(String(row['id']))) {
      skipped++
      continue
    }
    if (found.length >= look.limit) {
      truncated = true
      continue
    }
    if (!(await isWanted({ cwd: String(row['directory']) }))) continue
    const kept = keptOf(db, row)
    if (kept) found.push(kept)
  }
  return { found, skipped, truncated }
}

/** Until it has a better one, a conversation is called by the time at which it began. */
const NO_TITLE = /^(?:New session|Child session) - \d{4}-/

function keptOf(db: DatabaseSync, row: Row): Kept | null {
  const { id, directory, title, time_updated: updated } = row
  const opening = typeof id === 'string' ? firstSaid(db, id) : null
  if (typeof id !== 'string' || typeof directory !== 'string' || opening === null) return null
  const name = asString(title) ?? ''
  const shown = NO_TITLE.test(name) ? null : openingOf(name)
  return { id, cwd: directory, title: shown, opening, updatedAt: timeIn(updated) ?? 0 }
}

const TEXTS = `
  SELECT data ->> 'text' AS text FROM part
  WHERE message_id = ? AND length(data) < ${MAX_TEXT} AND json_valid(data) AND data ->> 'type' = 'text'
    AND coalesce(data ->> 'synthetic', 0) = 0 AND coalesce(data ->> 'ignored', 0) = 0
  ORDER BY id LIMIT 200`

function firstSaid(db: DatabaseSync, id: string): string | null {
  const messages = db
    .prepare(
      `SELECT id FROM message WHERE session_id = ? AND json_valid(data) AND data ->> 'role' = 'user'
       ORDER BY time_created, id LIMIT 3`,
    )
    .all(id)
  for (const message of messages) {
    const opening = openingOf(textOf(db, String(message['id'])))
    if (opening !== null) return opening
  }
  return null
}

function textOf(db: DatabaseSync, messageId: string): string {
  const parts = db.prepare(TEXTS).all(messageId)
  return parts.map(({ text }) => asString(text) ?? '').join('\n')
}

function pastIn(db: DatabaseSync, id: string): Past {
  const rows = db
    .prepare(
      `SELECT id, time_created, data ->> 'role' AS role FROM message WHERE session_id = ? AND json_valid(data)
       ORDER BY time_created DESC, id DESC LIMIT ?`,
    )
    .all(id, MAX_MESSAGES + 1)
  const messages = rows.slice(0, MAX_MESSAGES).flatMap((row): PastMessage[] => {
    const by = row['role'] === 'user' ? 'user' : 'agent'
    const text = textOf(db, String(row['id']))
    return text === '' ? [] : [{ by, text, at: timeIn(row['time_created']) }]
  })
  return { messages: messages.toReversed(), isCut: rows.length > MAX_MESSAGES }
}
