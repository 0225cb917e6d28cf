import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { Engine } from '../../core/api.ts'
import { FOR_EVER, NO_RULES, type Rules } from '../../core/rule.ts'
import type { Session } from '../../core/session.ts'
import type { SessionSettings } from '../../core/settings.ts'
import { runIdOf } from './ids.ts'
import { promptToolOf, serversFor, serversOf, type Owner, type Servers } from './mcp.ts'
import { HumanLayerError, type HumanLayerOptions } from './method.ts'
import type { Launched } from './shapes.ts'
import { isObject } from './text.ts'
import type { AgentParams, LaunchParams } from './wire.ts'

export const ORIGIN = 'humanlayer'

/** The directory that a client means: `~` is the user's home, the rest starts from where the daemon was started. */
export async function workingDirectory(
  path: string | undefined,
  options: HumanLayerOptions,
): Promise<string> {
  const directory = expanded(path ?? '', options.home, options.cwd)
  await mustBeDirectory(directory)
  return directory
}

export async function mustBeDirectory(path: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isDirectory()) return
  throw new HumanLayerError(`working directory does not exist: ${path}`, {
    code: 'path_not_found',
    field: 'working_dir',
  })
}

function expanded(path: string, home: string, base: string): string {
  if (path === '~') return home
  return path.startsWith('~/') ? join(home, path.slice(2)) : resolve(base, path)
}

/** The settings of a new session; those of `parent` where nothing is said. What is empty has not been said. */
export function settingsOf(
  params: AgentParams,
  place: { home: string; cwd: string },
  owner: Owner,
  parent: SessionSettings = {},
): SessionSettings {
  const directories = params.additional_directories?.map((path) => expanded(path, place.home, place.cwd))
  const { mcpConfig, permissionPromptTool, maxTurns: _, ...inherited } = parent
  const given = serversOf(params.mcp_config)
  const servers = given ?? inheritedServers(mcpConfig)
  return {
    ...inherited,
    ...(mcpConfig !== undefined && !given && { mcpConfig }),
    ...said({
      systemPrompt: params.system_prompt,
      appendSystemPrompt: params.append_system_prompt,
      customInstructions: params.custom_instructions,
      allowedTools: params.allowed_tools,
      disallowedTools: params.disallowed_tools,
      additionalDirectories: directories,
      maxTurns: params.max_turns,
      verbose: params.verbose,
      approvalTimeoutMs: params.approval_timeout_ms,
      mcpConfig: servers ? serversFor(servers, owner) : undefined,
      permissionPromptTool: promptTool(params.permission_prompt_tool, servers) ?? permissionPromptTool,
    }),
  }
}

/** Other clients may configure servers in ways that are not known here: those stay as they are. */
function inheritedServers(config: unknown): Servers | null {
  try {
    return isObject(config) ? serversOf(config) : null
  } catch {
    return null
  }
}

/** Undefined: nothing was said. "": the daemon is to ask, also where the parent let a tool do it. */
function promptTool(tool: string | undefined, servers: Servers | null): string | undefined {
  return tool ? (promptToolOf(tool, servers) ?? '') : undefined
}

function said(values: { [K in keyof SessionSettings]: SessionSettings[K] | undefined }): SessionSettings {
  const entries = Object.entries(values).filter(([, value]) => !isEmpty(value))
  return Object.fromEntries(entries) as SessionSettings
}

function isEmpty(value: unknown): boolean {
  return !value || (Array.isArray(value) && value.length === 0)
}

const REFUSE_ALL = '*'

/** What passes, or is refused, without a question. */
export function rulesOf(params: LaunchParams, askAlways: boolean, now: number): Rules {
  const skips = params.dangerously_skip_permissions === true
  const nobodyToAsk = !askAlways && !params.permission_prompt_tool && !skips
  return {
    ...NO_RULES,
    deny: nobodyToAsk ? [REFUSE_ALL] : [],
    acceptEdits: params.auto_accept_edits === true,
    skipUntil: skips ? skipUntil(params.dangerously_skip_permissions_timeout, now) : null,
  }
}

export function skipUntil(timeoutMs: number | undefined, now: number): number {
  return timeoutMs ? Math.min(now + timeoutMs, FOR_EVER) : FOR_EVER
}

/** A child whose client now names somebody to ask is not refused everything, as its parent was. */
export async function letAsk(engine: Engine, { id, rules }: Session): Promise<void> {
  if (!rules.deny.includes(REFUSE_ALL)) return
  await engine.sessions.configure({
    sessionId: id,
    rules: { deny: rules.deny.filter((rule) => rule !== REFUSE_ALL) },
  })
}

/** Brings the first message to a new session; one that cannot have it is not left behind. */
export async function begin(engine: Engine, sessionId: string, query: string): Promise<Launched> {
  try {
    await engine.turns.send({ sessionId, input: [{ type: 'text', text: query }], origin: ORIGIN })
  } catch (error) {
    await engine.sessions.destroy(sessionId).catch(() => undefined)
    throw error
  }
  return { session_id: sessionId, run_id: runIdOf(sessionId) }
}
