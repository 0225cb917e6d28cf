import { isCompaction } from './compaction.ts'
import type { Content } from './content.ts'
import { notWaiting, steer } from './decide.ts'
import { CorralError } from './error.ts'
import type { EventBody } from './event.ts'
import type { Session } from './session.ts'
import type { Turn } from './turn.ts'

/*
 * What can be done about a message while it waits, beside moving it and taking it out. Pure, like `decide`.
 */

/** It says something else. One that came too late as a steer the agent may have read: that one stays as it is. */
export function editTurn(state: Session, turnId: string, input: Content[]): EventBody[] {
  if (!state.queue.includes(turnId)) throw notWaiting(state, turnId)
  if (state.lateTurns?.includes(turnId)) {
    throw new CorralError(
      'turn_not_found',
      'The agent may have read this message already; take it out of the queue and send another one',
    )
  }
  return [{ type: 'turn.edited', turnId, input }]
}

/** It is brought to the turn that runs, under the same id. Its key stays that of a message. */
export function steerTurn(state: Session, turn: Turn, maxQueue: number): EventBody[] {
  const { id: turnId, input, origin } = turn
  if (!state.queue.includes(turnId)) throw notWaiting(state, turnId)
  if (isCompaction(input)) {
    throw new CorralError('unsupported', 'Only a turn of its own can sum up the conversation; let it wait')
  }
  const message = { sessionId: state.id, input, ...(origin !== null && { origin }) }
  const steered = steer(state, turnId, message, maxQueue)
  const reason = 'sent into the running turn'
  return [{ type: 'turn.cancelled', turnId, reason, steered: state.turn!.id }, ...steered]
}
