import type { Event } from '../../../core/event.ts'
import { COMPRESS, type Compaction } from '../compaction.ts'
import type { Context } from '../context.ts'
import { codeOf } from '../errors.ts'
import type { Room } from '../room.ts'

/** How long a turn may take to end when the conversation is to be summed up. */
const END_MS = 10_000

const ENDS: ReadonlySet<Event['type']> = new Set([
  'turn.completed',
  'turn.failed',
  'turn.interrupted',
  'turn.cancelled',
])

/** `hint`: why nothing was done. */
export type Compressed = Compaction & { hint?: string }

/** Has the agent sum up the conversation, and stops what runs first. Resolves when it has, or has not. */
export async function compressNow(room: Room, { corral, newId }: Context): Promise<Compressed> {
  const { history } = room.conversation.record
  if (room.agent === null || history.length === 0) return untouched(room, 'nothing has been said yet')
  if (room.conversation.busy) {
    await corral.interrupt(room.id, false)
    await room.idle(END_MS)
  }
  const key = `${COMPRESS}${newId()}`
  const stop = room.stopAt(endOf(key))
  try {
    room.used = true
    await corral.compact(room.id, key)
    await stop.reached
    const { compaction, answer } = room.conversation
    return compaction ?? untouched(room, answer || 'the agent had nothing to sum up')
  } catch (error) {
    if (codeOf(error) !== 'unsupported') throw error
    return untouched(room, (error as Error).message)
  } finally {
    stop.release()
  }
}

/** The end of the turn that came with this key; its id is told by its beginning. */
function endOf(key: string): (event: Event) => boolean {
  let turnId: string | null = null
  return (event) => {
    if (event.type === 'turn.queued' && event.key === key) turnId = event.turnId
    return turnId !== null && ENDS.has(event.type) && event.turnId === turnId
  }
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
