import type { Session } from '../../core/session.ts'
import type { SessionSettings } from '../../core/settings.ts'
import type { Detection, LaunchPlan, SpareKind } from '../agent.ts'
import { CLIENT_SERVER } from './client-tools.ts'
import { barrier, request } from './control.ts'
import { setEffort } from './effort.ts'
import { isObject, type JsonObject } from '../json.ts'
import { PERMISSION_MODES } from './mode.ts'

const BASE_ARGS = [
  '-p',
  '--output-format=stream-json',
  '--input-format=stream-json',
  '--verbose',
  '--include-partial-messages',
]

/** Claude asks Corral, on the same pipes as everything else. */
const OURSELVES = 'stdio'

const BASE_ENV = {
  /** Failures at start come as a result line, not on stderr only. */
  CLAUDE_CODE_STARTUP_FAILURE_RESULTS: '1',
  /** Sub-agents in the background would outlive their turn, and start turns that nobody asked for. */
  CLAUDE_CODE_DISABLE_BACKGROUND_TASKS: '1',
}

/** A tool call of a client's own MCP server may wait for a human, who may be silent for longer than Claude would bear. */
const PATIENT_ENV = {
  MCP_TOOL_TIMEOUT: `${24 * 60 * 60 * 1000}`,
  CLAUDE_CODE_MCP_TOOL_IDLE_TIMEOUT: '0',
}

/** The client's tools are there from the start, none has to be searched for first, and all that are called are called at once. */
const OFFERING_ENV = { ENABLE_TOOL_SEARCH: 'false', CLAUDE_CODE_MAX_TOOL_USE_CONCURRENCY: '100' }

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
      `--permission-prompt-tool=${promptTool(settings)}`,
      ...conversation(session, ids),
      ...(session.model ? [`--model=${session.model}`] : []),
      `--permission-mode=${PERMISSION_MODES[session.mode]}`,
      ...(settings.allowedTools ?? []).map((tool) => `--allowedTools=${tool}`),
      ...(settings.disallowedTools ?? []).map((tool) => `--disallowedTools=${tool}`),
      ...(settings.maxTurns === undefined ? [] : [`--max-turns=${settings.maxTurns}`]),
      ...(settings.additionalDirectories ?? []).map((path) => `--add-dir=${path}`),
      ...toolArgs(settings),
      ...mcpArgs(settings),
    ],
    cwd: session.cwd,
    env: {
      ...BASE_ENV,
      ...(usesOwnServers(settings) && PATIENT_ENV),
      ...(settings.clientTools && OFFERING_ENV),
    },
    greeting: [
      ...initialize(session, ids),
      ...(session.effort ? setEffort(ids(), session.effort) : []),
      ...(servers ? [request('mcp', ids(), { subtype: 'mcp_set_servers', servers })] : []),
    ],
  }
}

/** A process that waits for its session: it is started in any directory and told by `claim` where it belongs. */
export function parked(
  detection: Detection,
  { questions = true }: SpareKind,
  cwd: string,
  ids: () => string,
): LaunchPlan {
  return {
    command: detection.path ?? 'claude',
    args: [
      ...BASE_ARGS,
      `--permission-prompt-tool=${OURSELVES}`,
      '--await-claim',
      `--session-id=${ids()}`,
      ...toolArgs({ questions }),
    ],
    cwd,
    env: { ...BASE_ENV },
    greeting: [initialization(ids(), {})],
  }
}

/** A process that knows its directory and its tools, and waits to be told the rest. */
export function waiting(
  detection: Detection,
  { cwd, ownTools, questions = true, told }: SpareKind & { cwd: string },
  ids: () => string,
): LaunchPlan {
  const settings: SessionSettings = { clientTools: [], ownTools, questions }
  return {
    command: detection.path ?? 'claude',
    args: [
      ...BASE_ARGS,
      `--permission-prompt-tool=${OURSELVES}`,
      `--session-id=${ids()}`,
      ...(told?.model ? [`--model=${told.model}`] : []),
      ...toolArgs(settings),
      ...mcpArgs(settings),
    ],
    cwd,
    env: { ...BASE_ENV, ...PATIENT_ENV, ...OFFERING_ENV },
    // Answered when it is up: until then it is not warm.
    greeting: [
      ...(told ? [initialization(ids(), { systemPrompt: [told.systemPrompt] })] : []),
      barrier(ids()),
    ],
  }
}

/**
 * Whom Claude asks for permission. It looks for an MCP tool when it asks the first time, not when it starts, so the
 * tool's server may come over stdin like any other.
 */
function promptTool({ permissionPromptTool }: SessionSettings): string {
  return permissionPromptTool || OURSELVES
}

export function asksOurselves(settings: SessionSettings): boolean {
  return promptTool(settings) === OURSELVES
}

function usesOwnServers(settings: SessionSettings): boolean {
  return settings.mcpConfig !== undefined || !asksOurselves(settings) || settings.clientTools !== undefined
}

/** Whether a call of the client's tools may happen is the client's business: nobody else is asked. */
function toolArgs({ clientTools, ownTools, questions }: SessionSettings): string[] {
  return [
    ...(ownTools === false ? ['--tools='] : []),
    ...(questions === false ? ['--disallowedTools=AskUserQuestion'] : []),
    ...(clientTools === undefined ? [] : [`--allowedTools=mcp__${CLIENT_SERVER}`]),
  ]
}

/** What is told beside Claude's own prompt; undefined when there is nothing to tell. */
export function appendedPrompt(settings: SessionSettings): string | undefined {
  const texts = [settings.appendSystemPrompt, settings.customInstructions].filter((text) => text)
  return texts.length > 0 ? texts.join('\n\n') : undefined
}

function conversation(session: Session, ids: () => string): string[] {
  if (session.nativeId) return [`--resume=${session.nativeId}`]
  const fresh = `--session-id=${ids()}`
  if (!session.forkFrom) return [fresh]
  const point = session.forkAt ? [`--resume-session-at=${session.forkAt}`] : []
  return [`--resume=${session.forkFrom}`, '--fork-session', ...point, fresh]
}

/**
 * Claude keeps the prompts that a conversation began with, whatever it is told later. One that is continued here may
 * have begun elsewhere or with other words, and the session's own must hold. The answer tells the models; where there is
 * nothing to say, only those are asked for.
 */
export function initialize(session: Session, ids: () => string): string[] {
  const { systemPrompt, clientTools } = session.settings
  const appendSystemPrompt = appendedPrompt(session.settings)
  const tools = (clientTools ?? []).length > 0
  if (systemPrompt === undefined && appendSystemPrompt === undefined && !tools)
    return [request('models', ids(), { subtype: 'list_models' })]
  const body = {
    ...(systemPrompt !== undefined && { systemPrompt: [systemPrompt] }),
    ...(appendSystemPrompt !== undefined && { appendSystemPrompt }),
    ...(tools && { sdkMcpServers: [CLIENT_SERVER] }),
    ...((session.nativeId ?? session.forkFrom) !== null && { systemPromptSnapshot: false }),
  }
  return [initialization(ids(), body)]
}

function initialization(id: string, body: JsonObject): string {
  return request('initialize', id, { subtype: 'initialize', ...body })
}

/** As in a `.mcp.json` file, with or without its outer `mcpServers`. */
function mcpServers(config: unknown): JsonObject | null {
  if (!isObject(config)) return null
  return isObject(config.mcpServers) ? config.mcpServers : config
}

/** A string names a file. */
function mcpArgs({ mcpConfig: config, ownTools }: SessionSettings): string[] {
  if (config === undefined && ownTools !== false) return []
  return ['--strict-mcp-config', ...(typeof config === 'string' ? [`--mcp-config=${config}`] : [])]
}
