import { continueFrom } from '../../core/continue.ts'
import { uuid } from '../../core/ids.ts'
import type { Session } from '../../core/session.ts'
import { findSession } from './ids.ts'
import { begin, letAsk, mustBeDirectory, ORIGIN, settingsOf } from './launch.ts'
import { HumanLayerError, type Context } from './method.ts'
import type { Continued } from './shapes.ts'
import { statusOf } from './status.ts'
import type { ContinueParams } from './wire.ts'

const STOP_MS = 30_000

/** A child that goes on where its parent is now; a parent that runs is interrupted first. */
export async function continueSession(
  params: ContinueParams,
  { engine, options }: Context,
): Promise<Continued> {
  if (params.proxy_enabled) {
    throw new HumanLayerError('proxy_enabled is not supported', {
      code: 'unsupported',
      field: 'proxy_enabled',
    })
  }
  const parent = findSession(engine, params.session_id)
  mustBeContinuable(parent)
  const id = uuid()
  const owner = { sessionId: id, socket: options.socket, parentId: parent.id }
  const place = { home: options.home, cwd: parent.cwd }
  const settings = settingsOf(params, place, owner, parent.settings)
  await mustBeDirectory(parent.cwd)
  const child = await continueFrom(
    engine,
    {
      sessionId: parent.id,
      origin: ORIGIN,
      id,
      settings,
      ...(params.title && { title: params.title }),
      ...(params.model && { model: params.model }),
    },
    STOP_MS,
  )
  if (params.permission_prompt_tool) await letAsk(engine, child)
  return { ...(await begin(engine, id, params.query)), claude_session_id: '', parent_session_id: parent.id }
}

function mustBeContinuable(parent: Session): void {
  const status = statusOf(parent)
  if (status !== 'waiting_input') return
  throw new HumanLayerError(
    `cannot continue session with status ${status} (must be completed, interrupted, running, or failed)`,
    { code: 'wrong_status', field: 'session_id' },
  )
}
