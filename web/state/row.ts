import type { ApprovalItem, CallState, Verdict } from '../../src/core/conversation/item.ts'
import type { Content } from '../../src/core/content.ts'
import type { Failure, Outcome } from '../../src/core/turn.ts'
import type { Usage } from '../../src/core/usage.ts'

interface RowBase {
  /** Made from ids in the log: the same after a reload, on another device, in another daemon. */
  readonly id: string
  /** Of the event that it stands at; 0 while it is being said, and where the event is not known. */
  readonly seq: number
  readonly at: number
  /** The call of the sub-agent that it belongs to; null: the agent itself. */
  readonly parent: string | null
  readonly turnId: string | null
}

/** What a user said. Large pictures have no data: see `withoutData`. */
export interface UserRow extends RowBase {
  readonly kind: 'user'
  readonly messageId: string
  readonly content: readonly Content[]
  readonly steer: boolean
  readonly origin: string | null
  readonly sentAt: number
}

/** What an agent says or thinks. */
export interface SaidRow extends RowBase {
  readonly kind: 'text' | 'thinking'
  readonly text: string
  readonly open: boolean
  readonly aborted: boolean
}

/** A call, or a question that stands for itself. Its output is in the log, at `endSeq`. */
export interface CallRow extends RowBase {
  readonly kind: 'call'
  readonly callId: string
  readonly tool: string
  /** Cut short: see `shortened`. */
  readonly input: unknown
  readonly state: CallState
  /** Since when it runs: not while somebody was asked about it. */
  readonly since: number
  readonly endedAt: number | null
  readonly endSeq: number | null
  /** The beginning of its output, when that is an error. */
  readonly error: string | null
  /** What the sub-agent that it ran has used; null: it ran none, or nobody has told. */
  readonly usage: Usage | null
  /** What a human has yet to answer about it. */
  readonly questions: readonly ApprovalItem[]
  /** What a human has answered last. */
  readonly verdict: Verdict | null
  /** False: nothing is known of it but that others name it. */
  readonly known: boolean
}

export interface NoticeRow extends RowBase {
  readonly kind: 'notice'
  readonly level: 'info' | 'warning'
  readonly code: string
  readonly text: string
}

export interface CompactedRow extends RowBase {
  readonly kind: 'compacted'
  readonly tokensBefore: number | null
  readonly tokensAfter: number | null
  readonly error: string | null
}

export interface EndRow extends RowBase {
  readonly kind: 'end'
  readonly outcome: Outcome
  readonly usage: Usage
  readonly error: Failure | null
}

/** One row of a transcript. Never changed in place: another object is another state. */
export type Row = UserRow | SaidRow | CallRow | NoticeRow | CompactedRow | EndRow

/** The rows that a sub-agent's call holds, or the agent itself (`TOP`). What is being said stands behind all that was. */
export interface RowList {
  readonly placed: string[]
  readonly open: string[]
}

export const TOP = ''

export const callRowId = (callId: string): string => `c:${callId}`

export const isOver = (state: CallState): boolean => state !== 'asked' && state !== 'running'

/** Puts a row where its `seq` belongs; nearly always that is the end. */
export function place(list: RowList, row: Row, rows: ReadonlyMap<string, Row>): void {
  let at = list.placed.length
  while (at > 0 && rows.get(list.placed[at - 1]!)!.seq > row.seq) at--
  list.placed.splice(at, 0, row.id)
}

/** What two pages know of one row. A call may have begun in the older one and gone on in the newer one. */
export function joined(older: Row, newer: Row): Row {
  if (older.kind !== 'call' || newer.kind !== 'call') return newer
  if (!newer.known) return older
  if (!older.known) return newer
  const { seq, at, turnId } = older
  return {
    ...newer,
    seq: seq || newer.seq,
    at,
    turnId: turnId ?? newer.turnId,
    since: Math.max(older.since, newer.since),
    endedAt: isOver(newer.state) ? (newer.endedAt ?? older.endedAt) : null,
    endSeq: newer.endSeq ?? older.endSeq,
    error: newer.error ?? older.error,
    usage: newer.usage ?? older.usage,
    verdict: newer.verdict ?? older.verdict,
  }
}
