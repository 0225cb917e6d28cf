import { CorralError } from '../../core/error.ts'
import type { ApprovalRow, SessionQuery } from '../../core/ports.ts'
import { openApprovals, statusOf, tierOf, type Session } from '../../core/session.ts'
import type { Turn } from '../../core/turn.ts'
import type { ApprovalView, SessionView, TurnView } from './wire.ts'

export function viewSession(session: Session): SessionView {
  const { mcpConfig: _, ...settings } = session.settings
  return {
    id: session.id,
    agent: session.agent,
    cwd: session.cwd,
    title: session.title,
    mode: session.mode,
    model: session.model,
    status: statusOf(session),
    tier: tierOf(session),
    nativeId: session.nativeId,
    parentId: session.parentId,
    origin: session.origin,
    createdAt: session.createdAt,
    activeAt: session.activeAt,
    turn: session.turn,
    queued: session.queue.length,
    openApprovals: openApprovals(session).length,
    archived: session.archived,
    turnCount: session.turnCount,
    usage: session.usage,
    lastOutcome: session.lastOutcome,
    lastError: session.lastError,
    pid: session.run?.pid ?? null,
    rules: session.rules,
    settings,
  }
}

export function viewTurn(turn: Turn): TurnView {
  return turn
}

export function viewApproval(row: ApprovalRow): ApprovalView {
  return {
    id: row.id,
    sessionId: row.sessionId,
    turnId: row.turnId,
    kind: row.kind,
    tool: row.tool,
    input: row.input,
    callId: row.callId,
    summary: row.summary,
    suggestions: row.suggestions,
    parent: row.parent,
    external: row.external,
    timeoutAt: row.timeoutAt,
    requestedAt: row.requestedAt,
    decision: row.decision,
    decidedBy: row.decidedBy,
    decidedAt: row.decidedAt,
  }
}

type Page = NonNullable<SessionQuery['before']>

/** Where a list goes on; opaque to clients. */
export function encodePage(session: Session): string {
  return Buffer.from(JSON.stringify([session.activeAt, session.id])).toString('base64url')
}

export function decodePage(text: string): Page {
  try {
    const [activeAt, id] = JSON.parse(Buffer.from(text, 'base64url').toString()) as unknown[]
    if (typeof activeAt === 'number' && typeof id === 'string') return { activeAt, id }
  } catch {
    // falls through to the same answer
  }
  throw new CorralError('invalid', 'cursor is not one that session.list gave out', { field: 'cursor' })
}
