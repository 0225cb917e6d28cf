/** One session in the list. */
export interface SessionRow {
  id: string
  agent: string
  cwd: string
  title: string | null
  project: { id: string; name: string } | null
  parentId: string | null
  origin: string
  status: string
  tier: string
  attention: Attention
  mode: string
  model: string | null
  effort: string | null
  turn: { id: string; startedAt: number } | null
  queued: number
  openApprovals: number
  marks: Marks
  lastLine: string | null
  doing: string | null
  createdAt: number
  activeAt: number
  endedAt: number | null
  endedSeq: number | null
  turnCount: number
  costUsd: number | null
  tokens: { used: number | null; window: number | null }
  lastOutcome: string | null
  lastError: unknown
  worktree: boolean
  archived: boolean
}

export type Attention = 'needs_you' | 'working' | 'done' | 'snoozed' | 'quiet'

export interface Marks {
  readSeq: number
  pinned: boolean
  snoozedUntil: number | null
  settled: boolean
  flags: string[]
}

export type Counts = Record<Attention | 'approvals', number>

/** The whole list, or what has changed in it. */
export type RowsUpdate =
  | { kind: 'all'; sessions: SessionRow[]; counts: Counts; more: boolean }
  | { kind: 'some'; changed: SessionRow[]; removed: string[]; counts: Counts }

export interface WatchParams {
  archived?: boolean
  limit?: number
}
