import { commandsOf, commandsTold } from '../commands.ts'
import { contextTold } from '../context.ts'
import { asCount, asObject, asString, capped, type JsonObject } from '../json.ts'
import { contextIn } from './compaction.ts'
import { chunk } from './message.ts'
import type { AcpProfile } from './profile.ts'
import { planOf } from '../plan.ts'
import { nothing, other, says, type Step } from '../step.ts'
import { type AcpState, planned } from './state.ts'
import { toolUpdate } from './tool.ts'

/** Of no interest in a log, or told elsewhere. */
const CHATTER: ReadonlySet<unknown> = new Set(['config_option_update', 'user_message_chunk'])

/** What is part of an answer. */
const ANSWERS: ReadonlySet<unknown> = new Set([
  'agent_message_chunk',
  'agent_thought_chunk',
  'tool_call',
  'tool_call_update',
])
const MAX_EARLY = 256
const MAX_TITLE = 1000
const MAX_EARLY_CHARS = 64 * 1024
/** An agent that does not stay where it is put is not told so for ever. */
const MAX_MOVES = 8

/** It is part of an answer in this conversation. */
export function isAnswer(profile: AcpProfile, state: AcpState, line: JsonObject): boolean {
  const { sessionId, update } = asObject(line.params)
  const { sessionUpdate: kind, content } = asObject(update)
  return ANSWERS.has(kind) && !isOfAnother(state, sessionId) && modeTold(profile, asObject(content)) === null
}

/** There are agents that tell their mode as if they answered it. */
function modeTold(profile: AcpProfile, { text }: JsonObject): string | null {
  return profile.modeIn?.(asString(text) ?? '') ?? null
}

/** `session/update`. What comes before the first message is the history of the conversation, which the log has. */
export function updated(profile: AcpProfile, before: AcpState, line: JsonObject): Step<AcpState> {
  const state = before.opening ? { ...before, replayed: true } : before
  const params = asObject(line.params)
  const update = asObject(params.update)
  if (isOfAnother(state, params.sessionId)) return nothing(before)
  if (state.quiet && state.turnId === null && ANSWERS.has(update.sessionUpdate)) {
    const fits = state.early.length < MAX_EARLY && capped(params, MAX_EARLY_CHARS) === params
    return nothing(fits ? { ...state, early: [...state.early, params] } : state)
  }
  switch (update.sessionUpdate) {
    case 'agent_message_chunk': {
      const mode = modeTold(profile, asObject(update.content))
      return mode === null ? chunk(profile, state, 'text', update) : noticed(state, mode)
    }
    case 'agent_thought_chunk':
      return chunk(profile, state, 'thinking', update)
    case 'tool_call':
    case 'tool_call_update':
      return toolUpdate(profile, state, update)
    case 'current_mode_update':
      return noticed(state, asString(update.currentModeId))
    case 'plan': {
      const plan = planOf(update.entries, 'content')
      return state.opening ? nothing({ ...state, plan }) : planned(state, plan)
    }
    case 'available_commands_update': {
      const commands = commandsOf(update.availableCommands)
      return says({ ...state, commands }, ...commandsTold(state.commands, commands))
    }
    case 'usage_update': {
      const context = contextIn(update)
      const told = state.opening ? [] : contextTold(context.tokens, context.window)
      return says({ ...priced(state, asObject(update.cost)), context }, ...told)
    }
    case 'session_info_update': {
      const title = asString(update.title)
      return title ? says(state, { type: 'title.told', title: title.slice(0, MAX_TITLE) }) : nothing(state)
    }
    default: {
      if (state.opening || CHATTER.has(update.sessionUpdate)) return nothing(state)
      return other(state, `update/${asString(update.sessionUpdate) ?? 'unknown'}`, line.params)
    }
  }
}

function isOfAnother({ sessionId, known }: AcpState, told: unknown): boolean {
  const ours = sessionId ?? known
  return ours !== null && typeof told === 'string' && told !== ours
}

/** What mode it was in long ago is of no interest: the conversation's opening says what it is in now. */
function noticed(state: AcpState, id: string | null): Step<AcpState> {
  if (id === null || id === state.mode || (state.opening && state.sessionId === null)) return nothing(state)
  if (state.moves >= MAX_MOVES) return nothing({ ...state, mode: id })
  return nothing({ ...state, mode: id, noticed: id, moves: state.moves + 1 })
}

function priced(state: AcpState, { amount, currency }: JsonObject): AcpState {
  const known = typeof amount === 'number' && (currency ?? 'USD') === 'USD'
  return known ? { ...state, cost: asCount(amount) } : state
}
