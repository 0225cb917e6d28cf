import { CorralError } from '../../core/error.ts'
import type { Session } from '../../core/session.ts'
import type { SessionSettings } from '../../core/settings.ts'
import type { Detection, LaunchPlan, SharedSupport } from '../agent.ts'
import { threadsOf } from './children.ts'
import { endCommands, marksOf } from './leftovers.ts'
import { arrival, greeting } from './opening.ts'
import { request } from './rpc.ts'
import type { CodexState } from './state.ts'

/** Everything that differs from session to session is told over stdin. */
export function plan(session: Session, detection: Detection): LaunchPlan {
  refuse(session.settings)
  return {
    command: detection.path ?? 'codex',
    args: ['app-server'],
    cwd: session.cwd,
    env: {},
    greeting: [...greeting(), ...arrival(session)],
  }
}

/** One process for all sessions with the same account. */
export const shared: SharedSupport = {
  sessions: 20,
  plan: ({ path }, cwd) => ({
    command: path ?? 'codex',
    args: ['app-server'],
    cwd,
    env: {},
    greeting: greeting(),
  }),
  join(session) {
    refuse(session.settings)
    return arrival(session)
  },
  /** Of a session that is gone for good the sub-agents are stopped, too; else they may go on. */
  leave(session, heard) {
    if (session.nativeId === null) return []
    const children = session.destroyed ? threadsOf((heard as CodexState | null)?.children ?? []) : []
    return [
      ...children.map((child) => stop(session, child)),
      request(session, 'leave', 'thread/unsubscribe', { threadId: session.nativeId }),
    ]
  },
  clear: (session) => endCommands(marksOf(session)),
}

/** Whatever a sub-agent is doing. */
export function stop(session: Session, threadId: string): string {
  return request(session, 'stop', 'turn/interrupt', { threadId, turnId: '' }, threadId)
}

/** What Codex has nothing for is not passed over in silence. */
function refuse(settings: SessionSettings): void {
  const { allowedTools, disallowedTools, maxTurns, permissionPromptTool, mcpConfig } = settings
  const wanted = {
    allowedTools: (allowedTools ?? []).length > 0,
    disallowedTools: (disallowedTools ?? []).length > 0,
    maxTurns: maxTurns !== undefined,
    permissionPromptTool: permissionPromptTool !== undefined && !['', 'stdio'].includes(permissionPromptTool),
    'mcpConfig as the name of a file': typeof mcpConfig === 'string',
  }
  const refused = Object.entries(wanted).flatMap(([setting, is]) => (is ? [setting] : []))
  if (refused.length === 0) return
  throw new CorralError('unsupported', `Codex has no such setting: ${refused.join(', ')}`, {
    settings: refused,
  })
}
