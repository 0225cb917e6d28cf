import type { DatabaseSync, SQLInputValue, StatementSync } from 'node:sqlite'
import type { Approval, Decision } from '../core/approval.ts'
import type { Content } from '../core/content.ts'
import type { Mode } from '../core/mode.ts'
import type {
  ApprovalQuery,
  ApprovalRow,
  Bookmark,
  DecidedApproval,
  DecidedQuery,
  Log,
  RunRow,
  SessionQuery,
  TurnUsage,
  UsageQuery,
} from '../core/ports.ts'
import { NO_RULES } from '../core/rule.ts'
import type { Session } from '../core/session.ts'
import type { Failure, Turn, TurnState } from '../core/turn.ts'
import type { Usage } from '../core/usage.ts'
import {
  readEvents,
  type EventRow,
  type EventRows,
  type Query,
  type QueryOne,
  type Row,
} from './event-page.ts'
import { COPIED_FROM, readCopies } from './copies.ts'
import { orNull, parse, readDaemon } from './daemon.ts'
import { readHits } from './search.ts'
import { readWorkspace } from './workspace.ts'

export type Reader = Omit<Log, 'id' | 'head' | 'oldest' | 'append' | 'retain' | 'close' | 'onRollback'>

/** What sessions did not have when they were first written down. */
const LATER_FIELDS = { rules: NO_RULES, archived: false, lastOutcome: null, steers: [], calls: [], notes: {} }

/** Every read of the log, on a connection of its own that never writes. */
export function createReader(db: DatabaseSync): Reader {
  const prepared = new Map<string, StatementSync>()
  const sql = (text: string): StatementSync => {
    let statement = prepared.get(text)
    if (!statement) prepared.set(text, (statement = db.prepare(text)))
    return statement
  }
  const all: Query = (text, ...values) => sql(text).all(...values)
  const one: QueryOne = (text, ...values) => sql(text).get(...values)
  // Arrays are read twice as fast as objects, which makes up for what it costs to take rows one by one.
  const eventRows: EventRows = (text, ...values) => {
    const statement = sql(text)
    statement.setReturnArrays(true)
    return statement.iterate(...values) as Iterator<unknown> as IterableIterator<EventRow>
  }
  const snapshot = <T>(read: () => T): T => {
    db.exec('BEGIN')
    try {
      return read()
    } finally {
      db.exec('COMMIT')
    }
  }
  return {
    // Events and deltas are two tables and one log: both are read from the same snapshot.
    events: (query) => snapshot(() => readEvents(all, eventRows, query)),
    search: (query) => snapshot(() => readHits(all, query)),
    ...readSessions(all, one),
    ...readTurns(all, one),
    ...readApprovals(all, one),
    ...readRuns(all, one),
    ...readDaemon(all, one),
    ...readWorkspace(all, one),
    ...readCopies(all, one),
    copiedFrom: (machine) => all(COPIED_FROM, machine).map(sessionOf),
    bookmarks: (owner, sessionId) =>
      all('SELECT * FROM bookmarks WHERE owner = ? AND session = ? ORDER BY seq', owner, sessionId).map(
        bookmarkOf,
      ),
  }
}

/** Several may go on with the same conversation. */
const NEWEST_BY_NATIVE_ID =
  "SELECT state FROM sessions WHERE native_id = ? AND status <> 'destroyed' ORDER BY active_at DESC LIMIT 1"

function readSessions(all: Query, one: QueryOne) {
  return {
    session: (id) => orNull(one('SELECT state FROM sessions WHERE id = ?', id), sessionOf),
    sessionByKey: (key) => orNull(one('SELECT state FROM sessions WHERE key = ?', key), sessionOf),
    sessionByNativeId: (id) => orNull(one(NEWEST_BY_NATIVE_ID, id), sessionOf),
    conversation: (agent, id) =>
      orNull(
        one('SELECT session FROM conversations WHERE agent = ? AND id = ?', agent, id),
        (row) => row['session'] as string,
      ),
    sessions: (query) => listSessions(all, query).map(sessionOf),
    unfinished: () =>
      all("SELECT state FROM sessions WHERE unfinished = 1 AND state ->> 'machine' IS NULL").map(sessionOf),
    due: () =>
      all('SELECT id, due_at FROM sessions WHERE due_at IS NOT NULL').map((row) => ({
        sessionId: row['id'] as string,
        at: row['due_at'] as number,
      })),
    recentPaths: (limit) =>
      all(
        `SELECT cwd, max(active_at) AS used, count(*) AS n FROM sessions WHERE status <> 'destroyed'
         GROUP BY cwd ORDER BY used DESC LIMIT ?`,
        limit,
      ).map((row) => ({
        path: row['cwd'] as string,
        usedAt: row['used'] as number,
        sessions: row['n'] as number,
      })),
    countSessions() {
      const counts = { idle: 0, running: 0, waiting: 0, paused: 0 }
      const rows = all(
        "SELECT status, count(*) AS n FROM sessions WHERE status <> 'destroyed' GROUP BY status",
      )
      for (const row of rows) counts[row['status'] as keyof typeof counts] = row['n'] as number
      return counts
    },
  } satisfies Partial<Log>
}

function readTurns(all: Query, one: QueryOne): Pick<Log, 'turn' | 'turnByKey' | 'turns' | 'usage'> {
  return {
    usage: (query) => listUsage(all, query).map(usageOf),
    turn: (id) => orNull(one('SELECT * FROM turns WHERE id = ?', id), turnOf),
    turnByKey: (id, key) => orNull(one('SELECT * FROM turns WHERE session = ? AND key = ?', id, key), turnOf),
    turns(id, limit, moment) {
      const under = moment ? 'AND seq <= ? AND (ended_at IS NULL OR ended_at >= ?)' : ''
      const text = `SELECT * FROM turns WHERE session = ? ${under} ORDER BY seq DESC LIMIT ?`
      return all(text, id, ...(moment ? [moment.seq, moment.at] : []), limit).map(turnOf)
    },
  }
}

type ApprovalReads = Pick<Log, 'approval' | 'approvals' | 'decided' | 'countApprovals'>

function readApprovals(all: Query, one: QueryOne): ApprovalReads {
  return {
    decided: (query) => listDecided(all, query).map(decidedOf),
    approval: (id) => orNull(one('SELECT * FROM approvals WHERE id = ?', id), approvalOf),
    approvals: (query) => listApprovals(all, query).map(approvalOf),
    countApprovals: () => one('SELECT count(*) AS n FROM approvals WHERE decision IS NULL')!['n'] as number,
  }
}

function readRuns(all: Query, one: QueryOne): Pick<Log, 'run' | 'runs'> {
  return {
    run: (id) => orNull(one('SELECT * FROM runs WHERE id = ?', id), runOf),
    runs: () => all('SELECT * FROM runs').map(runOf),
  }
}

const WITHOUT_CHILDREN =
  "NOT EXISTS (SELECT 1 FROM sessions AS child WHERE child.parent = this.id AND child.status <> 'destroyed')"

function listSessions(all: Query, query: SessionQuery): Row[] {
  const where = query.includeDestroyed ? ['1 = 1'] : ["status <> 'destroyed'"]
  const values: SQLInputValue[] = []
  if (query.before) {
    where.push('(active_at, id) < (?, ?)')
    values.push(query.before.activeAt, query.before.id)
  }
  if (query.agent !== undefined) {
    where.push('agent = ?')
    values.push(query.agent)
  }
  if (query.origin !== undefined) {
    where.push("state ->> 'origin' = ?")
    values.push(query.origin)
  }
  if (query.archived !== undefined) {
    where.push('archived = ?')
    values.push(query.archived ? 1 : 0)
  }
  if (query.leaves) where.push(WITHOUT_CHILDREN)
  const text = `SELECT state FROM sessions AS this WHERE ${where.join(' AND ')} ORDER BY active_at DESC, id DESC LIMIT ?`
  return all(text, ...values, query.limit)
}

function listApprovals(all: Query, query: ApprovalQuery): Row[] {
  const where = ['1 = 1']
  const values: SQLInputValue[] = []
  if (query.sessionId !== undefined) {
    where.push('session = ?')
    values.push(query.sessionId)
  }
  if (query.open) where.push('decision IS NULL')
  if (query.moment) {
    where.push('requested_at <= ? AND (decided_at IS NULL OR decided_at >= ?)')
    values.push(query.moment.at, query.moment.at)
  }
  const text = `SELECT * FROM approvals WHERE ${where.join(' AND ')} ORDER BY requested_at DESC LIMIT ?`
  return all(text, ...values, query.limit)
}

function listUsage(all: Query, { sessionId, since, until, before, limit }: UsageQuery): Row[] {
  const ofSession = sessionId === undefined ? '' : 'AND session = ?'
  const place = before ? 'AND (ended_at, id) < (?, ?)' : ''
  return all(
    `SELECT id, session, agent, ended_at, usage FROM turns
     WHERE ended_at >= ? AND ended_at < ? AND usage IS NOT NULL ${ofSession} ${place}
     ORDER BY ended_at DESC, id DESC LIMIT ?`,
    since,
    until,
    ...(sessionId === undefined ? [] : [sessionId]),
    ...(before ? [before.endedAt, before.turnId] : []),
    limit,
  )
}

/** By the index of its own, or of one session all of them. */
function listDecided(all: Query, { sessionId, asked, before, limit }: DecidedQuery): Row[] {
  const after = before ? 'AND (decided_at, id) < (?, ?)' : ''
  const place = before ? [before.decidedAt, before.id] : []
  const [from, which, session] =
    sessionId === undefined
      ? ['approvals INDEXED BY approvals_by_decision', '', []]
      : ['approvals INDEXED BY approvals_of_session', 'AND session = ?', [sessionId]]
  const text = `SELECT * FROM ${from} WHERE asked = ? ${which} ${after} ORDER BY decided_at DESC, id DESC LIMIT ?`
  return all(text, asked ? 1 : 0, ...session, ...place, limit)
}

function optional<T>(value: SQLInputValue | undefined): T | null {
  return value === null || value === undefined ? null : parse<T>(value)
}

function sessionOf(row: Row): Session {
  return { ...LATER_FIELDS, ...parse<Session>(row['state']) }
}

function turnOf(row: Row): Turn {
  return {
    id: row['id'] as string,
    sessionId: row['session'] as string,
    state: row['state'] as TurnState,
    input: parse<Content[]>(row['input']),
    key: row['key'] as string | null,
    origin: row['origin'] as string | null,
    queuedAt: row['queued_at'] as number,
    startedAt: row['started_at'] as number | null,
    endedAt: row['ended_at'] as number | null,
    seq: row['seq'] as number,
    usage: optional<Usage>(row['usage']),
    error: optional<Failure>(row['error']),
    text: row['text'] as string | null,
    agent: row['agent'] as string | null,
    mode: row['mode'] as Mode | null,
    model: row['model'] as string | null,
  }
}

function usageOf(row: Row): TurnUsage {
  return {
    turnId: row['id'] as string,
    sessionId: row['session'] as string,
    agent: row['agent'] as string | null,
    endedAt: row['ended_at'] as number,
    usage: parse<Usage>(row['usage']),
  }
}

function approvalOf(row: Row): ApprovalRow {
  return {
    external: false,
    timeoutAt: null,
    ...parse<Approval>(row['body']),
    sessionId: row['session'] as string,
    turnId: row['turn'] as string | null,
    requestedAt: row['requested_at'] as number,
    decision: optional<Decision>(row['decision']),
    decidedBy: row['decided_by'] as string | null,
    decidedAt: row['decided_at'] as number | null,
    deferredUntil: row['deferred_until'] as number | null,
  }
}

function decidedOf(row: Row): DecidedApproval {
  const { decision, decidedBy, decidedAt, ...approval } = approvalOf(row)
  const decided = { decision: decision!, decidedBy: decidedBy!, decidedAt: decidedAt! }
  return { ...approval, ...decided, asked: row['asked'] === 1, device: row['device'] as string | null }
}

function runOf(row: Row): RunRow {
  return {
    id: row['id'] as string,
    sessionId: row['session'] as string,
    process: (row['process'] as string | null) ?? (row['id'] as string),
    pid: row['pid'] as number,
    startTime: row['start_time'] as string,
    bootId: row['boot_id'] as string,
    offset: row['offset'] as number,
    turnOffset: row['turn_offset'] as number,
  }
}

function bookmarkOf(row: Row): Bookmark {
  return {
    owner: row['owner'] as string,
    sessionId: row['session'] as string,
    turnId: row['turn'] as string,
    seq: row['seq'] as number,
  }
}
