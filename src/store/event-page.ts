import type { SQLInputValue } from 'node:sqlite'
import { COPIED_IDS } from './copies.ts'
import { LoggedEvent, type EventType } from '../core/event.ts'
import type { EventQuery } from '../core/ports.ts'

export type Row = Record<string, SQLInputValue>
export type Query = (text: string, ...values: SQLInputValue[]) => Row[]
export type QueryOne = (text: string, ...values: SQLInputValue[]) => Row | undefined
export type EventRow = [
  seq: number,
  session: string,
  type: EventType,
  body: string,
  /** 0: bytes of it have changed on the disk. */
  isWhole: number,
  turn: string | null,
  at: number,
]
export type EventRows = (text: string, ...values: SQLInputValue[]) => IterableIterator<EventRow>

/** Only a session that is doing something has deltas; the table has no index, so it is not asked about the others. */
function mayHaveDeltas(all: Query, { whole, types, sessionId }: EventQuery): boolean {
  if (whole || (types && !types.includes('message.delta'))) return false
  return (
    sessionId === undefined ||
    all('SELECT 1 FROM sessions WHERE id = ? AND unfinished = 1', sessionId).length > 0
  )
}

/** The part of a query that both tables share. */
function conditionOf(query: EventQuery): { text: string; values: SQLInputValue[] } {
  const where: string[] = []
  const values: SQLInputValue[] = []
  const add = (condition: string, value: SQLInputValue): void => {
    where.push(condition)
    values.push(value)
  }
  if (query.after !== undefined) add('seq > ?', query.after)
  if (query.before !== undefined) add('seq < ?', query.before)
  if (query.sessionId !== undefined) add('session = ?', query.sessionId)
  if (query.turnId !== undefined) add('turn = ?', query.turnId)
  if (query.own) where.push(`session NOT IN (${COPIED_IDS})`)
  return { text: where.length > 0 ? where.join(' AND ') : '1 = 1', values }
}

function ofTypes({ types }: EventQuery): string {
  return types ? `AND type IN (${types.map(() => '?').join()})` : ''
}

export function readEvents(all: Query, rows: EventRows, query: EventQuery): LoggedEvent[] {
  const backwards = query.before !== undefined && query.after === undefined
  const { text, values } = conditionOf(query)
  const order = `ORDER BY seq ${backwards ? 'DESC' : 'ASC'} LIMIT ?`
  const events = rows(
    `SELECT seq, session, type, body, json_valid(body), turn, at FROM events WHERE ${text} ${ofTypes(query)} ${order}`,
    ...values,
    ...(query.types ?? []),
    query.limit,
  )
  if (!mayHaveDeltas(all, query)) return pageOf(events, query, backwards)
  const deltas = rows(
    `SELECT seq, session, 'message.delta', body, json_valid(body), turn, 0 FROM deltas WHERE ${text} ${order}`,
    ...values,
    query.limit,
  )
  return pageOf(merged(events, deltas, backwards ? -1 : 1), query, backwards)
}

/** Takes rows only until the page is full: what comes after may be large. */
function pageOf(
  rows: Iterable<EventRow>,
  { limit, maxBytes }: EventQuery,
  backwards: boolean,
): LoggedEvent[] {
  const page: LoggedEvent[] = []
  let bytes = 0
  for (const row of rows) {
    const [seq, session, type, body, isWhole] = row
    page.push(isWhole ? new LoggedEvent(seq, session, type, body) : inPlaceOf(row))
    if (page.length >= limit) break
    if (maxBytes !== undefined && (bytes += Buffer.byteLength(body)) > maxBytes) break
  }
  return backwards ? page.reverse() : page
}

/** Who reads goes on behind what is damaged, and is told that something was there, whatever types it reads: a page is as long as it is. */
function inPlaceOf([seq, sessionId, type, , , turnId, at]: EventRow): LoggedEvent {
  const message = `The log is damaged here: an event (${type}) cannot be read`
  const notice = {
    type: 'agent.notice',
    level: 'warning',
    code: 'log_damaged',
    message,
    data: { type },
  } as const
  return LoggedEvent.of({ seq, at, sessionId, turnId, ...notice })
}

/** Both in one order. A statement that is left half read would keep its snapshot, so both are ended whatever happens. */
function* merged(
  a: IterableIterator<EventRow>,
  b: IterableIterator<EventRow>,
  sign: 1 | -1,
): Generator<EventRow> {
  try {
    let left = a.next()
    let right = b.next()
    while (!left.done || !right.done) {
      if (right.done || (!left.done && sign * (left.value[0] - right.value[0]) < 0)) {
        yield left.value as EventRow
        left = a.next()
      } else {
        yield right.value
        right = b.next()
      }
    }
  } finally {
    a.return?.()
    b.return?.()
  }
}
