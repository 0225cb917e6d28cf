import type { Event } from '../../core/event.ts'
import { statusOf as coreStatusOf, type Session, type SessionStatus } from '../../core/session.ts'
import type { Outcome } from '../../core/turn.ts'

/** All that old clients know; they refuse a list with any other. */
export type HumanLayerStatus = 'starting' | 'running' | 'completed' | 'failed' | 'waiting_input'

export function statusOf(session: Session): HumanLayerStatus {
  return named(coreStatusOf(session), session.turn !== null, session.lastOutcome)
}

type StatusEvent = Event & { type: 'session.status' }

/**
 * What a status was and is. Clients do not know of pauses: whether a paused session looks busy depends on its turn, which
 * the event that began the pause tells; `eventBefore` finds that one.
 */
export function statusChange(
  event: StatusEvent,
  eventBefore: () => StatusEvent | null,
): { before: HumanLayerStatus; after: HumanLayerStatus } {
  const { status, previous, outcome } = event
  const wasInTurn = previous === 'paused' && Boolean(eventBefore()?.turnId)
  return {
    before: named(previous, wasInTurn, outcome),
    after: named(status, Boolean(event.turnId), outcome),
  }
}

function named(status: SessionStatus, inTurn: boolean, outcome: Outcome | null): HumanLayerStatus {
  switch (status) {
    case 'waiting':
      return 'waiting_input'
    case 'running':
      return 'running'
    case 'paused':
      return inTurn ? 'running' : atRest(outcome)
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
