import { aboutOf } from '../../core/about.ts'
import { attentionOf } from '../../core/attention.ts'
import type { PastDecision } from '../../core/decisions.ts'
import { nameOf } from '../../core/glance.ts'
import { NO_MARKS } from '../../core/marks.ts'
import { modelInUse } from '../../core/model.ts'
import type { ApprovalRow } from '../../core/ports.ts'
import { openApprovals, statusOf, tierOf, type Session } from '../../core/session.ts'
import type { RunningTurn, Turn } from '../../core/turn.ts'
import type { ApprovalView, DecisionView, SessionView, TurnView } from './wire.ts'

export function viewSession(session: Session, now: number = Date.now()): SessionView {
  const { mcpConfig: _, ...settings } = session.settings
  return {
    id: session.id,
    ...(session.machine !== undefined && { machine: session.machine }),
    agent: session.agent,
    cwd: session.cwd,
    title: session.title,
    name: nameOf(session),
    mode: session.mode,
    model: session.model,
    modelInUse: modelInUse(session),
    effort: session.effort ?? null,
    status: statusOf(session),
    tier: tierOf(session),
    nativeId: session.nativeId,
    parentId: session.parentId,
    branch: session.branch ?? null,
    origin: session.origin,
    createdAt: session.createdAt,
    activeAt: session.activeAt,
    turn: session.turn && viewRunning(session.turn),
    queued: session.queue.length,
    steering: session.steers.length,
    openApprovals: openApprovals(session).length,
    archived: session.archived,
    turnCount: session.turnCount,
    usage: session.usage,
    lastOutcome: session.lastOutcome,
    lastError: session.lastError,
    attention: attentionOf(session, now),
    marks: viewMarks(session),
    pid: session.run?.pid ?? null,
    rules: session.rules,
    settings,
  }
}

export function viewMarks({ marks = NO_MARKS }: Pick<Session, 'marks'>): SessionView['marks'] {
  return { ...marks, flags: [...marks.flags] }
}

function viewRunning(running: RunningTurn) {
  const { chosenModel: _, mode, model, ...turn } = running
  return { ...turn, mode: mode ?? null, model: model ?? null }
}

export function viewTurn(turn: Turn): TurnView {
  return turn
}

export function viewApproval(row: ApprovalRow): ApprovalView {
  return {
    id: row.id,
    ...(row.machine !== undefined && { machine: row.machine }),
    sessionId: row.sessionId,
    turnId: row.turnId,
    kind: row.kind,
    tool: row.tool,
    input: row.input,
    about: aboutOf(row),
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
    deferredUntil: row.deferredUntil,
  }
}

export function viewDecision(past: PastDecision): DecisionView {
  const { title, agent, cwd, asked, device, rule } = past
  return { ...viewApproval(past), title, agent, cwd, asked, device, rule }
}
