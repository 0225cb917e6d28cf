import type { ClientTool } from './call.ts'
import { CorralError } from './error.ts'

/** What a client may ask of an agent beyond mode, model and effort; a driver uses what it can and refuses the rest. */
export interface SessionSettings {
  systemPrompt?: string
  appendSystemPrompt?: string
  allowedTools?: string[]
  disallowedTools?: string[]
  maxTurns?: number
  mcpConfig?: unknown
  additionalDirectories?: string[]
  /** Told to the agent beside its own prompt, and kept apart from `appendSystemPrompt` so that either can be replaced. */
  customInstructions?: string
  /** An MCP tool of the client's own that is asked for permission, instead of Corral. */
  permissionPromptTool?: string
  /** How long an approval waits for a human; for ever if not given here nor in the configuration. */
  approvalTimeoutMs?: number
  /** Show all that the agent says about itself. */
  verbose?: boolean
  /** Tools that whoever made the session carries out itself. */
  clientTools?: ClientTool[]
  /** False: the agent has no tools but those of its client. */
  ownTools?: boolean
  /** False: nobody can answer the agent's questions. It has no tool to ask any, as far as it can be told so. */
  questions?: boolean
}

/** Settings that can be written down, and mean the same wherever the daemon was started. */
export function mustBeSound(settings: SessionSettings | undefined): void {
  try {
    JSON.stringify(settings)
  } catch (error) {
    throw new CorralError('invalid', 'settings: nested too deeply', { field: 'settings' }, error)
  }
  const relative = settings?.additionalDirectories?.find((path) => !path.startsWith('/'))
  if (relative === undefined) return
  const field = 'settings.additionalDirectories'
  throw new CorralError('invalid', `${field}: not an absolute path: ${relative}`, { field })
}
