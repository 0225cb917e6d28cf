import type { Engine } from './api.ts'
import type { ForkSession } from './command.ts'
import { CorralError } from './error.ts'
import type { Session } from './session.ts'
import { untilOver } from './wait.ts'

/** Stops what runs and drops what waits. False: the agent has not stopped in this time. */
export async function stop(
  engine: Pick<Engine, 'sessions' | 'turns' | 'events'>,
  sessionId: string,
  timeoutMs: number,
): Promise<boolean> {
  const { turn } = engine.sessions.get(sessionId)
  await engine.turns.interrupt({ sessionId, clearQueue: true })
  if (!turn) return true
  await untilOver(engine, { sessionId, turnId: turn.id, timeoutMs })
  return engine.turns.get(turn.id).state !== 'running'
}

/**
 * A new session that goes on where this one is now: one that runs is stopped first. An agent that cannot branch goes on with
 * the very conversation.
 */
export async function continueFrom(engine: Engine, command: ForkSession, stopMs: number): Promise<Session> {
  const { sessionId: parentId, ...given } = command
  if (engine.sessions.get(parentId).turn && !(await stop(engine, parentId, stopMs))) {
    throw new CorralError('conversation_busy', `Session ${parentId} did not stop in time; try again`, {
      reason: 'turn_running',
    })
  }
  try {
    return await engine.sessions.fork(command)
  } catch (error) {
    if (!(error instanceof CorralError) || error.code !== 'unsupported') throw error
  }
  const { agent, cwd, mode, model, title, rules, nativeId, worktreeOf } = engine.sessions.get(parentId)
  const from = worktreeOf === undefined ? {} : { worktreeOf }
  const like = { agent, cwd, mode, model, title, rules, nativeId, ...from }
  return engine.sessions.create({ ...like, parentId, ...given })
}
