import { askedByAgent, cancelApprovals, settle, withdraw, type Surroundings } from './approving.ts'
import { drop, hold } from './call.ts'
import { compacted } from './compaction.ts'
import type { ConfigureSession, SendMessage, SteerTurn } from './command.ts'
import { isNews } from './fullness.ts'
import { CorralError } from './error.ts'
import type { AgentOutput, BranchPoint, EventBody, SessionPatch } from './event.ts'
import { titleFrom } from './glance.ts'
import { isLooser, type Mode } from './mode.ts'
import { modelInUse } from './model.ts'
import type { ExitInfo } from './ports.ts'
import { openApprovals, type Session } from './session.ts'
import type { Failure, Steer } from './turn.ts'
import { NO_USAGE } from './usage.ts'

/*
 * Every rule of the domain: a state and a wish in, events out. No clock, no disk, no process; the engine does the rest.
 */

/** A process that dies before it has the message is replaced this often. */
const MAX_ATTEMPTS = 2

export function send(state: Session, turnId: string, message: SendMessage, maxQueue: number): EventBody[] {
  const { input, key = null, origin = null, busy = 'queue' } = message
  const why = whyBusy(state)
  if (why && busy === 'refuse') throw tooBusy(why)
  if (busy === 'steer' && state.turn && !state.turn.interrupting) {
    return steer(state, turnId, message, maxQueue)
  }
  refuseAbove(maxQueue, state.queue.length)
  const position = why ? state.queue.length + 1 : 0
  const queued: EventBody = { type: 'turn.queued', turnId, input, key, origin, position }
  if (!why) return [queued, started(state, turnId)]
  return busy === 'interrupt' ? insteadOf(state, queued) : [queued]
}

type WhyBusy = 'paused' | 'turn_running' | 'queue'

/** Why a message cannot begin at once; null: it can. */
function whyBusy({ paused, turn, queue }: Session): WhyBusy | null {
  if (paused) return 'paused'
  if (turn) return 'turn_running'
  return queue.length > 0 ? 'queue' : null
}

const BUSY_WORDS: Readonly<Record<WhyBusy, string>> = {
  paused: 'The session is paused; resume it first',
  turn_running: 'A turn is running; wait for it, or interrupt it',
  queue: 'Other messages wait in the queue; wait for them, or clear the queue',
}

function tooBusy(reason: WhyBusy): CorralError {
  return new CorralError('conversation_busy', BUSY_WORDS[reason], { reason })
}

/** What runs is stopped, and what waits comes after the message. */
function insteadOf(state: Session, queued: EventBody & { type: 'turn.queued' }): EventBody[] {
  const { turnId, position } = queued
  const first = firstPlace(state)
  return [
    ...(state.turn ? interrupt(state, false) : []),
    queued,
    ...(position > first ? [{ type: 'turn.moved' as const, turnId, position: first }] : []),
  ]
}

function refuseAbove(limit: number, waiting: number): void {
  if (waiting < limit) return
  throw new CorralError(
    'queue_full',
    `${waiting} messages wait already; wait until some are done, or clear the queue`,
    {
      limit,
    },
  )
}

/** A message for the turn that runs; one that is being stopped takes none. */
export function steer(state: Session, steerId: string, message: SteerTurn, maxQueue: number): EventBody[] {
  const { turn } = state
  if (!turn || turn.interrupting) {
    const why = turn ? 'The turn is being stopped' : 'No turn is running'
    throw new CorralError('not_running', `${why}; send the text as a message`, {
      interrupting: turn !== null,
    })
  }
  refuseAbove(maxQueue, state.steers.length)
  const { input, key = null, origin = null } = message
  return [{ type: 'turn.steered', turnId: turn.id, steerId, input, key, origin }]
}

/**
 * No turn runs: the first message that the last one ended without is the next, before all that wait, and the others are for
 * that one. A human has said it, and nobody may have to say it again.
 */
export function promote(state: Session): EventBody[] {
  const [first] = state.steers
  if (!first || state.turn || state.destroyed) return []
  return [late(first, state.paused ? 1 : 0)]
}

/** The key stays with the steer: the same one may be that of a message, too. */
function late({ id: turnId, input, origin }: Steer, position: number): EventBody {
  return { type: 'turn.queued', turnId, input, key: null, origin, position, late: true }
}

/** The next message in the queue starts when nothing holds it back. */
export function advance(state: Session): EventBody[] {
  const next = state.queue[0]
  if (next === undefined || state.turn || state.paused || state.destroyed) return []
  return [started(state, next)]
}

function started(state: Session, turnId: string): EventBody {
  const { agent, mode } = state
  return { type: 'turn.started', turnId, agent, mode, model: modelInUse(state) }
}

export function interrupt(state: Session, clearQueue: boolean, reason?: 'stopping'): EventBody[] {
  const events = clearQueue
    ? [...cancelSteers(state, 'interrupted'), ...cancelQueue(state, 'interrupted')]
    : []
  if (state.turn?.interrupting) return events
  events.push(...cancelApprovals(state, 'interrupted'))
  if (!state.turn) return events
  if (state.paused) events.push({ type: 'session.changed', paused: false })
  return [...events, { type: 'turn.interrupting', turnId: state.turn.id, ...(reason && { reason }) }]
}

/** One message, wherever it is: stopped if it runs, taken out of the queue if it waits; what is over stays as it is. */
export function interruptTurn(state: Session, turnId: string, clearQueue: boolean): EventBody[] {
  if (state.queue.includes(turnId)) return cancelTurn(state, turnId)
  return state.turn?.id === turnId ? interrupt(state, clearQueue) : []
}

export function cancelTurn(state: Session, turnId: string): EventBody[] {
  if (!state.queue.includes(turnId)) throw notWaiting(state, turnId)
  const headed = !state.turn && state.queue[0] === turnId
  return [
    { type: 'turn.cancelled', turnId, reason: 'removed from the queue' },
    ...(headed ? promote(state) : []),
  ]
}

/** What the last turn ended without belongs together: the first in the queue is one of it, and the others are for that one. */
function firstPlace({ turn, steers }: Session): number {
  return !turn && steers.length > 0 ? 2 : 1
}

/** Position 1 is the next to run; what is beyond the end is the end. */
export function moveTurn(state: Session, turnId: string, wanted: number): EventBody[] {
  const now = state.queue.indexOf(turnId) + 1
  if (now === 0) throw notWaiting(state, turnId)
  const first = firstPlace(state)
  if (now < first) {
    throw new CorralError('invalid', 'This message stays the next to run: other messages belong to it', {
      field: 'turnId',
    })
  }
  const position = Math.min(Math.max(wanted, first), state.queue.length)
  return position === now ? [] : [{ type: 'turn.moved', turnId, position }]
}

export function notWaiting({ id }: Session, turnId: string): CorralError {
  return new CorralError('turn_not_found', `No message ${turnId} waits in the queue of session ${id}`)
}

export function setPaused(state: Session, paused: boolean): EventBody[] {
  return state.paused === paused ? [] : [{ type: 'session.changed', paused }]
}

export function configure(state: Session, command: ConfigureSession, around: Surroundings): EventBody[] {
  const patch: SessionPatch = {}
  const mode = command.plan === undefined ? command.mode : planned(state, command.plan)
  if (mode !== undefined && mode !== state.mode) {
    patch.mode = mode
    patch.modeBeforePlan = null
  }
  if (command.model !== undefined && command.model !== state.model) patch.model = command.model
  if (command.effort !== undefined && command.effort !== (state.effort ?? null)) patch.effort = command.effort
  if (command.title !== undefined && command.title !== state.title) patch.title = command.title
  if (command.nativeId !== undefined && command.nativeId !== state.nativeId) {
    if (state.turn) {
      throw new CorralError(
        'conversation_busy',
        'A turn is running; interrupt it before changing the conversation',
      )
    }
    patch.nativeId = command.nativeId
  }
  if (command.archived !== undefined && command.archived !== state.archived) patch.archived = command.archived
  if (command.notes !== undefined) patch.notes = { ...state.notes, ...command.notes }
  if (command.rules !== undefined) patch.rules = { ...state.rules, ...command.rules }
  if (Object.keys(patch).length === 0) return []
  return [{ type: 'session.changed', ...patch }, ...settle({ ...state, ...patch }, around)]
}

function planned(state: Session, plan: boolean): Mode {
  if (plan || state.mode !== 'plan') return plan ? 'plan' : state.mode
  return state.modeBeforePlan ?? state.lastFreeMode ?? 'ask'
}

export function destroy(state: Session): EventBody[] {
  const reason = 'session destroyed'
  const events = [
    ...cancelSteers(state, reason),
    ...cancelQueue(state, reason),
    ...cancelApprovals(state, reason),
  ]
  if (state.turn) events.push({ type: 'turn.interrupted', turnId: state.turn.id, usage: NO_USAGE })
  return [...events, { type: 'session.destroyed' }]
}

/** What an agent said, in the light of what the session is doing. */
export function absorb(state: Session, output: AgentOutput, around: Surroundings): EventBody[] {
  switch (output.type) {
    case 'turn.accepted':
      return accepted(state, output)
    case 'turn.begun':
      return state.turn ? accepted(state, { type: 'turn.accepted', turnId: state.turn.id }) : []
    case 'steer.taken':
      return taken(state, output.steerId)
    case 'approval.asked':
      return askedByAgent(state, output.approval, around)
    case 'approval.withdrawn': {
      const open = openApprovals(state).find((a) => a.requestId === output.requestId)
      if (!open) return drop(state, output.requestId)
      return withdraw(state, open.id, 'withdrawn by the agent', 'agent')
    }
    case 'call.asked': {
      const { type: _, ...call } = output
      return hold(state, call)
    }
    case 'limits.told':
      return [{ type: 'agent.limits', agent: state.agent, ...output.limits }]
    case 'agent.compacted':
      return compacted(output)
    case 'agent.context':
      return isNews(state.context, output) ? [output] : []
    case 'mode.observed':
      return observeMode(state, output.mode)
    case 'turn.ended':
      return state.turn && !isLate(state, output) ? endTurn(state, timed(state, output, around)) : []
    case 'title.told': {
      const toldTitle = titleFrom(output.title)
      const isNew = toldTitle !== null && toldTitle !== state.toldTitle
      return isNew ? [{ type: 'session.changed', reason: 'agent', toldTitle }] : []
    }
    case 'models.told':
      return []
    default:
      return [output]
  }
}

/** The end of another turn than the one that runs: an answer that is given twice must not end the next. */
export function isLate({ turn }: Session, { turnId }: AgentOutput & { type: 'turn.ended' }): boolean {
  return turnId !== undefined && turnId !== turn?.id
}

/** A steer that came too late an agent may begin by itself, also while its session is being paused. */
function accepted(state: Session, output: AgentOutput & { type: 'turn.accepted' }): EventBody[] {
  const { turnId } = output
  if (!state.turn && state.queue.includes(turnId)) return [started(state, turnId), output]
  return state.turn?.id === turnId && !state.turn.accepted ? [output] : []
}

function taken(state: Session, steerId: string): EventBody[] {
  const steer = state.steers.find(({ id }) => id === steerId)
  if (!steer || !state.turn) return []
  const { input, origin } = steer
  return [{ type: 'turn.steer_accepted', turnId: state.turn.id, steerId, input, origin }]
}

/**
 * The session's mode after the agent has changed its own. Only plan mode is entered and left by the agent itself; `auto` and
 * `ask` look alike to it. Out of a plan that a human has set it gets by an agreement, and never as far as `auto`.
 */
export function modeAfter(state: Session, mode: Mode | null): Mode {
  if (mode === 'plan' || state.mode !== 'plan') return mode === 'plan' ? mode : state.mode
  if (state.modeBeforePlan !== null) return state.modeBeforePlan
  const elsewhere = state.settings.permissionPromptTool !== undefined
  const agreed = elsewhere || (state.turn !== null && state.planAgreedIn === state.turn.id)
  if (!agreed) return 'plan'
  return mode === 'auto' ? 'code' : (mode ?? 'ask')
}

function observeMode(state: Session, observed: Mode | null): EventBody[] {
  const mode = modeAfter(state, observed)
  if (mode !== state.mode) {
    const modeBeforePlan = mode === 'plan' ? state.mode : null
    return [{ type: 'session.changed', reason: 'agent', mode, modeBeforePlan }]
  }
  if (!isLooser(observed, mode)) return []
  const message = `The agent has left mode ${mode} by itself: nobody agreed to that`
  return [{ type: 'agent.notice', level: 'warning', code: 'mode_left', message, data: { mode: observed } }]
}

type Ended = AgentOutput & { type: 'turn.ended' }

/** How long it took, by our clock where the agent has not said. */
function timed({ turn }: Session, end: Ended, { now }: Surroundings): Ended {
  if (end.usage.durationMs > 0 || !turn) return end
  return { ...end, usage: { ...end.usage, durationMs: Math.max(0, now - turn.startedAt) } }
}

function endTurn(state: Session, end: Ended): EventBody[] {
  const turnId = state.turn!.id
  const closing = cancelApprovals(state, 'the turn is over', turnId)
  if (end.outcome === 'completed') {
    const branch = branchAt(state, end)
    return [...closing, { type: 'turn.completed', turnId, usage: end.usage, text: end.text, ...branch }]
  }
  if (end.outcome === 'interrupted')
    return [...closing, { type: 'turn.interrupted', turnId, usage: end.usage }]
  const error = end.error ?? { code: 'agent_error', message: 'The agent gave up without saying why' }
  if (error.code === 'conversation_lost' && state.turn!.attempts < MAX_ATTEMPTS) {
    return [
      ...closing,
      {
        type: 'agent.notice',
        level: 'warning',
        code: error.code,
        message: `${error.message}; a fresh one begins`,
        data: null,
      },
      { type: 'session.changed', reason: 'agent', nativeId: null, ...toldInstead(state) },
      { type: 'turn.retried', turnId, reason: error.code },
    ]
  }
  return [...closing, { type: 'turn.failed', turnId, usage: end.usage, error }]
}

function branchAt({ nativeId }: Session, { branch: message }: Ended): { branch?: BranchPoint } {
  return nativeId === null || message === undefined ? {} : { branch: { nativeId, message } }
}

/** Where an agent cannot branch off an earlier point after all, it is told what was said up to there. */
function toldInstead({ branch, forkFrom }: Session): SessionPatch {
  return branch && forkFrom !== null ? { forkFrom: null, forkAt: null, recap: true } : {}
}

/** The process is gone: what was running ends, unless the message never got to it. */
export function exited(state: Session, runId: string, exit: ExitInfo, agentTitle: string): EventBody[] {
  const events: EventBody[] = [
    {
      type: 'agent.exited',
      runId,
      code: exit.code,
      signal: exit.signal,
      stderr: exit.stderr,
      expected: exit.expected,
    },
    ...cancelApprovals(state, 'the agent is gone', state.turn?.id ?? runId),
  ]
  const { turn } = state
  // A process that Corral itself ended before it had the message makes room for the one that will get it.
  if (!turn || state.destroyed || (exit.expected && !turn.accepted && !turn.interrupting)) return events
  if (turn.interrupting || exit.expected) {
    return [...events, { type: 'turn.interrupted', turnId: turn.id, usage: NO_USAGE }]
  }
  if (!turn.accepted && turn.attempts < MAX_ATTEMPTS) {
    return [
      ...events,
      { type: 'turn.retried', turnId: turn.id, reason: 'the process ended before it had the message' },
    ]
  }
  const error = exitFailure(exit, agentTitle)
  return [...events, { type: 'turn.failed', turnId: turn.id, usage: NO_USAGE, error }]
}

function exitFailure(exit: ExitInfo, agentTitle: string): Failure {
  const how = exit.signal ? `was killed (${exit.signal})` : `exited with code ${exit.code ?? 'unknown'}`
  const lastWords = exit.diskFull
    ? 'the disk is full; make room and send the message again'
    : exit.stderr.trim().split('\n').at(-1)
  return {
    code: 'agent_exited',
    message: `${agentTitle} ${how} during the turn${lastWords ? `: ${lastWords}` : ''}`,
    detail: { exitCode: exit.code, signal: exit.signal, stderr: exit.stderr },
  }
}

/** What becomes of them is told as of any message: it came too late, and was taken out. */
function cancelSteers(state: Session, reason: string): EventBody[] {
  return state.steers.flatMap((steer): EventBody[] => [
    late(steer, 1),
    { type: 'turn.cancelled', turnId: steer.id, reason },
  ])
}

function cancelQueue(state: Session, reason: string): EventBody[] {
  return state.queue.map((turnId) => ({ type: 'turn.cancelled', turnId, reason }))
}
