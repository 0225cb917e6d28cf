import { isMode } from '../../core/mode.ts'
import type { Failure } from '../../core/turn.ts'
import { asObject, asString, capped, halves, isObject, type JsonObject, withoutLongLists } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { compacting } from './compaction.ts'
import type { AcpProfile } from './profile.ts'
import { effortOptionOf } from './effort.ts'
import { abilitiesOf, choicesOf, modelsOf, type Setting } from './request.ts'
import { METHOD_NOT_FOUND, purposeOf } from './rpc.ts'
import { andThen, MAX_RAW, nothing, notice, other, says, type Step } from '../step.ts'
import { type AcpState, wish } from './state.ts'
import { accepted, begun, ended, failureOf } from './turn.ts'

const PROTOCOL = 1
const MAX_INIT = 16 * 1024

/** An answer to a request of ours; its id says which. */
export function answered(profile: AcpProfile, state: AcpState, line: JsonObject): Step<AcpState> {
  const [purpose, detail] = purposeOf(line.id) ?? ['', '']
  const error = isObject(line.error) ? line.error : null
  const result = asObject(line.result)
  switch (purpose) {
    case 'initialize':
      return error ? says(state, unready(failureOf(profile, error))) : initialized(profile, state, line)
    case 'open':
      return error ? notOpened(profile, state, detail, error) : opened(state, detail, result)
    case 'ready':
      return quiet(state)
    case 'begin':
      return begun(profile, state, detail)
    case 'compact':
      return compacting(state)
    case 'accepted':
      return accepted(state, detail)
    case 'prompt':
      return ended(profile, state, detail, line)
    case 'over':
      return nothing({ ...state, quiet: state.turnId === null && !state.opening })
    case 'mode':
      return error ? modeRefused(profile, state, detail, error) : modeSet(profile, state, detail)
    case 'model':
      return error ? modelRefused(profile, state, detail, error) : modelSet(state, detail, result)
    case 'effort':
      // One that is refused is not worth a word: the agent thinks all the same.
      return settled(error ? state : withEffort(state, result), 'effort')
    case 'default-model':
      return defaultModel(profile, state)
    case 'cancel':
      return state.asked.length === 0 ? nothing(state) : says(state, cancelAsked(state))
    case 'barrier':
      return says(state, { type: 'barrier.reached', id: detail })
    default:
      return other(state, 'answer', line)
  }
}

function unready(problem: Failure): DriverOutput {
  return { type: 'agent.ready', problem }
}

function initialized(profile: AcpProfile, state: AcpState, line: JsonObject): Step<AcpState> {
  const { protocolVersion, agentInfo, agentCapabilities } = asObject(line.result)
  if (protocolVersion !== PROTOCOL) {
    const message = `${profile.title} speaks version ${JSON.stringify(protocolVersion)} of its protocol, not ${PROTOCOL}`
    return says(state, unready({ code: 'agent_start', message }))
  }
  const can = abilitiesOf(agentCapabilities)
  if (state.directories && !can.directories && !profile.directoriesAtStart) {
    const message = `${profile.title} cannot be given: additionalDirectories`
    return says(state, unready({ code: 'unsupported', message }))
  }
  const next = { ...state, opening: true, version: asString(asObject(agentInfo).version), can }
  return says(next, wish({ step: 'initialized', can }))
}

/** The id says how it was opened, and which one: only a new conversation is named in the answer. */
function opened(state: AcpState, detail: string, result: JsonObject): Step<AcpState> {
  const [how, known] = halves(detail)
  const sessionId = asString(result.sessionId) ?? (known || null)
  // After a crash the driver may have been told twice; the first conversation is the one.
  if (sessionId === null || state.sessionId !== null || !state.opening) return nothing(state)
  const choices = choicesOf(result)
  const { version } = state
  const models = modelsOf(result, choices, how === 'new')
  const raw = withoutLongLists(result, MAX_INIT)
  const own =
    how === 'new'
      ? { fresh: true, untold: true, model: choices.model, ownEffort: choices.effort?.now ?? null }
      : {}
  return says(
    {
      ...state,
      ...own,
      sessionId,
      choices,
      modes: choices.modes,
      mode: choices.mode,
      effort: choices.effort,
    },
    { type: 'agent.init', nativeId: sessionId, model: choices.model, version, raw },
    ...(models.length > 0 ? [{ type: 'models.told' as const, models }] : []),
    wish({ step: 'opened', sessionId, choices }),
  )
}

/** While it is being opened, one thing is set after the other: a refusal must be known before the first message. */
function settled(state: AcpState, what: Setting): Step<AcpState> {
  if (!state.opening || state.sessionId === null || state.choices === null) return nothing(state)
  const choices = { ...state.choices, settled: [...state.choices.settled, what] }
  return says({ ...state, choices }, wish({ step: 'opened', sessionId: state.sessionId, choices }))
}

/** History may still come after the conversation is open; it must not be taken for the answer to a message. */
function quiet(state: AcpState): Step<AcpState> {
  if (state.replayed) return says({ ...state, replayed: false }, wish({ step: 'listen' }))
  const next = { ...state, opening: false, choices: null, quiet: true, early: [] }
  return says(next, { type: 'agent.ready', problem: null })
}

/** A conversation that cannot be taken up again is lost, unless it is only that nobody has signed in. */
function notOpened(profile: AcpProfile, state: AcpState, detail: string, error: JsonObject): Step<AcpState> {
  const [how, known] = halves(detail)
  const failure = failureOf(profile, error)
  if (failure.code === 'not_signed_in') return says(state, unready(failure))
  if (how === 'load' || how === 'resume') {
    const message = `${profile.title} cannot take up its conversation again; a fresh one begins`
    const data = capped({ conversation: known, reason: failure.message }, MAX_RAW)
    return says(state, notice('conversation_lost', message, data), wish({ step: 'reopen', can: state.can }))
  }
  const what = how === 'fork' ? 'branch off the conversation' : 'open a conversation'
  const message = `${profile.title} cannot ${what}: ${failure.message}`
  return says(state, unready({ code: 'agent_start', message }))
}

function modeSet(profile: AcpProfile, state: AcpState, detail: string): Step<AcpState> {
  const [mode, place] = halves(detail)
  const now = isMode(mode) ? (profile.modes[mode][Number(place)] ?? null) : state.mode
  return settled({ ...state, mode: now, unplanned: null }, 'mode')
}

/** Only `plan` must be the agent's own: what it asks in the other modes is answered here. */
function modeRefused(
  profile: AcpProfile,
  state: AcpState,
  detail: string,
  error: JsonObject,
): Step<AcpState> {
  const [mode, last] = halves(detail)
  if (!isMode(mode)) return nothing(state)
  const place = Number(last) + 1
  const hasModes = error.code !== METHOD_NOT_FOUND
  if (hasModes && place < profile.modes[mode].length) return says(state, wish({ step: 'mode', mode, place }))
  const message = `${profile.title} cannot be set to mode ${mode}: ${failureOf(profile, error).message}`
  if (mode === 'plan' && state.opening) return says(state, unready({ code: 'unsupported', message }))
  if (mode === 'plan') return cannotPlan(state, { code: 'unsupported', message })
  const next: AcpState = { ...state, unplanned: null }
  return andThen(says(next, ...(hasModes ? [notice('mode_refused', message)] : [])), (now) =>
    settled(now, 'mode'),
  )
}

/** What it does now would be done for real: a turn that runs is stopped, and until it has another mode none begins. */
function cannotPlan(state: AcpState, unplanned: Failure): Step<AcpState> {
  const stop = state.turnId === null ? [] : [wish({ step: 'stop' })]
  return says({ ...state, unplanned }, notice('mode_refused', unplanned.message), ...stop)
}

function modelRefused(
  profile: AcpProfile,
  state: AcpState,
  detail: string,
  error: JsonObject,
): Step<AcpState> {
  const [how, model] = halves(detail)
  if (error.code === METHOD_NOT_FOUND && how !== 'old') {
    return says(state, wish({ step: 'model', model, old: true }))
  }
  const message = `${profile.title} cannot be set to model ${model}: ${failureOf(profile, error).message}`
  return says(
    state,
    state.opening ? unready({ code: 'unsupported', message }) : notice('model_refused', message),
  )
}

/** The answer tells what can be chosen with this one. A turn that runs has begun with another. */
function modelSet(before: AcpState, detail: string, result: JsonObject): Step<AcpState> {
  const state = withEffort(before, result)
  const model = choicesOf(result).model ?? halves(detail)[1]
  const told = state.turnId === null && model !== '' ? [{ type: 'agent.model' as const, model }] : []
  if (state.opening) return andThen(says(state, ...told), (now) => settled(now, 'model'))
  return says(state, ...told, ...(state.effort ? [wish({ step: 'effort', option: state.effort })] : []))
}

function withEffort(state: AcpState, { configOptions }: JsonObject): AcpState {
  if (configOptions === undefined) return state
  const effort = effortOptionOf(configOptions)
  return { ...state, effort, choices: state.choices && { ...state.choices, effort } }
}

function defaultModel(profile: AcpProfile, state: AcpState): Step<AcpState> {
  const { model } = state
  if (model !== null) {
    return says(state, wish({ step: 'model', model, old: profile.oldModelMethod ?? false }))
  }
  const message = `${profile.title} has not said which model is its own choice; it keeps the one it has`
  return says(state, notice('model_refused', message))
}

function cancelAsked({ asked }: AcpState): DriverOutput {
  const ids = (held: boolean) => asked.flatMap(({ id, call }) => ((call !== null) === held ? [id] : []))
  return wish({ step: 'cancel', ids: ids(false), calls: ids(true) })
}
