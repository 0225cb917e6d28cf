/** A session as the live list tells it. */
export interface SessionRow {
  id: string
  agent: string
  cwd: string
  title: string | null
  project: { id: string; name: string } | null
  parentId: string | null
  origin: string | null
  status: 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
  tier: 'active' | 'warm' | 'cold'
  attention: Attention
  mode: 'auto' | 'code' | 'plan' | 'ask'
  model: string | null
  effort: string | null
  turn: { id: string; startedAt: number } | null
  queued: number
  openApprovals: number
  marks: {
    readSeq: number
    pinned: boolean
    snoozedUntil: number | null
    settled: boolean
    flags: string[]
  }
  lastLine: string | null
  doing: string | null
  createdAt: number
  activeAt: number
  endedAt: number | null
  endedSeq: number | null
  turnCount: number
  costUsd: number | null
  tokens: { used: number | null; window: number | null }
  lastOutcome: 'completed' | 'failed' | 'interrupted' | null
  lastError: { code: string; message: string } | null
  worktree: boolean
  archived: boolean
}

export type Attention = 'needs_you' | 'working' | 'done' | 'snoozed' | 'quiet'
export type Counts = Record<Attention | 'approvals', number>
