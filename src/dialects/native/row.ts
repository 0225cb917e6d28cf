import { attentionOf } from '../../core/attention.ts'
import { excerpt } from '../../core/excerpt.ts'
import { doingOf, lastLineOf, lineOf, nameOf } from '../../core/glance.ts'
import { modelInUse } from '../../core/model.ts'
import { hasOwnWorktree } from '../../core/own-worktree.ts'
import { openApprovals, statusOf, tierOf, type Session } from '../../core/session.ts'
import type { Turn } from '../../core/turn.ts'
import { viewMarks } from './views.ts'
import type { SessionRow } from './wire.ts'

const MAX_ERROR = 300

/** What a row needs beside its session. */
export interface RowNeeds {
  now: number
  project: SessionRow['project']
  /** Its last turn, for sessions of older logs, which do not say themselves how it ended. */
  lastTurn(sessionId: string): Pick<Turn, 'text' | 'endedAt'> | null
}

/** A session as one line of a list. Small: a list may have thousands of them. */
export function viewRow(session: Session, { now, project, lastTurn }: RowNeeds): SessionRow {
  const { turn, lastError, context } = session
  const old = session.glance === undefined && session.turnCount > 0 ? lastTurn(session.id) : null
  return {
    id: session.id,
    ...(session.machine !== undefined && { machine: session.machine }),
    agent: session.agent,
    cwd: session.cwd,
    title: nameOf(session),
    project,
    parentId: session.parentId,
    origin: session.origin,
    status: statusOf(session),
    tier: tierOf(session),
    attention: attentionOf(session, now),
    mode: session.mode,
    model: modelInUse(session),
    effort: session.effort ?? null,
    turn: turn && { id: turn.id, startedAt: turn.startedAt },
    queued: session.queue.length,
    openApprovals: openApprovals(session).length,
    marks: viewMarks(session),
    lastLine: lastLineOf(session.glance) ?? (old?.text ? lineOf(old.text) : null),
    doing: doingOf(session.glance),
    createdAt: session.createdAt,
    activeAt: session.activeAt,
    endedAt: session.endedAt ?? old?.endedAt ?? null,
    endedSeq: session.endedSeq ?? null,
    turnCount: session.turnCount,
    costUsd: session.usage.costUsd,
    tokens: { used: context?.used ?? null, window: context?.window ?? null },
    lastOutcome: session.lastOutcome,
    lastError: lastError && { code: lastError.code, message: excerpt(lastError.message, MAX_ERROR) },
    worktree: hasOwnWorktree(session),
    worktreeOf: session.worktreeOf ?? null,
    archived: session.archived,
  }
}
