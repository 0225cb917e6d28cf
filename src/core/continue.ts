import type { Engine } from './api.ts'
import type { ForkSession } from './command.ts'
import { CorralError } from './error.ts'
import type { Session } from './session.ts'
import { untilOver } from './wait.ts'

/** Stops what runs and drops what waits. False: the agent has not stopped in this time. */
export async function stop(
  engine: Pick<Engine, 'session' | 'interrupt' | 'turn' | 'subscribe' | 'head'>,
  sessionId: string,
  timeoutMs: number,
): Promise<boolean> {
  const { turn } = engine.session(sessionId)
  await engine.interrupt({ sessionId, clearQueue: true })
  if (!turn) return true
  await untilOver(engine, { sessionId, turnId: turn.id, timeoutMs })
  return engine.turn(turn.id).state !== 'running'
}

/**
 * A new session that goes on where this one is now: one that runs is stopped first. An agent that cannot branch goes on with
 * the very conversation.
 */
export async function continueFrom(engine: Engine, command: ForkSession, stopMs: number): Promise<Session> {
  const { sessionId: parentId, ...given } = command
  if (engine.session(parentId).turn && !(await stop(engine, parentId, stopMs))) {
    throw new CorralError('conversation_busy', `Session ${parentId} did not stop in time`, {
      reason: 'turn_running',
    })
  }
  try {
    return await engine.fork(command)
  } catch (error) {
    if (!(error instanceof CorralError) || error.code !== 'unsupported') throw error
  }
  const { agent, cwd, mode, model, title, rules, nativeId } = engine.session(parentId)
  return engine.create({ agent, cwd, mode, model, title, rules, nativeId, parentId, ...given })
}
