import { modeAfter } from '../../core/decide.ts'
import { isLooser } from '../../core/mode.ts'
import type { Session } from '../../core/session.ts'
import type { AgentService } from '../agent.ts'
import { type Client, createClient } from './client.ts'
import { setEffort } from './effort.ts'
import { changeMode, open, openNew, setMode, setModel, settle } from './handshake.ts'
import { cancelled } from './permission.ts'
import { type AcpProfile, modeOf } from './profile.ts'
import type { AcpRequest } from './request.ts'
import { invalid, mark, stop } from './rpc.ts'
import type { AcpState } from './state.ts'
import { Terminals } from './terminals.ts'

/** What one process of an agent gets from this side: answers, files, and commands that end with it. */
export function acpService(profile: AcpProfile, env: NodeJS.ProcessEnv): AgentService {
  const terminals = new Terminals(env)
  const client = createClient(profile, terminals)
  return {
    answer: (request, session) => answer(profile, client, env, request as AcpRequest, session),
    carryOut({ approval, decision }, session, heard) {
      if (approval.suggestions !== null) return null
      return client.carryOut(session, approval, decision, heard as AcpState).then((line) => [line])
    },
    end: () => terminals.end(),
    letGo: () => terminals.letGo(),
  }
}

async function answer(
  profile: AcpProfile,
  client: Client,
  env: NodeJS.ProcessEnv,
  request: AcpRequest,
  session: Session,
): Promise<string[]> {
  const sessionId = session.nativeId ?? ''
  switch (request.step) {
    case 'initialized':
      return [open(session, request.can)]
    case 'reopen':
      return [openNew(session, request.can)]
    case 'opened':
      await profile.opened?.(session, env)
      return [settle(profile, session, request.sessionId, request.choices)]
    case 'listen':
      return [mark('ready')]
    case 'mode':
      return [setMode(profile, sessionId, request.mode, request.place)]
    case 'model':
      return [setModel(sessionId, request.model, request.old)]
    case 'effort':
      return session.effort ? setEffort(sessionId, request.option, session.effort) : []
    case 'cancel':
      return [...request.ids.map(cancelled), ...request.calls.map((id) => invalid(id, 'Interrupted'))]
    case 'moved':
      return putBack(profile, session, request.modeId, request.modes)
    case 'over':
      return [mark('over')]
    case 'stop':
      return [stop(session)]
    case 'refuse':
      return [invalid(request.id, request.message)]
    case 'call':
      return [await client.look(session, request)]
  }
}

/** An agent that has taken more than it was given goes back to where the session is. */
function putBack(profile: AcpProfile, session: Session, modeId: string, offered: string[]): string[] {
  const mode = modeOf(profile, modeId)
  const target = modeAfter(session, mode)
  const fine = profile.modes[target].includes(modeId) || !isLooser(mode, target)
  return fine ? [] : changeMode(profile, session, target, offered)
}
