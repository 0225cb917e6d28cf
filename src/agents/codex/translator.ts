import type { Translator } from '../agent.ts'
import { asObject, asString, isObject, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { planOf, planTold } from '../plan.ts'
import { asked, resolved } from './approval.ts'
import { childOf, unclaimed, withChild, withListed, withNamed } from './children.ts'
import { itemCompleted, itemStarted, rawThoughts, SECTION } from './item.ts'
import { limitsUpdated } from './limits.ts'
import { modelsListed } from './models.ts'
import { accountRead, forgotten, missing, opened } from './opening.ts'
import { type Reply, replyOf } from './rpc.ts'
import { nothing, notice, other, says, type Step } from '../step.ts'
import { type CodexState, initialState } from './state.ts'
import {
  compactAnswered,
  failing,
  finished,
  interruptWanted,
  modeAnswered,
  steerAnswered,
  tokensUsed,
  turnAnswered,
  turnCompleted,
  turnStarted,
} from './turn.ts'

/** The lines of `codex app-server` as facts and signals. Never throws, whatever the line is. */
export const codexTranslator: Translator<CodexState> = { initial: initialState, step }

function step(state: CodexState, line: unknown): Step<CodexState> {
  if (!isObject(line)) return other(state, 'unknown', line)
  const { method, id } = line
  const params = asObject(line.params)
  if (typeof method !== 'string') {
    const reply = replyOf(line)
    if (!reply) return other(state, 'unknown', line)
    return reply.session === state.session ? answered(state, reply) : nothing(state)
  }
  if (method === 'thread/started') return threadStarted(state, asObject(params.thread))
  if (method === 'turn/started') return mayStart(state, params)
  const thread = asString(params.threadId)
  const child = childOf(state, thread)
  if (thread !== null && thread !== state.thread && !child) return nothing(unclaimed(state, line))
  const parent = child?.parent ?? null
  if (id !== undefined) return asked(state, JSON.stringify(id), method, params, parent)
  return notified(state, method, params, parent)
}

function answered(state: CodexState, reply: Reply): Step<CodexState> {
  switch (reply.purpose) {
    case 'account':
      return accountRead(state, reply)
    case 'open':
      return opened(state, reply)
    case 'turn':
      return turnAnswered(state, reply)
    case 'compact':
      return compactAnswered(state, reply)
    case 'steer':
      return steerAnswered(state, reply)
    case 'interrupt':
      return interruptWanted(withThread(state, reply))
    case 'clean':
      return finished(state)
    case 'barrier':
      return says(
        withThread(state, reply),
        ...ready(reply),
        { type: 'barrier.reached', id: reply.about },
        ...missing(state),
        ...forgotten(state),
      )
    case 'children':
      return state.unclaimed.reduce(claimed, nothing(withListed(state, reply)))
    case 'mode':
      return modeAnswered(state, reply)
    case 'models':
      return modelsListed(state, reply)
    default:
      return nothing(state)
  }
}

/** Read from the first line of a turn, the conversation is not known; whoever reads it is told. */
function withThread(state: CodexState, { result }: Reply): CodexState {
  const { id, model } = asObject(result?.thread)
  return { ...state, thread: state.thread ?? asString(id), model: asString(model) ?? state.model }
}

/** A conversation that can be read is open: a daemon that takes up a process learns it in this way. */
function ready({ result }: Reply): DriverOutput[] {
  return result ? [{ type: 'agent.ready', problem: null }] : []
}

function threadStarted(state: CodexState, { id, parentThreadId }: JsonObject): Step<CodexState> {
  const parent = asString(parentThreadId)
  const ours = parent !== null && (parent === state.thread || childOf(state, parent))
  return nothing(ours ? withChild(state, asString(id)) : state)
}

/** What a sub-agent does is rooted in the turn that it was started in. */
function mayStart(state: CodexState, params: JsonObject): Step<CodexState> {
  const { id, rootTurnId } = asObject(params.turn)
  const [thread, turn] = [asString(params.threadId), asString(id)]
  if (thread === null || turn === null) return nothing(state)
  if (state.thread === null || thread === state.thread) return turnStarted(state, thread, turn)
  const root = asString(rootTurnId)
  return nothing(root !== null && root === state.turn?.id ? withChild(state, thread) : state)
}

/** What was begun may have been told by whoever heard of it then; a question that was told is known by its id. */
function claimed({ state, outputs }: Step<CodexState>, line: JsonObject): Step<CodexState> {
  const next = step(state, line)
  return { state: next.state, outputs: line.id === undefined ? outputs : [...outputs, ...next.outputs] }
}

/** Known, and of no use. */
const CHATTER: ReadonlySet<string> = new Set([
  'account/updated',
  'deprecationNotice',
  'item/commandExecution/outputDelta',
  'remoteControl/status/changed',
  'thread/closed',
  'thread/compacted',
  'thread/goal/cleared',
  'thread/readState/changed',
  'thread/status/changed',
])

function notified(
  state: CodexState,
  method: string,
  params: JsonObject,
  parent: string | null,
): Step<CodexState> {
  switch (method) {
    case 'item/agentMessage/delta':
    case 'item/plan/delta':
      return delta(state, 'text', asString(params.itemId), params.delta, parent)
    case 'item/reasoning/summaryTextDelta':
      return delta(state, 'thinking', asString(params.itemId), params.delta, parent)
    case 'item/reasoning/summaryPartAdded':
      return section(state, params, parent)
    case 'item/reasoning/textDelta':
      return delta(state, 'thinking', rawThoughts(asString(params.itemId) ?? ''), params.delta, parent)
    case 'item/started':
      return itemStarted(withNamed(state, asObject(params.item)), asObject(params.item), parent)
    case 'item/completed':
      return itemCompleted(withNamed(state, asObject(params.item)), asObject(params.item), parent)
    case 'account/rateLimits/updated':
      return limitsUpdated(state, params)
    case 'serverRequest/resolved':
      return resolved(state, params.requestId)
    case 'mcpServer/startupStatus/updated':
      return mcpStatus(state, params)
    case 'warning':
    case 'guardianWarning':
      return says(state, notice('agent_warning', asString(params.message) ?? method, null))
    case 'configWarning':
      return says(state, notice('config_warning', asString(params.summary) ?? method, params.details ?? null))
    default:
      if (CHATTER.has(method)) return nothing(state)
      return parent === null ? ofItsOwn(state, method, params) : nothing(state)
  }
}

/** What only the conversation itself may say, no sub-agent of it. */
function ofItsOwn(state: CodexState, method: string, params: JsonObject): Step<CodexState> {
  switch (method) {
    case 'turn/completed':
      return turnCompleted(state, asObject(params.turn))
    case 'turn/diff/updated':
      return nothing({ ...state, diff: asString(params.diff) || null })
    case 'turn/plan/updated':
      return planUpdated(state, params)
    case 'thread/tokenUsage/updated':
      return tokensUsed(state, params)
    case 'model/rerouted':
      return rerouted(state, params)
    case 'error':
      return failing(state, params)
    default:
      return other(state, method, params)
  }
}

function planUpdated(state: CodexState, { plan }: JsonObject): Step<CodexState> {
  const steps = planOf(plan, 'step')
  return says({ ...state, steps }, ...planTold(state.steps, steps))
}

/** Another model answers than the one that was chosen. */
function rerouted(state: CodexState, params: JsonObject): Step<CodexState> {
  const model = asString(params.toModel)
  const { outputs } = other(state, 'model/rerouted', params)
  return says(state, ...(model === null ? [] : [{ type: 'agent.model' as const, model }]), ...outputs)
}

function delta(
  state: CodexState,
  kind: 'text' | 'thinking',
  messageId: string | null,
  text: unknown,
  parent: string | null,
): Step<CodexState> {
  if (messageId === null || typeof text !== 'string' || text === '') return nothing(state)
  return says(state, { type: 'message.delta', messageId, kind, text, parent })
}

function section(
  state: CodexState,
  { itemId, summaryIndex }: JsonObject,
  parent: string | null,
): Step<CodexState> {
  if (summaryIndex === 0) return nothing(state)
  return delta(state, 'thinking', asString(itemId), SECTION, parent)
}

function mcpStatus(state: CodexState, { name, status, error }: JsonObject): Step<CodexState> {
  if (status !== 'failed') return nothing(state)
  const message = `MCP server ${String(name)} is not available: ${asString(error) ?? 'no reason given'}`
  return says(state, notice('mcp_failed', message, { server: name, error }))
}
