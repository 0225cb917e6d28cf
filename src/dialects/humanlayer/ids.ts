import type { Engine } from '../../core/api.ts'
import { CorralError } from '../../core/error.ts'
import type { Session } from '../../core/session.ts'
import { HumanLayerError } from './method.ts'

/** The second id that every session has in this protocol: the same with the last bit flipped, so it goes both ways. */
export function runIdOf(sessionId: string): string {
  const last = Number.parseInt(sessionId.slice(-1), 16)
  return Number.isNaN(last) ? sessionId : sessionId.slice(0, -1) + (last ^ 1).toString(16)
}

/** By either of its ids: clients put one where the other is expected. */
export function findSession(engine: Engine, id: string): Session {
  const session = sessionOrNull(engine, id) ?? sessionOrNull(engine, runIdOf(id))
  if (!session) throw new HumanLayerError(`session not found: ${id}`, { code: 'session_not_found' })
  return session
}

export function sessionOrNull(engine: Engine, id: string): Session | null {
  try {
    return engine.sessions.get(id)
  } catch (error) {
    if (error instanceof CorralError && error.code === 'session_not_found') return null
    throw error
  }
}
