import type { Engine } from '../../core/api.ts'
import { createTurnMapper, type TurnMapper } from './events.ts'

const TOOLS_LOOKED_AT = 1_000

/** A mapper that asks the log for what happened before its first event. */
export function turnMapper(engine: Engine, sessionId: string, turnId: string): TurnMapper {
  return createTurnMapper({
    turnId,
    nativeId() {
      try {
        return engine.sessions.get(sessionId).nativeId
      } catch {
        return null
      }
    },
    toolOf(callId, before) {
      const started = engine.events.read({
        sessionId,
        turnId,
        types: ['tool.started'],
        before,
        limit: TOOLS_LOOKED_AT,
      })
      for (const { event } of started) {
        if (event.type === 'tool.started' && event.callId === callId) return event.tool
      }
      return null
    },
    isOpen(approvalId) {
      try {
        return engine.approvals.get(approvalId).decision === null
      } catch {
        return false
      }
    },
  })
}

export function isOver(engine: Engine, turnId: string): boolean {
  try {
    const { state } = engine.turns.get(turnId)
    return state !== 'queued' && state !== 'running'
  } catch {
    return true
  }
}
