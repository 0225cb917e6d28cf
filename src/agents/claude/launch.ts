import type { Session } from '../../core/session.ts'
import type { Detection, LaunchPlan } from '../agent.ts'
import { request } from './control.ts'
import { isObject, type JsonObject } from './json.ts'
import { PERMISSION_MODES } from './mode.ts'

const BASE_ARGS = [
  '-p',
  '--output-format=stream-json',
  '--input-format=stream-json',
  '--verbose',
  '--include-partial-messages',
  '--permission-prompt-tool=stdio',
]

const BASE_ENV = {
  /** Failures at start come as a result line, not on stderr only. */
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
  /** Sub-agents in the background would outlive their turn, and start turns that nobody asked for. */
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
}

/** A tool call of a client's own MCP server may wait for a human. */
const MCP_TIMEOUT_MS = 24 * 60 * 60 * 1000

/**
 * Values go as `--option=value`, so that one which starts with a dash is never an option itself. Prompts and MCP
 * settings (which hold keys) go over stdin: argv can be read by everybody on the machine.
 */
export function plan(session: Session, detection: Detection, ids: () => string): LaunchPlan {
  const { settings } = session
  const servers = mcpServers(settings.mcpConfig)
  return {
    command: detection.path ?? 'claude',
    args: [
      ...BASE_ARGS,
      ...conversation(session, ids),
      ...(session.model ? [`--model=${session.model}`] : []),
      `--permission-mode=${PERMISSION_MODES[session.mode]}`,
      ...(settings.allowedTools ?? []).map((tool) => `--allowedTools=${tool}`),
      ...(settings.disallowedTools ?? []).map((tool) => `--disallowedTools=${tool}`),
      ...(settings.maxTurns === undefined ? [] : [`--max-turns=${settings.maxTurns}`]),
      ...(settings.additionalDirectories ?? []).map((path) => `--add-dir=${path}`),
      ...mcpArgs(settings.mcpConfig),
    ],
    cwd: session.cwd,
    env: { ...BASE_ENV, ...(settings.mcpConfig !== undefined && { MCP_TOOL_TIMEOUT: `${MCP_TIMEOUT_MS}` }) },
    greeting: [
      ...initialize(session, ids),
      ...(servers ? [request('mcp', ids(), { subtype: 'mcp_set_servers', servers })] : []),
    ],
  }
}

/** A process that waits for its session: it is started in any directory and told by `claim` where it belongs. */
export function parked(detection: Detection, cwd: string, ids: () => string): LaunchPlan {
  return {
    command: detection.path ?? 'claude',
    args: [...BASE_ARGS, '--await-claim', `--session-id=${ids()}`],
    cwd,
    env: { ...BASE_ENV },
    greeting: [request('initialize', ids(), { subtype: 'initialize' })],
  }
}

function conversation(session: Session, ids: () => string): string[] {
  if (session.nativeId) return [`--resume=${session.nativeId}`]
  const fresh = `--session-id=${ids()}`
  return session.forkFrom ? [`--resume=${session.forkFrom}`, '--fork-session', fresh] : [fresh]
}

/** The CLI keeps the prompts of a conversation: told again at a resume they change nothing. */
function initialize(session: Session, ids: () => string): string[] {
  const { systemPrompt, appendSystemPrompt } = session.settings
  if (systemPrompt === undefined && appendSystemPrompt === undefined) return []
  const body = {
    subtype: 'initialize',
    ...(systemPrompt !== undefined && { systemPrompt: [systemPrompt] }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
  }
  return [request('initialize', ids(), body)]
}

/** As in a `.mcp.json` file, with or without its outer `mcpServers`. */
function mcpServers(config: unknown): JsonObject | null {
  if (!isObject(config)) return null
  return isObject(config.mcpServers) ? config.mcpServers : config
}

/** A string names a file. */
function mcpArgs(config: unknown): string[] {
  if (config === undefined) return []
  return ['--strict-mcp-config', ...(typeof config === 'string' ? [`--mcp-config=${config}`] : [])]
}
