import type { SessionUpdate } from '@agentclientprotocol/sdk/unstable'
import type { Event, EventOf } from '../../core/event.ts'
import { configOptions, type Chosen } from './options.ts'
import type { Corral, NamedModel, SessionView } from './port.ts'

interface ChoiceParts {
  corral: Pick<Corral, 'session'>
  session: SessionView
  models: readonly NamedModel[]
}

/** Which mode and model a session has by now. */
export interface Choice {
  readonly chosen: Readonly<Chosen>
  /** What an editor hears about it. Of the past only the end counts, and that is in the answer to its request. */
  step(event: Event, live: boolean): Promise<SessionUpdate[]>
}

export function createChoice({ corral, session, models }: ChoiceParts): Choice {
  const { id, mode, model, modelInUse } = session
  const chosen: Chosen = { mode, model, modelInUse }

  const options = (): SessionUpdate => {
    return { sessionUpdate: 'config_option_update', configOptions: configOptions(chosen, models) }
  }

  function changed({ mode, model, title }: EventOf<'session.changed'>, live: boolean): SessionUpdate[] {
    if (mode !== undefined) chosen.mode = mode
    if (model !== undefined) chosen.model = model
    if (!live) return []
    if (model !== undefined) chosen.modelInUse = model
    const updates: SessionUpdate[] = []
    if (mode !== undefined) updates.push({ sessionUpdate: 'current_mode_update', currentModeId: mode })
    if (mode !== undefined || model !== undefined) updates.push(options())
    if (title !== undefined) updates.push({ sessionUpdate: 'session_info_update', title })
    return updates
  }

  /** The agent has said which model it uses. */
  async function used(): Promise<SessionUpdate[]> {
    const now = await corral.session(id).catch(() => null)
    if (!now || now.modelInUse === chosen.modelInUse) return []
    chosen.modelInUse = now.modelInUse
    return [options()]
  }

  return {
    chosen,
    async step(event, live) {
      if (event.type === 'session.changed') return changed(event, live)
      return live && (event.type === 'agent.init' || event.type === 'agent.model') ? used() : []
    },
  }
}
