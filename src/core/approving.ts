import {
  modePolicy,
  type Approval,
  type ApprovalRequest,
  type Asking,
  type Decision,
  type PendingApproval,
} from './approval.ts'
import { CorralError } from './error.ts'
import type { EventBody } from './event.ts'
import type { Directory } from './ports.ts'
import { ruleDecision, rulesFor, type Rules } from './rule.ts'
import { openApprovals, outlives, type Session } from './session.ts'

/*
 * Every rule about approvals: who answers, when, and what follows from it. Pure, like `decide`.
 */

/** What is looked at beside the session itself. */
export interface Surroundings {
  now: number
  /** Of the directories that the session works in. */
  readonly directoryRules: readonly Rules[]
  /** The one that it works in itself; of a worktree, the checkout that it was made from. */
  readonly directory: Directory
  /** How long approvals wait where the session does not say; null: for ever. */
  approvalTimeoutMs: number | null
}

/** A queue that nobody reads ends somewhere. */
const MAX_OPEN = 100

/** A question of the session's agent. What it asks again while nobody has answered is the same question. */
export function askedByAgent(state: Session, request: ApprovalRequest, around: Surroundings): EventBody[] {
  const open = openApprovals(state)
  if (open.some(({ external, requestId }) => !external && requestId === request.requestId)) return []
  return ask(state, numbered(state, request), around)
}

/** A question of the agent's that no human gets to see. */
export function refused(state: Session, request: ApprovalRequest, comment: string): EventBody[] {
  const approval = numbered(state, request)
  const decision: Decision = { behavior: 'deny', comment }
  return [
    { type: 'approval.requested', turnId: null, approval, open: false, external: false, timeoutAt: null },
    { type: 'approval.resolved', approvalId: approval.id, decision, by: 'corral', asked: false },
  ]
}

/** In the order of the log: read again from the same place, the same question gets the same id. */
function numbered({ id, asked }: Session, request: ApprovalRequest): Approval {
  return { ...request, id: `${id}.${(asked ?? 0) + 1}` }
}

/** The session whose agent's question has, or will have, this id; null when it is no such id. */
export function ownerOf(approvalId: string): string | null {
  return /^(.+)\.\d+$/.exec(approvalId)?.[1] ?? null
}

/** A question comes in: from the session's agent, or from outside. */
export function ask(
  state: Session,
  approval: Approval,
  around: Surroundings,
  { external, timeoutMs }: { external: boolean; timeoutMs?: number | null } = { external: false },
): EventBody[] {
  if (state.approvals.some((a) => a.id === approval.id)) return []
  const tooMany = openApprovals(state).length >= MAX_OPEN
  if (external && tooMany) throw new CorralError('queue_full', TOO_MANY_WORDS, { limit: MAX_OPEN })
  const turnId = state.turn?.id ?? null
  const settled = state.turn?.interrupting
    ? INTERRUPTED
    : isUnanswerable(state, approval, external)
      ? NOBODY
      : (policy(state, approval, around) ?? (tooMany ? TOO_MANY : null))
  const wait =
    timeoutMs === undefined ? (state.settings.approvalTimeoutMs ?? around.approvalTimeoutMs) : timeoutMs
  const asking: Asking = { external, timeoutAt: settled || wait === null ? null : around.now + wait }
  const requested: EventBody = { type: 'approval.requested', turnId, approval, open: !settled, ...asking }
  return settled
    ? [requested, { type: 'approval.resolved', approvalId: approval.id, ...settled, asked: false }]
    : [requested]
}

const INTERRUPTED: Settled = {
  decision: { behavior: 'deny', comment: 'The user has interrupted this turn.' },
  by: 'interrupt',
}

/** A question to people who cannot answer: the agent must not wait for them. Who asks from outside knows where to look. */
function isUnanswerable({ settings }: Session, { kind }: Approval, external: boolean): boolean {
  return kind === 'question' && settings.questions === false && !external
}

const NOBODY: Settled = {
  decision: {
    behavior: 'deny',
    comment:
      'Nobody can answer questions in this session. Decide by yourself, or ask in your final message and end your turn.',
  },
  by: 'corral',
}

const TOO_MANY_WORDS = `${MAX_OPEN} approvals of this session wait already; decide some first`
const TOO_MANY: Settled = { decision: { behavior: 'deny', comment: TOO_MANY_WORDS }, by: 'corral' }

export function decideApproval(
  state: Session,
  approvalId: string,
  decision: Decision,
  by: string,
  around: Surroundings,
  device?: string,
): EventBody[] {
  const approval = undecided(state, approvalId)
  mustSuit(approval, decision)
  const from = device === undefined ? {} : { device }
  const events: EventBody[] = [{ type: 'approval.resolved', approvalId, decision, by, asked: true, ...from }]
  if (decision.behavior !== 'allow' || approval.kind !== 'tool') return events
  const approvals = state.approvals.filter((other) => other.id !== approvalId)
  return [...events, ...learned({ ...state, approvals }, approval, decision, around)]
}

function undecided(state: Session, approvalId: string): PendingApproval {
  const approval = state.approvals.find((a) => a.id === approvalId)
  if (!approval) throw new CorralError('approval_not_found', `No approval has the id ${approvalId}`)
  if (approval.decision) throw alreadyResolved(approvalId, approval.decision)
  return approval
}

/** "Not now": it stays as open as it was. */
export function defer(state: Session, approvalId: string, until: number | null): EventBody[] {
  const { deferredUntil = null } = undecided(state, approvalId)
  return until === deferredUntil ? [] : [{ type: 'approval.deferred', approvalId, until }]
}

/** What a yes for more than this once comes to: rules, and the answers that they give to what is open in the session. */
function learned(
  state: Session,
  approval: Approval,
  { forSession, forDirectory }: Decision & { behavior: 'allow' },
  around: Surroundings,
): EventBody[] {
  if (!forSession && !forDirectory) return []
  const rules = forSession ? withRules(state.rules, rulesFor(approval, state)) : state.rules
  const { path } = around.directory
  const ofDirectory = forDirectory ? [withRules(around.directory.rules, rulesFor(approval, state, true))] : []
  const directoryRules = [...around.directoryRules, ...ofDirectory]
  return [
    ...(forSession ? [{ type: 'session.changed' as const, rules }] : []),
    ...ofDirectory.map((all) => ({ type: 'directory.changed' as const, path, rules: all })),
    ...settle({ ...state, rules }, { ...around, directoryRules }),
  ]
}

/** Whether a human says no, and why. Their own words are an answer to a question, and a no to anything else. */
export function hasReason({ kind }: Approval, decision: Decision): boolean {
  if (decision.behavior === 'deny') return decision.comment !== ''
  return decision.behavior === 'respond' && kind !== 'question'
}

/** What cannot be carried out is refused, not passed over. */
function mustSuit({ kind, tool, fixed }: Approval, decision: Decision): void {
  if (decision.behavior === 'respond' && kind === 'tool') {
    throw new CorralError('invalid', `${tool} needs a yes or a no; allow it or deny it`, {
      field: 'behavior',
    })
  }
  if (decision.behavior !== 'allow' || decision.input === undefined) return
  if (fixed) {
    throw new CorralError(
      'unsupported',
      `The agent cannot run ${tool} with another input; allow it as it is, or deny it`,
    )
  }
  if (typeof decision.input !== 'object' || decision.input === null || Array.isArray(decision.input)) {
    throw new CorralError('invalid', 'input must be an object with the input of the tool', {
      field: 'input',
    })
  }
}

/** The same rules, and the same thing passes the next time. */
function withRules(rules: Rules, learnt: string[]): Rules {
  return { ...rules, allow: [...new Set([...rules.allow, ...learnt])] }
}

interface Settled {
  decision: Decision
  by: string
}

/** What mode and rules say together; null when a human decides. Plan mode is read-only whatever is allowed otherwise. */
function policy(state: Session, approval: Approval, around: Surroundings): Settled | null {
  const byRule = ruleDecision([state.rules, ...around.directoryRules], approval, {
    ...state,
    now: around.now,
  })
  const readOnly = state.mode === 'plan' && approval.kind === 'tool'
  if (byRule && (byRule.behavior === 'deny' || !readOnly)) return { decision: byRule, by: 'rule' }
  // A plan that the agent has made by itself is judged by the mode that a human has set.
  const mode = approval.kind === 'plan' ? (state.modeBeforePlan ?? state.mode) : state.mode
  const byMode = modePolicy(mode, approval)
  if (byMode) return { decision: byMode, by: `mode:${mode}` }
  const covered = approval.covers !== undefined && (state.granted ?? []).includes(approval.covers)
  return covered ? { decision: { behavior: 'allow' }, by: 'approval' } : null
}

/** Open approvals that mode and rules, as they are now, answer by themselves. */
export function settle(state: Session, around: Surroundings): EventBody[] {
  return openApprovals(state).flatMap((approval): EventBody[] => {
    const settled = policy(state, approval, around)
    return settled ? [{ type: 'approval.resolved', approvalId: approval.id, ...settled, asked: true }] : []
  })
}

/** What has fallen due by now: questions that nobody answered in time, a permission to skip them all. */
export function expire(state: Session, now: number): EventBody[] {
  const late = openApprovals(state).filter(({ timeoutAt }) => timeoutAt !== null && timeoutAt <= now)
  const decision: Decision = { behavior: 'deny', comment: 'Nobody answered in time.' }
  const { rules } = state
  const over = rules.skipUntil !== null && rules.skipUntil <= now
  return [
    ...late.map(({ id: approvalId }): EventBody => ({
      type: 'approval.resolved',
      approvalId,
      decision,
      by: 'timeout',
      asked: true,
    })),
    ...(over
      ? [
          {
            type: 'session.changed' as const,
            rules: { ...rules, skipUntil: null },
            reason: 'expired' as const,
          },
        ]
      : []),
  ]
}

/** Whoever asked does not want to know any more. */
export function withdraw(state: Session, approvalId: string, reason: string, by: string): EventBody[] {
  const open = openApprovals(state).some(({ id }) => id === approvalId)
  return open ? [cancelled(approvalId, reason, by)] : []
}

/** Closes what is open; with a turn, only what ends with it. */
export function cancelApprovals(state: Session, reason: string, turnId?: string): EventBody[] {
  return openApprovals(state)
    .filter((approval) => turnId === undefined || !outlives(approval, turnId))
    .map((approval) => cancelled(approval.id, reason, 'corral'))
}

function cancelled(approvalId: string, reason: string, by: string): EventBody {
  const decision: Decision = { behavior: 'cancelled', reason }
  return { type: 'approval.resolved', approvalId, decision, by, asked: true }
}

export function alreadyResolved(approvalId: string, decision: Decision): CorralError {
  return new CorralError(
    'approval_resolved',
    `Approval ${approvalId} was resolved before: ${decision.behavior}`,
    { decision },
  )
}
