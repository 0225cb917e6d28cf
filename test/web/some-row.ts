import type { SessionRow } from '../../web/client/rows.ts'

/** A session that rests, but for what is given. */
export function someRow(
  id: string,
  { pinned = false, snoozedUntil = null, ...given }: Partial<SessionRow> & Partial<SessionRow['marks']> = {},
): SessionRow {
  return {
    id,
    agent: 'demo',
    cwd: '/home/me/project',
    title: null,
    project: null,
    parentId: null,
    origin: null,
    status: 'idle',
    tier: 'cold',
    attention: 'quiet',
    mode: 'ask',
    model: null,
    effort: null,
    turn: null,
    queued: 0,
    openApprovals: 0,
    marks: { readSeq: 0, pinned, snoozedUntil, settled: false, flags: [] },
    lastLine: null,
    doing: null,
    createdAt: 1,
    activeAt: 1,
    endedAt: null,
    endedSeq: null,
    turnCount: 0,
    costUsd: null,
    tokens: { used: null, window: null },
    lastOutcome: null,
    lastError: null,
    worktree: false,
    worktreeOf: null,
    archived: false,
    ...given,
  }
}
