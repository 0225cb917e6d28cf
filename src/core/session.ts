import type { PendingApproval } from './approval.ts'
import type { HeldCall } from './call.ts'
import type { Effort } from './effort.ts'
import type { AgentFact, Branch, Event, EventType, DaemonEvent, RunInfo } from './event.ts'
import type { Fullness } from './fullness.ts'
import { rested, said, unsaid, type Glance } from './glance.ts'
import type { Marks } from './marks.ts'
import type { Mode } from './mode.ts'
import { created } from './new-session.ts'
import { FOR_EVER, type Rules } from './rule.ts'
import type { SessionSettings } from './settings.ts'
import { SHOWN } from './shown.ts'
import type { Failure, Outcome, RunningTurn, Steer } from './turn.ts'
import type { DraftPlace } from './unsent.ts'
import { addUsage, type Usage } from './usage.ts'

/** What a dialect has to remember about a session, by the dialect's name. */
export type Notes = Readonly<Record<string, unknown>>

export type SessionStatus = 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
export type Tier = 'active' | 'warm' | 'cold'

/** The state of a session: what `decide` looks at and `apply` moves. Small; histories stay in the log. */
export interface Session {
  id: string
  agent: string
  cwd: string
  /** As a person has named it, or a client. */
  title: string | null
  /** As the agent calls it. Not there: it has not said. */
  toldTitle?: string
  mode: Mode
  /** The mode to go back to when the agent leaves a plan mode that it entered by itself. */
  modeBeforePlan: Mode | null
  /** The mode that it had before it was last in plan mode, whoever put it there. Not there in sessions of older logs. */
  lastFreeMode?: Mode
  /** The model that was chosen; null: the agent's own choice. What is shown to people is `modelInUse`. */
  model: string | null
  /** The model that the agent has named since that was chosen. Not there in sessions of older logs. */
  usedModel?: string | null
  /** How long it is to think; null: as the agent does by itself. Not there in sessions of older logs. */
  effort?: Effort | null
  settings: SessionSettings
  rules: Rules
  /** The agent's own id of the conversation, once it has one; the next process resumes it. */
  nativeId: string | null
  /** The native conversation that the first process branches off. */
  forkFrom: string | null
  /** After which of its messages; null or missing: as it is then. */
  forkAt?: string | null
  /** The turn of its parent after which it branched off; missing: it went on from where that one was. */
  branch?: Branch
  /** The agent has not been told yet what was said before this session began, and cannot know it otherwise. */
  recap?: boolean
  parentId: string | null
  origin: string | null
  createdAt: number
  /** When a turn was last queued, started or ended. */
  activeAt: number
  turn: RunningTurn | null
  /** Ids of the turns that wait, in order. */
  queue: string[]
  /** Those of them that came too late as steers: the agent may have read them. Not there in sessions of older logs. */
  lateTurns?: string[]
  /** For the running turn; without one, for the first in the queue, which was one of them. */
  steers: Steer[]
  approvals: PendingApproval[]
  /** Calls of its client's tools that the agent waits on. */
  calls: HeldCall[]
  notes: Notes
  /** How many questions there have been: the next one's number. */
  asked: number
  /** The agent's own names of what it was allowed last in the running turn. */
  granted: string[]
  /** The turn in which a plan was agreed to: in that one the agent may leave plan mode. */
  planAgreedIn: string | null
  /** Its process; stale: it holds another conversation than the one that goes on, and is to end. */
  run: (RunInfo & { stale?: boolean }) | null
  paused: boolean
  destroyed: boolean
  /** Out of sight, not gone. */
  archived: boolean
  turnCount: number
  usage: Usage
  /** How the last turn that is over ended. */
  lastOutcome: Outcome | null
  lastError: Failure | null
  /** When and where in the log that was. Not there in sessions of older logs, as all that follows. */
  endedAt?: number
  endedSeq?: number
  /** What people have noted about it, if they have. */
  marks?: Marks
  /** What somebody has typed and not sent. */
  unsent?: DraftPlace
  /** How many tokens the conversation takes, of how many, as far as the agent has told. */
  context?: Fullness
  glance?: Glance
  /** Its directory is a worktree that was made from this checkout. */
  worktreeOf?: string
  /** It runs on that one, and what is here is a copy. Not there: it runs here. */
  machine?: string
}

export function statusOf(session: Session): SessionStatus {
  if (session.destroyed) return 'destroyed'
  if (session.paused) return 'paused'
  if (openApprovals(session).length > 0) return 'waiting'
  if (session.calls.some(({ result }) => result === null)) return 'waiting'
  return session.turn ? 'running' : 'idle'
}

export function tierOf(session: Session): Tier {
  if (session.turn) return 'active'
  return session.run ? 'warm' : 'cold'
}

/** Nothing runs, nothing waits: all there is to know about it is in the log. */
export function isResting(session: Session): boolean {
  return !session.turn && !session.run && session.queue.length === 0
}

export function openApprovals(session: Session): PendingApproval[] {
  return session.approvals.filter((approval) => approval.decision === null)
}

/** The next moment at which something falls due by itself; null: never. */
export function dueAt({ approvals, rules, destroyed, machine }: Session): number | null {
  if (destroyed || machine !== undefined) return null
  const open = approvals.filter(({ decision }) => decision === null)
  const moments = [...open.map(({ timeoutAt }) => timeoutAt), rules.skipUntil]
  const next = Math.min(...moments.map((at) => at ?? FOR_EVER))
  return next < FOR_EVER ? next : null
}

/** Asked from outside and not during this turn: the turn's end is nothing to it. */
export function outlives({ external, turnId }: PendingApproval, turn: string): boolean {
  return external && turnId !== turn
}

/** The next state. Never changes its argument. */
export function apply(state: Session | null, event: Event): Session {
  if (event.type === 'session.created') return created(event)
  if (!state) throw new TypeError(`event ${event.type} for a session that does not exist: ${event.sessionId}`)
  const change = CHANGES.get(event.type)
  return change ? change(state, event) : state
}

/** These leave the state of their session as it is. */
type Unchanging =
  | Exclude<AgentFact['type'], 'agent.init' | 'agent.model' | 'turn.accepted' | keyof typeof SHOWN>
  | DaemonEvent['type']
  | 'session.status'
  | 'turn.edited'
  | 'agent.limits'
  | CheckpointEventType
  | ReviewEventType

type CheckpointEventType = 'checkpoint.taken' | 'checkpoint.restored'
type ReviewEventType = 'review.added' | 'review.updated' | 'review.removed' | 'review.sent'

type Changing = Exclude<EventType, Unchanging | 'session.created'>

export type StateChange<T extends EventType> = (state: Session, event: Event & { type: T }) => Session

const BY_TYPE: { [T in Changing]: StateChange<T> } = {
  'session.changed': changed,
  'session.destroyed': (state, { at: activeAt }) => ({
    ...state,
    destroyed: true,
    queue: [],
    steers: [],
    approvals: [],
    calls: [],
    activeAt,
  }),
  'turn.queued': (state, event) => ({
    ...state,
    queue: event.late ? [event.turnId, ...state.queue] : [...state.queue, event.turnId],
    steers: withoutSteer(state, event.turnId),
    ...(event.late && { lateTurns: [...(state.lateTurns ?? []), event.turnId] }),
    activeAt: event.at,
    glance: said(state.glance, event.turnId, event),
  }),
  'turn.started': (state, event) => ({
    ...outOfQueue(state, event.turnId),
    turn: startedTurn(state, event),
    turnCount: state.turnCount + 1,
    granted: [],
    activeAt: event.at,
  }),
  'turn.moved': (state, { turnId, position }) => ({
    ...state,
    queue: moved(state.queue, turnId, position),
  }),
  'turn.cancelled': (state, { turnId }) => ({
    ...outOfQueue(state, turnId),
    glance: unsaid(state.glance, turnId),
  }),
  'turn.completed': (state, event) => ended(state, event, 'completed'),
  'turn.failed': (state, event) => ended(state, event, 'failed', event.error),
  'turn.interrupted': (state, event) => ended(state, event, 'interrupted'),
  'turn.accepted': (state) => inTurn(state, { accepted: true }),
  'turn.retried': (state, { turnId }) => ({
    ...inTurn(state, { attempts: (state.turn?.attempts ?? 0) + 1, accepted: false }),
    approvals: state.approvals.filter((approval) => outlives(approval, turnId)),
    calls: [],
    glance: rested(state.glance),
  }),
  'turn.interrupting': (state) => inTurn(state, { interrupting: true }),
  'turn.steered': (state, event) => ({
    ...state,
    steers: [...state.steers, steerOf(event)],
    activeAt: event.at,
    glance: said(state.glance, event.steerId, event),
  }),
  'turn.steer_accepted': (state, { steerId }) => ({ ...state, steers: withoutSteer(state, steerId) }),
  'approval.requested': requested,
  'approval.resolved': (state, event) => ({
    ...state,
    ...consented(state, event),
    approvals: state.approvals.flatMap((one) => resolved(one, event)),
  }),
  'approval.deferred': (state, { approvalId, until: deferredUntil }) => ({
    ...state,
    approvals: state.approvals.map((one) => (one.id === approvalId ? { ...one, deferredUntil } : one)),
  }),
  'approval.delivered': (state, { approvalId }) => ({
    ...state,
    approvals: state.approvals.filter(({ id }) => id !== approvalId),
  }),
  'call.held': (state, { callId, requestId, ref, tool, input }) => ({
    ...state,
    calls: [...state.calls, { callId, requestId, ref, tool, input, result: null }],
  }),
  'call.answered': (state, { callId, result }) => ({
    ...state,
    calls: state.calls.map((call) => (call.callId === callId ? { ...call, result } : call)),
  }),
  'call.delivered': withoutCall,
  'call.dropped': withoutCall,
  'agent.started': (state, { run }) => ({ ...state, run }),
  'agent.exited': (state, { runId }) => (state.run?.id === runId ? { ...state, run: null } : state),
  'agent.init': (state, { nativeId, model }) => {
    const next = nativeId ? { ...state, nativeId, forkFrom: null, forkAt: null } : state
    return model === null ? next : uses(next, model)
  },
  'agent.model': (state, { model }) => uses(state, model),
  ...SHOWN,
}

/** A map, because it is asked for every delta, which it does not have. */
const CHANGES = new Map(Object.entries(BY_TYPE) as [EventType, (state: Session, event: Event) => Session][])

function changed(state: Session, event: Event & { type: 'session.changed' }): Session {
  const { type: _, seq: __, at: ___, sessionId: ____, turnId: _____, reason, ...patch } = event
  const next = patch.mode === undefined ? state : inTurn(state, { mode: patch.mode })
  return {
    ...next,
    ...patch,
    ...(patch.mode !== undefined && { planAgreedIn: null }),
    ...(patch.mode === 'plan' && state.mode !== 'plan' && { lastFreeMode: state.mode }),
    ...(patch.model !== undefined && { usedModel: null }),
    ...(patch.nativeId !== undefined && state.run && { run: { ...state.run, stale: true } }),
    // Whoever chooses another conversation does not want this one's past.
    ...(patch.nativeId !== undefined && reason === undefined && state.recap && { recap: false }),
  }
}

function steerOf({ steerId: id, seq, input, key, origin }: Event & { type: 'turn.steered' }): Steer {
  return { id, seq, input, key, origin }
}

function startedTurn(state: Session, event: Event & { type: 'turn.started' }): RunningTurn {
  return {
    id: event.turnId,
    startedAt: event.at,
    startedSeq: event.seq,
    accepted: false,
    attempts: 1,
    interrupting: false,
    mode: event.mode ?? state.mode,
    model: event.model ?? null,
    chosenModel: state.model,
  }
}

function ended(
  state: Session,
  { turnId, usage, at: activeAt, seq: endedSeq }: { turnId: string; usage: Usage; at: number; seq: number },
  lastOutcome: Outcome,
  lastError: Failure | null = null,
): Session {
  return {
    ...state,
    turn: null,
    // It has the message, and what went before it.
    ...(state.recap && state.turn?.accepted && { recap: false }),
    approvals: state.approvals.filter((approval) => outlives(approval, turnId)),
    calls: [],
    usage: addUsage(state.usage, usage),
    lastOutcome,
    lastError,
    activeAt,
    endedAt: activeAt,
    endedSeq,
    glance: rested(state.glance),
  }
}

function requested(state: Session, event: Event & { type: 'approval.requested' }): Session {
  const { approval, turnId, external, timeoutAt, at: requestedAt } = event
  const pending = { ...approval, turnId, external, timeoutAt, requestedAt, decision: null }
  const granted = (state.granted ?? []).filter((requestId) => requestId !== approval.requestId)
  return { ...state, approvals: [...state.approvals, pending], granted, asked: (state.asked ?? 0) + 1 }
}

function withoutCall(state: Session, { callId }: { callId: string }): Session {
  return { ...state, calls: state.calls.filter((call) => call.callId !== callId) }
}

/** A decision stays until the agent has it; what was cancelled, or asked from outside, is over at once. */
function resolved(
  approval: PendingApproval,
  event: Event & { type: 'approval.resolved' },
): PendingApproval[] {
  if (approval.id !== event.approvalId) return [approval]
  if (approval.external || event.decision.behavior === 'cancelled') return []
  return [{ ...approval, decision: event.decision }]
}

/** As many yeses are remembered: one is for what comes next. */
const MAX_GRANTED = 8

function consented(state: Session, event: Event & { type: 'approval.resolved' }): Partial<Session> {
  const approval = state.approvals.find(({ id }) => id === event.approvalId)
  if (!approval || event.decision.behavior !== 'allow' || !state.turn) return {}
  if (approval.kind === 'plan') return { planAgreedIn: state.turn.id }
  return approval.external
    ? {}
    : { granted: [...(state.granted ?? []).slice(1 - MAX_GRANTED), approval.requestId] }
}

function moved(queue: readonly string[], turnId: string, position: number): string[] {
  const others = queue.filter((id) => id !== turnId)
  return others.toSpliced(position - 1, 0, turnId)
}

function outOfQueue(state: Session, turnId: string): Session {
  const others = (ids: readonly string[]): string[] => ids.filter((id) => id !== turnId)
  const { queue, lateTurns } = state
  return { ...state, queue: others(queue), ...(lateTurns && { lateTurns: others(lateTurns) }) }
}

function withoutSteer({ steers }: Session, id: string): Steer[] {
  return steers.some((steer) => steer.id === id) ? steers.filter((steer) => steer.id !== id) : steers
}

/** What a turn says that began before the last choice is about that turn only. */
function uses(state: Session, model: string): Session {
  const { turn } = state
  const chosenSince = turn?.chosenModel !== undefined && turn.chosenModel !== state.model
  return { ...inTurn(state, { model }), ...(!chosenSince && { usedModel: model }) }
}

function inTurn(state: Session, patch: Partial<RunningTurn>): Session {
  return state.turn ? { ...state, turn: { ...state.turn, ...patch } } : state
}
