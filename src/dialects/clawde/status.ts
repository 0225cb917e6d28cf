import type { Event } from '../../core/event.ts'
import { statusOf as coreStatusOf, type Notes, type Session, type SessionStatus } from '../../core/session.ts'
import type { Outcome } from '../../core/turn.ts'

/** All that clients know. A session that waits for a human is at work, as far as these go. */
export const STATUSES = ['idle', 'running', 'paused', 'error'] as const
export type ClawdeStatus = (typeof STATUSES)[number]

export function statusOf(session: Session): ClawdeStatus {
  return named(coreStatusOf(session), session.lastOutcome)
}

/** Null: to these clients it is the same as before. */
export function statusChange(event: Event & { type: 'session.status' }): ClawdeStatus | null {
  const after = named(event.status, event.outcome)
  return event.status === 'destroyed' || after === named(event.previous, event.outcome) ? null : after
}

function named(status: SessionStatus, outcome: Outcome | null): ClawdeStatus {
  switch (status) {
    case 'paused':
      return 'paused'
    case 'running':
    case 'waiting':
      return 'running'
    case 'idle':
    case 'destroyed':
      return outcome === 'failed' ? 'error' : 'idle'
  }
}

/** Two of them forbid changes; what else tells them apart is up to clients. */
export const MODES = ['NORMAL', 'LEARN', 'STORM', 'FORGE', 'CRUNCH'] as const
/** Where a session keeps which of them a client has chosen. */
const MODE = 'clawde.mode'
export type ClawdeMode = (typeof MODES)[number]

export function isReadOnly(mode: ClawdeMode): boolean {
  return mode === 'FORGE' || mode === 'STORM'
}

export const chosenMode = (mode: ClawdeMode): Notes => ({ [MODE]: mode })
export const isModeChosen = ({ notes }: Session): boolean => MODE in notes

/** The name that a client gave it, unless the mode has been changed to something else meanwhile. */
export function modeName({ mode, notes }: Pick<Session, 'mode' | 'notes'>): ClawdeMode {
  const name = MODES.find((one) => one === notes[MODE])
  if (name && isReadOnly(name) === (mode === 'plan')) return name
  return mode === 'plan' ? 'FORGE' : 'NORMAL'
}
