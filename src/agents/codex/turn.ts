import type { Failure } from '../../core/turn.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import { contextTold } from '../context.ts'
import { asArray, asCount, asObject, asString, cutText, isObject, type JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { threadsOf } from './children.ts'
import { contextIn, cutOff } from './compaction.ts'
import { closed } from './item.ts'
import type { Reply } from './rpc.ts'
import { nothing, notice, says, type Step } from '../step.ts'
import { betweenTurns, type CodexState, type CodexTurn, type Ended } from './state.ts'

const MAX_DIFF = 256 * 1024

/** Codex has the message, or will not take it. */
export function turnAnswered(state: CodexState, { about, result, error }: Reply): Step<CodexState> {
  const [ours = '', mode = null] = about.split(':')
  const id = asString(asObject(result?.turn).id)
  if (id === null) return says(betweenTurns(state), refused(error))
  const heard = state.heard?.turn === id ? state.heard : null
  const started = heard !== null || (state.turn?.id === id && state.turn.started)
  const turn = { id, ours, started, mode }
  return says(
    { ...state, thread: state.thread ?? heard?.thread ?? null, turn, heard: null },
    { type: 'turn.accepted', turnId: ours },
  )
}

/** Codex will sum up the conversation, in a turn of its own that it names only when it begins. */
export function compactAnswered(state: CodexState, { about: ours, result, error }: Reply): Step<CodexState> {
  if (!result) return says(state, refused(error))
  const turn = state.turn && state.turn.ours === null ? { ...state.turn, ours } : state.turn
  return says({ ...state, turn, awaited: turn ? null : ours }, { type: 'turn.accepted', turnId: ours })
}

/** Codex has read it. One that it refuses (there is no such turn any more) waits for the end of the turn. */
export function steerAnswered(state: CodexState, { about: steerId, result }: Reply): Step<CodexState> {
  return result ? says(state, { type: 'steer.arrived', steerId }) : nothing(state)
}

function refused(error: string): Ended {
  const lost = /thread not found/.test(error)
  const failure = {
    code: lost ? 'conversation_lost' : 'agent_error',
    message: `Codex did not take the message: ${error}`,
  }
  return { type: 'turn.ended', outcome: 'failed', usage: NO_USAGE, error: failure, text: null }
}

/**
 * Read from the first line of a turn, the conversation is not known yet: a turn that is ours tells it.
 */
export function turnStarted(state: CodexState, thread: string, id: string): Step<CodexState> {
  if (state.thread === null && state.turn?.id !== id)
    return nothing({ ...state, heard: { thread, turn: id } })
  const turn: CodexTurn =
    state.turn?.id === id
      ? { ...state.turn, started: true }
      : { id, ours: state.awaited, started: true, mode: null }
  const next = { ...state, thread, turn, awaited: null }
  return state.stopping ? says(next, stop(next)) : nothing(next)
}

/** A human wants the turn to stop. Codex refuses that until it has said that the turn has started. */
export function interruptWanted(state: CodexState): Step<CodexState> {
  if (state.ended) return says(state, clean(state))
  if (!state.turn) return nothing(state.awaited === null ? state : { ...state, stopping: true })
  return state.turn.started ? says(state, stop(state)) : nothing({ ...state, stopping: true })
}

function stop({ turn, children }: CodexState): DriverOutput {
  return { type: 'agent.request', request: { step: 'stop', turn: turn!.id, children: threadsOf(children) } }
}

function clean({ children }: CodexState): DriverOutput {
  return { type: 'agent.request', request: { step: 'clean', children: threadsOf(children) } }
}

/** Codex cannot be told another sandbox in the middle of a turn. */
export function modeAnswered(state: CodexState, { about: mode }: Reply): Step<CodexState> {
  const { turn } = state
  if (!turn || turn.mode === null || turn.mode === mode) return nothing(state)
  const message = `This turn began in \`${turn.mode}\`, and Codex keeps its sandbox for it; questions are answered as in \`${mode}\` from now on, and all of it holds from the next message on`
  return says(state, notice('mode_later', message, { began: turn.mode, mode }, 'info'))
}

/** An interrupted turn is over when its commands are, too: Codex lets them run. */
export function turnCompleted(before: CodexState, turn: JsonObject): Step<CodexState> {
  if (turn.id !== before.turn?.id || before.ended) return nothing(before)
  const ended = endOf(before, turn)
  const state = { ...before, ended, stopping: false }
  return ended.outcome === 'interrupted' ? says(state, clean(state)) : finished(state)
}

/** Tells the end of a turn; the answer to what cleaned up after it comes here, too, and may come twice. */
export function finished(state: CodexState): Step<CodexState> {
  const { ended, turn, diff } = state
  if (!ended || !turn) return nothing(state)
  // An interrupt stops the sub-agents, too; else what they do goes on.
  const over = state.open.filter(({ parent }) => parent === null || ended.outcome === 'interrupted')
  const outputs = over.map((item) => closed(item, ended.outcome))
  outputs.push(...cutOff(state, ended.error?.message ?? 'the turn was over before it was done'))
  if (diff !== null) {
    const { text, cut } = cutText(diff, MAX_DIFF)
    outputs.push({ type: 'agent.other', kind: 'diff', raw: { diff: text, cut } })
  }
  outputs.push(turn.ours === null ? ownAccord(ended) : ended)
  const next = betweenTurns({ ...state, open: state.open.filter((item) => !over.includes(item)) })
  return says(next, ...outputs, ...askedAgain(next))
}

/** The questions of a turn are closed with it, but sub-agents still wait for an answer to theirs. */
function askedAgain({ asked }: CodexState): DriverOutput[] {
  return asked.flatMap(({ below }) => (below ? [{ type: 'approval.asked' as const, approval: below }] : []))
}

function ownAccord({ outcome, text, usage }: Ended): DriverOutput {
  const message = 'Codex did something of its own accord.'
  return notice(
    'background_turn',
    message,
    { outcome, text, usage },
    outcome === 'failed' ? 'warning' : 'info',
  )
}

function endOf(state: CodexState, turn: JsonObject): Ended {
  const { status } = turn
  const outcome = status === 'interrupted' || status === 'failed' ? status : 'completed'
  const last = asArray(turn.items)
    .filter(isObject)
    .findLast(({ type }) => type === 'agentMessage')
  return {
    type: 'turn.ended',
    outcome,
    usage: { ...state.usage, durationMs: asCount(turn.durationMs) },
    error: outcome === 'failed' ? failureOf(asObject(turn.error)) : null,
    text: asString(last?.text) ?? state.text,
  }
}

/** Every call of the model is stated once; a repetition has the same total. OpenAI's input includes what was cached. */
export function tokensUsed(before: CodexState, params: JsonObject): Step<CodexState> {
  const state = contextIn(before, params.tokenUsage)
  const { total, last } = asObject(params.tokenUsage)
  const counted = asCount(asObject(total).totalTokens)
  const told = contextTold(state.context.tokens, state.context.window)
  if (params.turnId !== state.turn?.id || counted === state.counted) return says(state, ...told)
  const call = asObject(last)
  const cached = asCount(call.cachedInputTokens)
  const { usage } = state
  const next: Usage = {
    ...usage,
    inputTokens: usage.inputTokens + Math.max(0, asCount(call.inputTokens) - cached),
    outputTokens: usage.outputTokens + asCount(call.outputTokens),
    cacheReadTokens: usage.cacheReadTokens + cached,
    cacheWriteTokens: usage.cacheWriteTokens + asCount(call.cacheWriteInputTokens),
    modelCalls: usage.modelCalls + 1,
  }
  return says({ ...state, usage: next, counted }, ...told)
}

/** Only an error that is tried again is news: the last one comes with the end of the turn. */
export function failing(state: CodexState, params: JsonObject): Step<CodexState> {
  if (params.willRetry !== true) return nothing(state)
  const error = asObject(params.error)
  const { kind, status } = causeOf(error)
  const what = status === null ? 'The model could not be reached' : `The model answered with status ${status}`
  const details = asString(error.additionalDetails) ?? asString(error.message) ?? 'no reason given'
  const data = { status, kind, message: asString(error.message) }
  return says(state, notice('model_retry', `${what} (${details}); Codex tries again.`, data))
}

const LIMITS: ReadonlySet<string | null> = new Set(['usageLimitExceeded', 'sessionBudgetExceeded'])

function failureOf(error: JsonObject): Failure {
  const { kind, status } = causeOf(error)
  const message = asString(error.message) || 'Codex ended the turn with an error.'
  if (kind === 'unauthorized') {
    return { code: 'not_signed_in', message: `${message} (run \`codex login\`)`, detail: { status, kind } }
  }
  const code = LIMITS.has(kind) ? 'limit' : kind === 'sandboxError' ? 'agent_error' : 'model_error'
  return { code, message, detail: { status, kind } }
}

/** `"internalServerError"`, or `{ responseTooManyFailedAttempts: { httpStatusCode: 429 } }`. */
function causeOf({ codexErrorInfo: info }: JsonObject): { kind: string | null; status: number | null } {
  if (!isObject(info)) return { kind: asString(info), status: null }
  const [kind = null] = Object.keys(info)
  const status = kind === null ? null : asObject(info[kind]).httpStatusCode
  return { kind, status: typeof status === 'number' ? status : null }
}
