import type { Event } from '../../../core/event.ts'
import { COMPRESS } from '../compaction.ts'
import { failure } from '../errors.ts'
import type { Context } from '../method.ts'
import type { OpenSession } from '../open-session.ts'
import type { Pause } from '../pauses.ts'
import type { SessionView } from '../ports.ts'
import type { Compaction } from '../wire.ts'

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
async function compress(session: OpenSession, context: Context): Promise<() => Promise<Compressed>> {
  const { corral, choices, newId } = context
  if (session.agent === null && choices.selected(session.id).provider === null) {
    throw failure('select a model first before running /compress', 'no_model')
  }
  const known = session.agent === null ? null : await corral.session(session.id)
  const why = await obstacle(known, context)
  if (why !== null) return () => Promise.resolve(untouched(session, why))
  const key = `${COMPRESS}${newId()}`
  const { pause, result } = follow(session, key)
  try {
    session.used = true
    await corral.compact(session.id, key)
    return result
  } catch (error) {
    pause.release()
    throw error
  }
}

/** The same, after what was asked for before; resolves with what came of it. */
export async function compressInTurn(sessionId: string, context: Context): Promise<Compressed> {
  const result = await context.sessions.inTurn(sessionId, (session) => compress(session, context))
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
function follow(session: OpenSession, key: string): { pause: Pause; result: () => Promise<Compressed> } {
  let turnId: string | null = null
  let isCancelled = false
  const pause = session.pauseAt((event) => {
    if (event.type === 'turn.queued' && event.key === key) turnId = event.turnId
    if (turnId === null || !ENDS.has(event.type) || event.turnId !== turnId) return false
    isCancelled = event.type === 'turn.cancelled'
    return true
  })
  async function result(): Promise<Compressed> {
    try {
      await pause.reached
      const { compaction, answer } = session.conversation
      if (isCancelled) return untouched(session, 'it was taken back before it began')
      return compaction ?? untouched(session, answer || 'the agent had nothing to sum up')
    } finally {
      pause.release()
    }
  }
  return { pause, result }
}

function untouched(session: OpenSession, hint: string): Compressed {
  const { tokens } = session.conversation.record
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
