import type { Session } from '../../core/session.ts'
import type { SessionSettings } from '../../core/settings.ts'
import type { Failure } from '../../core/turn.ts'
import { asObject, asString, isObject, type JsonObject, withoutLongLists } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { type Reply, notification, request } from './rpc.ts'
import { GUARD } from './mode.ts'
import { listModels } from './models.ts'
import { notice, says, type Step } from '../step.ts'
import type { CodexState } from './state.ts'

const MAX_INIT = 16 * 1024

/** Said often, and told by other lines or of no use here. */
const UNHEARD = [
  'deprecationNotice',
  'hook/completed',
  'hook/started',
  'item/commandExecution/outputDelta',
  'item/commandExecution/terminalInteraction',
  'item/fileChange/outputDelta',
  'item/fileChange/patchUpdated',
  'item/mcpToolCall/progress',
  'remoteControl/status/changed',
  'skills/changed',
  'thread/goal/cleared',
  'thread/name/updated',
  'thread/readState/changed',
  'thread/settings/updated',
  'thread/status/changed',
]

/** Of the process, before any session is in it. */
export function greeting(): string[] {
  const clientInfo = { name: 'corral', title: 'Corral', version: '1' }
  const capabilities = { experimentalApi: true, optOutNotificationMethods: UNHEARD }
  return [
    request({ id: 'process' }, 'initialize', 'initialize', { clientInfo, capabilities }),
    notification('initialized'),
  ]
}

/** A question whose answer says whether a conversation can be opened at all; and one that nothing waits for. */
export function arrival(session: Session): string[] {
  return [request(session, 'account', 'account/read', { refreshToken: false }), listModels(session)]
}

/**
 * Opens the session's conversation; `fresh` when the one that it had is lost. `rules`: files of the user's that let commands
 * pass; the answer names them again.
 */
export function open(session: Session, fresh: boolean, rules: string[] = []): string {
  const params = {
    cwd: session.cwd,
    ...(session.model !== null && { model: session.model }),
    ...instructions(session.settings),
    config: {
      'shell_environment_policy.set.CORRAL_SESSION_ID': session.id,
      ...mcpServers(session.settings.mcpConfig),
      ...(rules.length > 0 && GUARD),
      ...(session.settings.questions === false && NO_QUESTIONS),
    },
  }
  const [method, threadId] =
    session.nativeId !== null ? ['thread/resume', session.nativeId] : ['thread/fork', session.forkFrom]
  const about = rules.join(', ')
  if (fresh || threadId === null) {
    const offered = { ...params, ...dynamicTools(session.settings) }
    return request(session, 'open', 'thread/start', offered, about)
  }
  // What was said before is in Corral's log: Codex need not tell it again.
  return request(session, 'open', method!, { threadId, ...params, excludeTurns: true }, about)
}

const NO_QUESTIONS: JsonObject = { 'tools.experimental_request_user_input.enabled': false }

/** Tools of the client's; a conversation keeps those that it began with. */
function dynamicTools({ clientTools = [] }: SessionSettings): JsonObject {
  if (clientTools.length === 0) return {}
  return { dynamicTools: clientTools.map((tool) => ({ type: 'function', ...tool })) }
}

function instructions(settings: SessionSettings): JsonObject {
  const { systemPrompt, appendSystemPrompt, customInstructions } = settings
  const appended = [appendSystemPrompt, customInstructions].filter((text) => text).join('\n\n')
  return {
    ...(systemPrompt !== undefined && { baseInstructions: systemPrompt }),
    ...(appended !== '' && { developerInstructions: appended }),
  }
}

/** Else Codex believes a server that says of a tool that it only looks. */
const ASKING: JsonObject = { default_tools_approval_mode: 'prompt' }

/** As in a `.mcp.json` file, with or without its outer `mcpServers`; Codex has other names for the same things. */
function mcpServers(config: unknown): JsonObject {
  if (!isObject(config)) return {}
  const servers = isObject(config.mcpServers) ? config.mcpServers : config
  return Object.fromEntries(
    Object.entries(servers).map(([name, server]) => {
      const { type: _, headers, ...rest } = asObject(server)
      const own = { ...rest, ...(headers !== undefined && { http_headers: headers }) }
      return [`mcp_servers.${name}`, { ...ASKING, ...own }]
    }),
  )
}

/** The answer to the question at the end of the greeting; a Codex that does not know it is tried all the same. */
export function accountRead(before: CodexState, { result }: Reply): Step<CodexState> {
  const state = { ...before, plan: asString(asObject(result?.account).planType) }
  if (result?.account === null && result.requiresOpenaiAuth === true) {
    const message = 'Codex is not signed in: run `codex login`, then try again'
    return says(state, { type: 'agent.ready', problem: { code: 'not_signed_in', message } })
  }
  return says(state, { type: 'agent.request', request: { step: 'open', fresh: false } })
}

const LOST = /no rollout found|invalid session id|thread not found/
const BUSY = /already has an active writer/

/** After a crash a conversation may be asked for twice: the first that opens is the session's. */
export function opened(state: CodexState, { about: rules, result, error }: Reply): Step<CodexState> {
  if (state.opened) return says(state)
  const thread = asObject(result?.thread)
  const id = asString(thread.id)
  if (result && id !== null) {
    return says(
      { ...state, thread: id, opened: true, model: asString(result.model) },
      init(id, result, thread),
      ...(rules === '' ? [] : [lenient(rules)]),
      { type: 'agent.ready', problem: null },
      ...missing(state),
    )
  }
  if (LOST.test(error)) {
    return says(
      state,
      notice(
        'conversation_lost',
        `Codex does not have the conversation (${error}); a fresh one begins`,
        null,
      ),
      { type: 'agent.request', request: { step: 'open', fresh: true } },
    )
  }
  return says(state, { type: 'agent.ready', problem: problemOf(error) })
}

/** Who comes into a conversation that went on without it asks for the sub-agents that it may have. */
export function missing({ complete }: CodexState): DriverOutput[] {
  return complete ? [] : [{ type: 'agent.request', request: { step: 'children' } }]
}

/** Who takes up a process does not hear again what was told at the opening. */
export function forgotten({ models }: CodexState): DriverOutput[] {
  return models ? [] : [{ type: 'agent.request', request: { step: 'models' } }]
}

function lenient(files: string): DriverOutput {
  const message = `Codex does not ask about commands that your own rules allow (${files}); in \`plan\` they cannot write`
  return notice('user_rules', message, { files })
}

function init(nativeId: string, result: JsonObject, thread: JsonObject): DriverOutput {
  const raw = withoutLongLists(result, MAX_INIT)
  return {
    type: 'agent.init',
    nativeId,
    model: asString(result.model),
    version: asString(thread.cliVersion),
    raw,
  }
}

function problemOf(error: string): Failure {
  const busy = BUSY.test(error)
  return {
    code: busy ? 'conversation_busy' : 'agent_start',
    message: busy
      ? `Another Codex holds this conversation: ${error}`
      : `Codex cannot open a conversation: ${error}`,
  }
}
