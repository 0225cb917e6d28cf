import type { Event } from '../../core/event.ts'
import {
  openApprovals,
  statusOf as coreStatusOf,
  type Session,
  type SessionStatus,
} from '../../core/session.ts'
import type { Outcome } from '../../core/turn.ts'
import type { STATUSES } from './shapes.ts'

type HumanLayerStatus = (typeof STATUSES)[number]

export function statusOf(session: Session): HumanLayerStatus {
  const { turn, lastOutcome } = session
  const status = coreStatusOf(session)
  if (status !== 'paused') return named(status, lastOutcome)
  return duringPause({ waits: openApprovals(session).length > 0, runs: turn !== null }, lastOutcome)
}

type StatusEvent = Event & { type: 'session.status' }

/**
 * What a status was and is. Clients do not know of pauses: a paused session looks as it did before, which the event that
 * began the pause tells; `eventBefore` finds that one. What changes during a pause is told when it is over.
 */
export function statusChange(
  event: StatusEvent,
  eventBefore: () => StatusEvent | null,
): { before: HumanLayerStatus; after: HumanLayerStatus } {
  const { status, previous, outcome } = event
  return {
    before:
      previous === 'paused' ? duringPause(atItsStart(eventBefore()), outcome) : named(previous, outcome),
    after: status === 'paused' ? duringPause(atItsStart(event), outcome) : named(status, outcome),
  }
}

interface Pause {
  waits: boolean
  runs: boolean
}

function atItsStart(event: StatusEvent | null): Pause {
  return { waits: event?.previous === 'waiting', runs: Boolean(event?.turnId) }
}

function duringPause({ waits, runs }: Pause, outcome: Outcome | null): HumanLayerStatus {
  if (waits) return 'waiting_input'
  return runs ? 'running' : atRest(outcome)
}

function named(status: Exclude<SessionStatus, 'paused'>, outcome: Outcome | null): HumanLayerStatus {
  switch (status) {
    case 'waiting':
      return 'waiting_input'
    case 'running':
      return 'running'
    case 'idle':
    case 'destroyed':
      return atRest(outcome)
  }
}

/** An interrupted session has completed, as far as these five words go; `outcome` says more to those who look. */
function atRest(outcome: Outcome | null): HumanLayerStatus {
  if (outcome === null) return 'starting'
  return outcome === 'failed' ? 'failed' : 'completed'
}
