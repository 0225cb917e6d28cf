import type { Engine } from '../../core/api.ts'
import { CorralError } from '../../core/error.ts'
import { uuid } from '../../core/ids.ts'
import type { Session, SessionSettings } from '../../core/session.ts'
import { findSession } from './ids.ts'
import { begin, letAsk, mustBeDirectory, ORIGIN, settingsOf, type Launched } from './launch.ts'
import { HumanLayerError, type Context } from './method.ts'
import { statusOf } from './status.ts'
import { type ContinueParams, required } from './wire.ts'

const STOP_MS = 30_000

export interface Continued extends Launched {
  claude_session_id: string
  parent_session_id: string
}

/** A child that goes on where its parent is now; a parent that runs is interrupted first. */
export async function continueSession(
  params: ContinueParams,
  { engine, options }: Context,
): Promise<Continued> {
  const parentId = required(params.session_id, 'session_id')
  const query = required(params.query, 'query')
  if (params.proxy_enabled) {
    throw new HumanLayerError('proxy_enabled is not supported', {
      code: 'unsupported',
      field: 'proxy_enabled',
    })
  }
  const parent = findSession(engine, parentId)
  mustBeContinuable(parent)
  const id = uuid()
  const owner = { sessionId: id, socket: options.socket, parentId: parent.id }
  const place = { home: options.home, cwd: parent.cwd }
  const settings = settingsOf(params, place, owner, parent.settings)
  await mustBeDirectory(parent.cwd)
  await stopped(engine, parent)
  const child = await branch(engine, parent.id, {
    id,
    settings,
    ...(params.title && { title: params.title }),
    ...(params.model && { model: params.model }),
  })
  if (params.permission_prompt_tool) await letAsk(engine, child)
  return { ...(await begin(engine, id, query)), claude_session_id: '', parent_session_id: parent.id }
}

function mustBeContinuable(parent: Session): void {
  const status = statusOf(parent)
  if (status !== 'waiting_input') return
  throw new HumanLayerError(
    `cannot continue session with status ${status} (must be completed, interrupted, running, or failed)`,
    { code: 'wrong_status', field: 'session_id' },
  )
}

interface Branch {
  id: string
  settings: SessionSettings
  title?: string
  model?: string
}

/** An agent that cannot branch goes on with the parent's own conversation. */
async function branch(engine: Engine, parentId: string, given: Branch): Promise<Session> {
  try {
    return await engine.fork({ sessionId: parentId, origin: ORIGIN, ...given })
  } catch (error) {
    if (!(error instanceof CorralError) || error.code !== 'unsupported') throw error
  }
  const { agent, cwd, mode, model, title, rules, nativeId } = engine.session(parentId)
  return engine.create({
    agent,
    cwd,
    mode,
    model,
    title,
    rules,
    nativeId,
    origin: ORIGIN,
    parentId,
    ...given,
  })
}

/** Resolves when the session's turn is over; what waits behind it is dropped. */
async function stopped(engine: Engine, { id: sessionId, turn }: Session): Promise<void> {
  if (!turn) return
  const after = engine.head
  await engine.interrupt({ sessionId, clearQueue: true })
  if (engine.session(sessionId).turn?.id !== turn.id) return
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(() => {
      subscription.close()
      reject(new HumanLayerError(`session ${sessionId} did not stop in time`, { code: 'timeout' }))
    }, STOP_MS)
    const types = ['turn.completed', 'turn.failed', 'turn.interrupted'] as const
    const subscription = engine.subscribe({ after, sessionId, types }, (events) => {
      if (!events.some(({ event }) => event.turnId === turn.id)) return
      clearTimeout(timer)
      subscription.close()
      resolve()
    })
  })
}
