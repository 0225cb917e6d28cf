import type { PendingApproval } from './approval.ts'
import type { Event, RunInfo } from './event.ts'
import type { Mode } from './mode.ts'
import { NO_RULES, type Rules } from './rule.ts'
import type { Failure, RunningTurn } from './turn.ts'
import { addUsage, NO_USAGE, type Usage } from './usage.ts'

/** What a client may ask of an agent beyond mode and model; a driver uses what it can and refuses the rest. */
export interface SessionSettings {
  systemPrompt?: string
  appendSystemPrompt?: string
  allowedTools?: string[]
  disallowedTools?: string[]
  maxTurns?: number
  mcpConfig?: unknown
  additionalDirectories?: string[]
}

export type SessionStatus = 'idle' | 'running' | 'waiting' | 'paused' | 'destroyed'
export type Tier = 'active' | 'warm' | 'cold'

/** The state of a session: what `decide` looks at and `apply` moves. Small; histories stay in the log. */
export interface Session {
  id: string
  agent: string
  cwd: string
  title: string | null
  mode: Mode
  /** The mode to go back to when the agent leaves a plan mode that it entered by itself. */
  modeBeforePlan: Mode | null
  model: string | null
  settings: SessionSettings
  rules: Rules
  /** The agent's own id of the conversation, once it has one; the next process resumes it. */
  nativeId: string | null
  /** The native conversation that the first process branches off. */
  forkFrom: string | null
  parentId: string | null
  origin: string | null
  createdAt: number
  /** When a turn was last queued, started or ended. */
  activeAt: number
  turn: RunningTurn | null
  /** Ids of the turns that wait, in order. */
  queue: string[]
  approvals: PendingApproval[]
  run: RunInfo | null
  paused: boolean
  destroyed: boolean
  turnCount: number
  usage: Usage
  lastError: Failure | null
}

export function statusOf(session: Session): SessionStatus {
  if (session.destroyed) return 'destroyed'
  if (session.paused) return 'paused'
  if (openApprovals(session).length > 0) return 'waiting'
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

/** The next state. Never changes its argument; deltas and agent chatter leave the state as it is. */
export function apply(state: Session | null, event: Event): Session {
  if (event.type === 'session.created') return created(event)
  if (!state) throw new TypeError(`event ${event.type} for a session that does not exist: ${event.sessionId}`)
  switch (event.type) {
    case 'session.changed': {
      const { type: _, seq: __, at: ___, sessionId: ____, turnId: _____, ...patch } = event
      return { ...state, ...patch }
    }
    case 'session.destroyed':
      return { ...state, destroyed: true, queue: [], approvals: [], activeAt: event.at }
    case 'turn.queued':
      return { ...state, queue: [...state.queue, event.turnId], activeAt: event.at }
    case 'turn.started':
      return {
        ...state,
        queue: state.queue.filter((id) => id !== event.turnId),
        turn: {
          id: event.turnId,
          startedAt: event.at,
          startedSeq: event.seq,
          accepted: false,
          attempts: 1,
          interrupting: false,
        },
        turnCount: state.turnCount + 1,
        activeAt: event.at,
      }
    case 'turn.cancelled':
      return { ...state, queue: state.queue.filter((id) => id !== event.turnId) }
    case 'turn.completed':
    case 'turn.failed':
    case 'turn.interrupted':
      return {
        ...state,
        turn: null,
        approvals: [],
        usage: addUsage(state.usage, event.usage),
        lastError: event.type === 'turn.failed' ? event.error : null,
        activeAt: event.at,
      }
    case 'turn.accepted':
      return inTurn(state, { accepted: true })
    case 'turn.retried':
      return {
        ...inTurn(state, { attempts: (state.turn?.attempts ?? 0) + 1, accepted: false }),
        approvals: [],
      }
    case 'turn.interrupting':
      return inTurn(state, { interrupting: true })
    case 'approval.requested': {
      const pending = { ...event.approval, turnId: event.turnId, requestedAt: event.at, decision: null }
      return { ...state, approvals: [...state.approvals, pending] }
    }
    case 'approval.resolved':
      return {
        ...state,
        approvals:
          event.decision.behavior === 'cancelled'
            ? state.approvals.filter((a) => a.id !== event.approvalId)
            : state.approvals.map((a) =>
                a.id === event.approvalId ? { ...a, decision: event.decision } : a,
              ),
      }
    case 'approval.delivered':
      return { ...state, approvals: state.approvals.filter((a) => a.id !== event.approvalId) }
    case 'agent.started':
      return { ...state, run: event.run }
    case 'agent.exited':
      return state.run?.id === event.runId ? { ...state, run: null } : state
    case 'agent.init':
      return event.nativeId ? { ...state, nativeId: event.nativeId, forkFrom: null } : state
    default:
      return state
  }
}

function inTurn(state: Session, patch: Partial<RunningTurn>): Session {
  return state.turn ? { ...state, turn: { ...state.turn, ...patch } } : state
}

function created(event: Event & { type: 'session.created' }): Session {
  return {
    id: event.sessionId,
    agent: event.agent,
    cwd: event.cwd,
    title: event.title,
    mode: event.mode,
    modeBeforePlan: null,
    model: event.model,
    settings: event.settings,
    rules: NO_RULES,
    nativeId: event.nativeId,
    forkFrom: event.forkFrom,
    parentId: event.parentId,
    origin: event.origin,
    createdAt: event.at,
    activeAt: event.at,
    turn: null,
    queue: [],
    approvals: [],
    run: null,
    paused: false,
    destroyed: false,
    turnCount: 0,
    usage: NO_USAGE,
    lastError: null,
  }
}
