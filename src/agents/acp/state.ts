import type { AgentCommand, PlanEntry } from '../../core/event.ts'
import type { Session } from '../../core/session.ts'
import type { Failure } from '../../core/turn.ts'
import type { JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import { planTold } from '../plan.ts'
import type { EffortOption } from './effort.ts'
import { type AcpRequest, type Abilities, type Choices, NO_ABILITIES } from './request.ts'
import { nothing, says, type Step } from '../step.ts'

/** What the translator carries from line to line: plain data, every list bounded. */
export interface AcpState {
  /** Where the session works, the conversation it goes on with, and whether it needs more directories than that. */
  cwd: string
  known: string | null
  directories: boolean
  /** From the first answer to the point where messages may come. */
  opening: boolean
  /** Something of the conversation's history has come since the last look. */
  replayed: boolean
  version: string | null
  can: Abilities
  /** What can be chosen, until all is as the session wants it. */
  choices: Choices | null
  /** The modes it has, as far as it has said. */
  modes: string[]
  /** The conversation that this process has opened. */
  sessionId: string | null
  /** The model that a fresh conversation began with: the agent's own choice. */
  model: string | null
  /** How long it can be told to think, and what it began with. */
  effort: EffortOption | null
  ownEffort: string | null
  turnId: string | null
  accepted: boolean
  /** The last turn that has ended. */
  endedTurn: string | null
  /** All that belongs to the last turn has come: what comes now is about the next message, whose mark is late. */
  quiet: boolean
  early: JsonObject[]
  /** How many messages the turn has begun. */
  messages: number
  message: OpenMessage | null
  /** The last text of the turn that is complete. */
  text: string | null
  /** Calls that are not over, and ids of those that are. */
  calls: Call[]
  done: string[]
  /** Questions of this turn; whether they have been answered is not known here. */
  asked: PermissionRequest[]
  /** The conversation began with this process; and nothing has been said in it yet. */
  fresh: boolean
  untold: boolean
  /** What the conversation has cost, and what it had when the turn began; null: nobody has said. */
  cost: number | null
  costBefore: number | null
  /** How full the conversation is, and how much there is room for, as far as the agent tells. */
  context: Context
  /** The turn sums up the conversation, which was as full as that. */
  compacting: Context | null
  /** The agent's own name of the mode that we have set. */
  mode: string | null
  /** A mode that the agent has told of; whose doing it was shows in the line after it. */
  noticed: string | null
  /** How often the agent has changed its mode in this turn. */
  moves: number
  /** Why the agent cannot plan, which is what it was told to do last. */
  unplanned: Failure | null
  /** What it has told last of what it is going to do. */
  plan: PlanEntry[] | null
  /** The commands that it has told of last. */
  commands?: AgentCommand[]
}

export interface Context {
  tokens: number | null
  window: number | null
}

export interface OpenMessage {
  id: string
  kind: 'text' | 'thinking'
  text: string
  /** The agent's own id of it. */
  native: string | null
}

/** What is known of a tool call; updates tell only what is new. */
export interface Call {
  id: string
  title: string | null
  kind: string | null
  name: string | null
  input: JsonObject | null
  paths: string[]
  content: unknown[]
  /** Output that came in pieces beside the content. */
  streamed: string
  started: boolean
  asked: boolean
}

/** Something that the agent may do only if somebody says so. */
export interface PermissionRequest {
  id: unknown
  requestId: string
  callId: string | null
  /** What a yes to it allows, in words that can be compared; null when it is used up. */
  about: string | null
  /** What Corral does for the agent when the answer is yes; null: the agent does it itself. */
  call: ClientRequest | null
}

/** Something that the agent has its client do. */
export interface ClientRequest {
  method: string
  params: JsonObject
}

export const MAX_REMEMBERED = 4096

export function initialState({ cwd, nativeId, settings }: Session): AcpState {
  return {
    cwd,
    known: nativeId,
    directories: (settings.additionalDirectories ?? []).length > 0,
    opening: false,
    replayed: false,
    version: null,
    can: NO_ABILITIES,
    choices: null,
    modes: [],
    sessionId: null,
    model: null,
    effort: null,
    ownEffort: null,
    turnId: null,
    accepted: false,
    endedTurn: null,
    quiet: false,
    early: [],
    messages: 0,
    message: null,
    text: null,
    calls: [],
    done: [],
    asked: [],
    fresh: false,
    untold: false,
    cost: null,
    costBefore: null,
    context: { tokens: null, window: null },
    compacting: null,
    mode: null,
    noticed: null,
    moves: 0,
    unplanned: null,
    plan: null,
  }
}

/** Something that the driver is to do. */
export function wish(request: AcpRequest): DriverOutput {
  return { type: 'agent.request', request }
}

/** Completes the message that is open, if one is. */
export function completeMessage(state: AcpState, aborted = false): Step<AcpState> {
  if (!state.message) return nothing(state)
  const { id: messageId, kind, text } = state.message
  const next = { ...state, message: null, text: kind === 'text' ? text : state.text }
  return says(next, { type: 'message.completed', messageId, kind, text, parent: null, aborted })
}

/** The agent's plan, as it is now. */
export function planned(state: AcpState, plan: PlanEntry[]): Step<AcpState> {
  return says({ ...state, plan }, ...planTold(state.plan, plan))
}
