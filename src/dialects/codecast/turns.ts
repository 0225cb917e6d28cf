import type { Engine } from '../../core/api.ts'
import { emptyConversation } from '../../core/conversation/conversation.ts'
import { createTurnMapper, type TurnMapper } from './events.ts'

/** A mapper of what a turn says after this event of the log. */
export function turnMapper(engine: Engine, sessionId: string, turnId: string, after: number): TurnMapper {
  return createTurnMapper({
    turnId,
    conversation() {
      const isWhole = after < (found(() => engine.turns.get(turnId))?.seq ?? 0)
      return isWhole ? emptyConversation() : engine.sessions.conversationBefore({ sessionId, seq: after + 1 })
    },
    nativeId: () => found(() => engine.sessions.get(sessionId))?.nativeId ?? null,
    isOpen: (approvalId) => found(() => engine.approvals.get(approvalId))?.decision === null,
  })
}

export function isOver(engine: Engine, turnId: string): boolean {
  const state = found(() => engine.turns.get(turnId))?.state
  return state !== 'queued' && state !== 'running'
}

/** Null: there is no such thing any more. */
function found<T>(look: () => T): T | null {
  try {
    return look()
  } catch {
    return null
  }
}
