import { needs, type EngineContext } from './context.ts'
import { CorralError } from './error.ts'
import type { EventOf, EventType } from './event.ts'
import { lineageOf } from './lineage.ts'
import type { Session } from './session.ts'
import type { Turn } from './turn.ts'

/*
 * Where a new session branches off: what it knows, and how its agent gets to know it.
 */

type Place = Pick<EventOf<'session.created'>, 'parentId' | 'forkFrom' | 'forkAt' | 'branch' | 'recap'>

/** From where the conversation is now. One that has not begun itself hands on where it would begin. */
export function asItIs(context: EngineContext, parent: Session): Place {
  needs(context, parent.agent, 'fork')
  const { id: parentId, nativeId, forkFrom, forkAt, recap } = parent
  const unbegun = { ...(forkAt && { forkAt }), ...(recap && { recap }) }
  return { parentId, forkFrom: nativeId ?? forkFrom, ...(nativeId === null && unbegun) }
}

const ENDS: readonly EventType[] = ['turn.completed', 'turn.failed', 'turn.interrupted']
/** Turns that are looked at for the last one that has begun. */
const LAST_TURNS = 200

/**
 * From after a turn of the conversation. The agent branches off there itself where it has said that it can, or where that is where
 * its conversation is anyway; else it is told what was said up to there.
 */
export function afterTurn(context: EngineContext, source: Session, turnId: string): Place {
  const { turn, owner, until } = turnIn(context, source, turnId)
  const { log } = context
  const ofTurn = { sessionId: owner.id, turnId, after: turn.seq - 1, limit: 1 }
  const [end] = log.events({ ...ofTurn, types: ENDS })
  if (!end || end.seq > until) throw notThere(source, turnId)
  const place = { parentId: owner.id, branch: { turnId, seq: end.seq } }
  const point = end.event.type === 'turn.completed' ? end.event.branch : undefined
  if (point) return { ...place, forkFrom: point.nativeId, forkAt: point.message }
  if (isWhereItIs(context, owner, turnId)) return { ...place, forkFrom: owner.nativeId }
  return { ...place, forkFrom: null, recap: true }
}

/** A turn that is over, and the session that it is of: this one, or one that it branched off. */
function turnIn(context: EngineContext, source: Session, turnId: string) {
  const turn = context.log.turn(turnId)
  const part = turn && lineageOf(context.log, source).find(({ session }) => session.id === turn.sessionId)
  if (!part || !hasBegun(turn)) throw notThere(source, turnId)
  if (turn.endedAt !== null) return { turn, owner: part.session, until: part.until }
  throw new CorralError(
    'conversation_busy',
    'This turn is still running; wait for its end, or interrupt it',
    { reason: 'turn_running' },
  )
}

function hasBegun(turn: Turn | null): turn is Turn {
  return turn !== null && turn.startedAt !== null
}

function notThere({ id }: Session, turnId: string): CorralError {
  return new CorralError('turn_not_found', `No turn ${turnId} is over in the conversation of session ${id}`)
}

/** Nothing was said since, so that the agent's own conversation ends there. */
function isWhereItIs({ log, catalog }: EngineContext, owner: Session, turnId: string): boolean {
  const { agent, nativeId, turn } = owner
  if (nativeId === null || turn || !catalog.names().includes(agent)) return false
  const last = log.turns(owner.id, LAST_TURNS).find(({ startedAt }) => startedAt !== null)
  return last?.id === turnId && catalog.capabilities(agent).fork
}
