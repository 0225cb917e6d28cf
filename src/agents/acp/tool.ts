import type { EventOf } from '../../core/event.ts'
import { asArray, asObject, asString, cutText, isObject, type JsonObject } from '../json.ts'
import { imagesIn } from '../images.ts'
import type { DriverOutput } from '../output.ts'
import { planOf } from '../plan.ts'
import { contentText, outputText } from './content.ts'
import { fittingContent, fittingInput, MAX_SUBJECT, SUBJECTS } from './fitting.ts'
import type { AcpProfile } from './profile.ts'
import { andThen, nothing, remember, says, type Step } from '../step.ts'
import { type AcpState, type Call, completeMessage, MAX_REMEMBERED, planned } from './state.ts'

const MAX_OUTPUT = 256 * 1024

/** Names that hold for every agent, so that the same rule does, too. */
const NAMES: ReadonlyMap<string | null, string> = new Map([
  ['execute', 'Bash'],
  ['edit', 'Edit'],
  ['read', 'Read'],
  ['search', 'Search'],
  ['fetch', 'WebFetch'],
  ['delete', 'Delete'],
  ['move', 'Move'],
])
const MAX_ID = 1000

/** An id that is worth remembering. */
export function asId(value: unknown): string | null {
  return typeof value === 'string' && value.length <= MAX_ID ? value : null
}

/** `tool_call` and `tool_call_update`: agents differ in which of them they send, and how often. */
export function toolUpdate(profile: AcpProfile, state: AcpState, update: JsonObject): Step<AcpState> {
  const id = asId(update.toolCallId)
  if (id === null || state.turnId === null || state.done.includes(id)) return nothing(state)
  const known = state.calls.find((one) => one.id === id)
  if (!known && state.calls.length >= MAX_REMEMBERED) return nothing(state)
  const call = merged(known ?? newCall(id), update)
  const next = withCall(state, call)
  const over = isOver(update)
  if (!over && !known && isUnfinished(update)) return nothing(next)
  const started = start(profile, next, id)
  if (!over) return started
  const finished = andThen(started, (now) => finish(now, id, update))
  const list = profile.planIn?.(update)
  return Array.isArray(list) ? andThen(finished, (now) => planned(now, planOf(list, 'content'))) : finished
}

function isOver({ status }: JsonObject): boolean {
  return status === 'completed' || status === 'failed'
}

/** The first mention may come before the model has written the input; the next one has it. */
function isUnfinished({ status, rawInput }: JsonObject): boolean {
  if ((status ?? 'pending') !== 'pending' || !isObject(rawInput)) return false
  return Object.keys(rawInput).every((key) => key === 'cwd')
}

export function newCall(id: string): Call {
  return {
    id,
    title: null,
    kind: null,
    name: null,
    input: null,
    paths: [],
    content: [],
    streamed: '',
    started: false,
    asked: false,
  }
}

export function merged(call: Call, update: JsonObject): Call {
  const { terminal_output_delta: delta, claudeCode } = asObject(update._meta)
  const paths = pathsIn(update.locations)
  return {
    ...call,
    title: asString(update.title)?.slice(0, MAX_SUBJECT) ?? call.title,
    kind: asString(update.kind) ?? call.kind,
    name: asString(update.name) ?? asString(asObject(claudeCode).toolName) ?? call.name,
    input: isObject(update.rawInput) && !isUnfinished(update) ? fittingInput(update.rawInput) : call.input,
    paths: paths.length > 0 ? paths : call.paths,
    content:
      isOver(update) || asArray(update.content).length === 0 ? call.content : fittingContent(update.content),
    streamed: cutText(call.streamed + (asString(asObject(delta).data) ?? ''), MAX_OUTPUT).text,
  }
}

export const MAX_PATHS = 1000

export function pathsIn(places: unknown): string[] {
  const paths = asArray(places).flatMap((one) => asString(asObject(one).path) ?? [])
  return [...new Set(paths)].slice(0, MAX_PATHS)
}

export function withCall(state: AcpState, call: Call): AcpState {
  const index = state.calls.findIndex((one) => one.id === call.id)
  return { ...state, calls: index < 0 ? [...state.calls, call] : state.calls.with(index, call) }
}

/** Says that a call begins, once. */
export function start(profile: AcpProfile, state: AcpState, id: string): Step<AcpState> {
  const call = state.calls.find((one) => one.id === id)
  if (!call || call.started) return nothing(state)
  const started: DriverOutput = {
    type: 'tool.started',
    callId: id,
    tool: toolName(profile, call),
    input: inputOf(call),
    parent: null,
  }
  return andThen(completeMessage(withCall(state, { ...call, started: true })), (now) => says(now, started))
}

function finish(state: AcpState, id: string, update: JsonObject): Step<AcpState> {
  const call = state.calls.find((one) => one.id === id)!
  const { text, cut } = cutText(outputText(update, call.streamed), MAX_OUTPUT)
  const images = imagesIn(asArray(update.content).map((one) => asObject(one).content))
  return closed(state, call, { output: text, isError: update.status === 'failed', cut, ...images })
}

/** Calls that were asked about and not heard of since. */
export function refusedCalls(state: AcpState): Step<AcpState> {
  const refused = state.calls.filter((call) => call.asked)
  return refused.reduce((step, call) => andThen(step, (now) => abandon(now, call, 'refused')), nothing(state))
}

/** Ends every call that the agent has left open. */
export function closeCalls(profile: AcpProfile, state: AcpState, why: string): Step<AcpState> {
  return state.calls.reduce(
    (step, { id }) =>
      andThen(
        andThen(step, (now) => start(profile, now, id)),
        (now) =>
          abandon(
            now,
            now.calls.find((one) => one.id === id)!,
            why,
          ),
      ),
    nothing(state),
  )
}

function abandon(state: AcpState, call: Call, output: string): Step<AcpState> {
  return closed(state, call, { output, isError: true, cut: 0 })
}

function closed(
  state: AcpState,
  call: Call,
  end: Pick<EventOf<'tool.completed'>, 'output' | 'isError' | 'cut' | 'images'>,
): Step<AcpState> {
  const next = {
    ...state,
    calls: state.calls.filter((one) => one.id !== call.id),
    done: remember(state.done, call.id, MAX_REMEMBERED),
    asked: state.asked.filter((one) => one.callId !== call.id),
  }
  return says(next, { type: 'tool.completed', callId: call.id, ...end, parent: null })
}

/** A name without parentheses: in a rule they enclose what the tool is about. */
export function toolName(profile: AcpProfile, { id, name, kind, title }: Call): string {
  const known = name ?? NAMES.get(kind) ?? profile.toolOf?.(id) ?? null
  if (known !== null) return known
  const words = (title ?? '').replace(/[(\n][^]*$/, '').trim()
  return words === '' || words.length > 64 ? (kind ?? 'tool') : words
}

/** What the call is about. An agent may tell it for people only; a rule needs a command or a path. */
export function inputOf({ input, kind, title, paths: [path], content }: Call): JsonObject {
  const told =
    input ?? (kind === 'execute' ? { command: title ?? '', ...described(content) } : shown(title, content))
  const named = SUBJECTS.some((key) => typeof told[key] === 'string')
  return fittingInput(named || path === undefined ? told : { ...told, path })
}

function described(content: unknown[]): JsonObject {
  const description = contentText(content)
  return description === '' ? {} : { description }
}

function shown(title: string | null, content: unknown[]): JsonObject {
  const diff = asObject(content.find((one) => asObject(one).type === 'diff'))
  if (typeof diff.path !== 'string') return { ...(title !== null && { title }), ...described(content) }
  return { path: diff.path, oldText: asString(diff.oldText) ?? '', newText: asString(diff.newText) ?? '' }
}
