import type { Session } from '../../core/session.ts'
import type { Detection, LaunchPlan } from '../agent.ts'
import { request } from './control.ts'
import { appendedPrompt, asksOurselves, parked } from './launch.ts'
import { PERMISSION_MODES } from './mode.ts'

/**
 * A spare is a process started ahead of its session (with a hidden option of the CLI). Only what a claim can still
 * say may differ from a cold start; a folder whose settings the spare cannot take over is refused.
 */
export function sparePlan(detection: Detection, parkingDir: string, ids: () => string): LaunchPlan {
  return parked(detection, parkingDir, ids)
}

/** Whether a spare can become this session: a new conversation, and nothing that only argv can say. */
export function claimable(session: Session): boolean {
  if (session.nativeId !== null || session.forkFrom !== null || !asksOurselves(session.settings)) return false
  const { systemPrompt, allowedTools, disallowedTools, maxTurns, mcpConfig } = session.settings
  return [systemPrompt, allowedTools, disallowedTools, maxTurns, mcpConfig].every((it) => it === undefined)
}

/**
 * The lines that turn a spare into this session's process. A refusal is the notice `claim_failed`, and every message
 * after it fails: end the spare and start cold. A barrier behind these lines tells when the claim is through.
 */
export function claim(session: Session): string[] {
  const { additionalDirectories } = session.settings
  const appended = appendedPrompt(session.settings)
  const body = {
    subtype: 'claim_session',
    cwd: session.cwd,
    permission_mode: PERMISSION_MODES[session.mode],
    ...(appended !== undefined && { append_system_prompt: appended }),
    ...(additionalDirectories !== undefined && { additional_directories: additionalDirectories }),
    include_initialize: false,
    sdk_mcp_servers: [],
  }
  const lines = [request('claim', session.id, body)]
  if (session.model) lines.push(request('model', session.id, { subtype: 'set_model', model: session.model }))
  return lines
}
