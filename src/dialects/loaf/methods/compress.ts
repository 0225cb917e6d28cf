import type { Event } from '../../../core/event.ts'
import { COMPRESS, type Compaction } from '../compaction.ts'
import type { Context } from '../context.ts'
import { failure } from '../errors.ts'
import type { SessionView } from '../ports.ts'
import type { Room, Stop } from '../room.ts'

const ENDS: ReadonlySet<Event['type']> = new Set([
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
])

/** `hint`: why nothing was done. */
export type Compressed = Compaction & { hint?: string }

/**
 * Has the agent sum up the conversation. What runs is stopped first, what waits comes after it. Resolves when it is asked for,
 * with how to learn what came of it.
 */
async function compress(room: Room, context: Context): Promise<() => Promise<Compressed>> {
  const { corral, choices, newId } = context
  if (room.agent === null && choices.selected(room.id).provider === null) {
    throw failure('select a model first before running /compress', 'no_model')
  }
  const session = room.agent === null ? null : await corral.session(room.id)
  const why = await obstacle(session, context)
  if (why !== null) return () => Promise.resolve(untouched(room, why))
  const key = `${COMPRESS}${newId()}`
  const { stop, result } = follow(room, key)
  try {
    room.used = true
    await corral.compact(room.id, key)
    return result
  } catch (error) {
    stop.release()
    throw error
  }
}

/** The same, after what was asked for before; resolves with what came of it. */
export async function compressInTurn(sessionId: string, context: Context): Promise<Compressed> {
  const result = await context.rooms.inTurn(sessionId, (room) => compress(room, context))
  return result()
}

/** Why there is nothing to do. */
async function obstacle(session: SessionView | null, { corral }: Context): Promise<string | null> {
  const isNew = !session || (session.turnCount === 0 && session.parentId === null && !session.turn)
  if (isNew) return 'nothing has been said yet'
  const agent = (await corral.agents()).find(({ name }) => name === session.agent)
  return agent?.capabilities.compact ? null : `${session.agent} cannot sum up its conversation on request`
}

/** The end of the turn that comes with this key; its id is told by its beginning. */
function follow(room: Room, key: string): { stop: Stop; result: () => Promise<Compressed> } {
  let turnId: string | null = null
  let isCancelled = false
  const stop = room.stopAt((event) => {
    if (event.type === 'turn.queued' && event.key === key) turnId = event.turnId
    if (turnId === null || !ENDS.has(event.type) || event.turnId !== turnId) return false
    isCancelled = event.type === 'turn.cancelled'
    return true
  })
  async function result(): Promise<Compressed> {
    try {
      await stop.reached
      const { compaction, answer } = room.conversation
      if (isCancelled) return untouched(room, 'it was taken back before it began')
      return compaction ?? untouched(room, answer || 'the agent had nothing to sum up')
    } finally {
      stop.release()
    }
  }
  return { stop, result }
}

function untouched(room: Room, hint: string): Compressed {
  const { tokens } = room.conversation.record
  return {
    compressed: false,
    estimated_tokens_before: tokens,
    estimated_tokens_after: tokens,
    model_context_window: null,
    target_limit: null,
    anchor_event_index_before: 0,
    anchor_event_index_after: 0,
    hint,
  }
}
