import { randomUUID } from 'node:crypto'
import type { Session } from '../../core/session.ts'
import type { Detection, LaunchPlan, SpareKind } from '../agent.ts'
import { request } from './control.ts'
import { setEffort } from './effort.ts'
import { appendedPrompt, asksOurselves, initialize, parked, waiting } from './launch.ts'
import { PERMISSION_MODES } from './mode.ts'

/*
 * A spare is a process started ahead of its session. One that may go anywhere is claimed with a hidden option of the CLI.
 * One that knows its directory has simply not been told its prompt yet, so it can still be told any, and the client's tools.
 * Only what a claim can still say may differ from a cold start; a folder whose settings the spare cannot take over is refused.
 */

export function sparePlan(
  detection: Detection,
  kind: SpareKind,
  parkingDir: string,
  ids: () => string,
): LaunchPlan {
  return kind.cwd === null
    ? parked(detection, kind, parkingDir, ids)
    : waiting(detection, { ...kind, cwd: kind.cwd }, ids)
}

/** Whether a spare can become this session: a new conversation, and nothing that only argv can say. */
export function claimable(session: Session, kind: SpareKind): boolean {
  const { nativeId, forkFrom, cwd, settings } = session
  if (nativeId !== null || forkFrom !== null || !asksOurselves(settings)) return false
  const { allowedTools, disallowedTools, maxTurns, mcpConfig, ...rest } = settings
  if ([allowedTools, disallowedTools, maxTurns, mcpConfig].some((it) => it !== undefined)) return false
  const { systemPrompt, clientTools, ownTools = true, questions = true, additionalDirectories } = rest
  if (questions !== (kind.questions ?? true)) return false
  if (kind.cwd !== null) {
    const fits = cwd === kind.cwd && ownTools === kind.ownTools && additionalDirectories === undefined
    return fits && (kind.told === undefined || wasTold(session, kind.told))
  }
  return ownTools && systemPrompt === undefined && clientTools === undefined
}

/**
 * The lines that turn a spare into this session's process. A refusal is the notice `claim_failed`, and every message
 * after it fails: end the spare and start cold. A barrier behind these lines tells when the claim is through.
 */
export function claim(session: Session, kind: SpareKind): string[] {
  const { mode, model, effort } = session
  const told = kind.told !== undefined
  const lines = kind.cwd === null ? [claimSession(session)] : told ? [] : initialize(session, randomUUID)
  const permission = PERMISSION_MODES[mode]
  if (kind.cwd !== null && permission !== 'default') {
    lines.push(request('mode', session.id, { subtype: 'set_permission_mode', mode: permission }))
  }
  if (model && model !== kind.told?.model)
    lines.push(request('model', session.id, { subtype: 'set_model', model }))
  if (effort) lines.push(...setEffort(session.id, effort))
  return lines
}

/** All that `initialize` would say has been said. */
function wasTold({ settings, model }: Session, told: NonNullable<SpareKind['told']>): boolean {
  const { systemPrompt, clientTools = [] } = settings
  const more = appendedPrompt(settings) !== undefined || clientTools.length > 0
  // Another model can still be chosen, but not the one that Claude would have chosen itself.
  return systemPrompt === told.systemPrompt && !more && (model !== null || told.model === null)
}

function claimSession(session: Session): string {
  const { additionalDirectories } = session.settings
  const appended = appendedPrompt(session.settings)
  return request('claim', session.id, {
    subtype: 'claim_session',
    cwd: session.cwd,
    permission_mode: PERMISSION_MODES[session.mode],
    ...(appended !== undefined && { append_system_prompt: appended }),
    ...(additionalDirectories !== undefined && { additional_directories: additionalDirectories }),
    include_initialize: false,
    sdk_mcp_servers: [],
  })
}
