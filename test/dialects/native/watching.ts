import assert from 'node:assert/strict'
import type { Api } from '../../../src/client/client.ts'
import {
  counts as countsSchema,
  sessionRow,
  type Counts,
  type SessionRow,
} from '../../../src/dialects/native/wire.ts'
import { until } from '../../support/wait.ts'
import type { Raw } from './support.ts'

/** What a dashboard has: the rows as they were told, and nothing else. */
export interface Dashboard {
  readonly id: string
  readonly rows: Map<string, SessionRow>
  readonly more: boolean
  counts: Counts
  seq: number
  /** Notifications that have come. */
  told: number
  closed: boolean
  /** Calls something on the same connection. */
  call<T = unknown>(method: string, params?: object): Promise<T>
  /** Waits for a row to be so. */
  see(sessionId: string, what: string, fits: (row: SessionRow) => boolean): Promise<SessionRow>
}

interface Line {
  id?: number
  method?: string
  params?: { watchId: string; seq: number; changed: SessionRow[]; removed: string[]; counts: Counts }
  result?: unknown
  error?: { message: string; data: { code: string } }
}

/** Watches over a connection of its own, and holds all that it is told against the schemas. */
export async function dashboardOver(raw: Raw, params: object = {}): Promise<Dashboard> {
  const answers = new Map<number, Line>()
  let last = 0
  let isOver = false

  async function call<T>(method: string, wanted: object = {}): Promise<T> {
    const id = ++last
    raw.send(JSON.stringify({ jsonrpc: '2.0', id, method, params: wanted }))
    const { result, error } = await until(() => answers.get(id) ?? isOver, `an answer to ${method}`).then(
      (line) => {
        if (line === true) throw new Error('the connection is over')
        return line
      },
    )
    if (error) throw Object.assign(new Error(error.message), { code: error.data.code })
    return result as T
  }

  let board: Dashboard | null = null
  const early: Line[] = []

  function hear(line: Line): void {
    if (line.method === undefined) return void answers.set(line.id!, line)
    if (!board) return void early.push(line)
    if (line.params?.watchId !== board.id) return
    if (line.method === 'sessions.closed') board.closed = true
    if (line.method !== 'sessions') return
    const { seq, changed, removed, counts } = line.params
    assert.deepEqual(countsSchema.parse(counts), counts)
    assert.ok(seq >= board.seq, 'it never goes back')
    for (const row of changed) {
      assert.deepEqual(sessionRow.parse(row), row, 'nothing in a row that is not described')
      board.rows.set(row.id, row)
    }
    for (const id of removed) board.rows.delete(id)
    Object.assign(board, { seq, counts, told: board.told + 1 })
  }

  async function read(): Promise<void> {
    for (;;) hear((await raw.next()) as Line)
  }
  read().catch((error: unknown) => {
    isOver = true
    if (error instanceof assert.AssertionError) throw error
  })

  const first = await call<Api['session.watch']['result']>('session.watch', params)
  const rows = new Map(first.sessions.map((row) => [row.id, row]))
  const { watchId: id, seq, counts, more } = first
  board = {
    id,
    rows,
    more,
    counts,
    seq,
    told: 0,
    closed: false,
    call,
    async see(sessionId, what, fits) {
      await until(
        () => rows.has(sessionId) && fits(rows.get(sessionId)!),
        () => `${what}: ${JSON.stringify(rows.get(sessionId))}`,
      )
      return rows.get(sessionId)!
    },
  }
  for (const line of early.splice(0)) hear(line)
  return board
}

/** How many sessions there are of each kind, by the rows. */
export function countOf(rows: Iterable<SessionRow>): Counts {
  const counted: Counts = { needs_you: 0, working: 0, done: 0, snoozed: 0, quiet: 0, approvals: 0 }
  for (const { attention, openApprovals } of rows) {
    counted[attention] += 1
    counted.approvals += openApprovals
  }
  return counted
}
