import type { Content } from '../../core/content.ts'
import type { OpenTurn, UserMessage } from '../../core/conversation/item.ts'
import type { Change } from '../../core/conversation/item.ts'
import type { Effort } from '../../core/effort.ts'
import type { AgentCommand, Event } from '../../core/event.ts'
import type { FileChange } from '../../core/file-change.ts'
import type { Mode } from '../../core/mode.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { Api } from '../../client/client.ts'
import type { HistoryItem, SessionView } from '../../dialects/native/wire.ts'
import type { Answer, Question } from './answer.ts'
import { EMPTY, draftOf, type Draft } from './editor.ts'
import type { Press } from './keys.ts'
import type { Menu } from './menu.ts'
import { recallOf, type Recall } from './recall.ts'
import { NO_TRANSCRIPT, withPast, type Tone, type Transcript } from './transcript.ts'

/** What is said about the session below the input. */
export interface Facts {
  readonly id: string
  readonly agent: string
  readonly title: string | null
  readonly cwd: string
  readonly mode: Mode
  readonly model: string | null
  readonly effort: Effort | null
  readonly paused: boolean
}

/** What its agent can do, as far as it is known. */
export interface Abilities {
  readonly models: readonly { id: string; name: string; efforts?: readonly Effort[] }[]
  /** Commands of its own. */
  readonly commands: readonly AgentCommand[]
  readonly editInput: boolean
  readonly images: boolean
  readonly compact: boolean
  readonly effort: boolean
}

export interface Image {
  readonly name: string
  readonly mediaType: string
  /** Base64. */
  readonly data: string
}

export type Ending = 'completed' | 'failed' | 'interrupted' | 'cancelled' | 'destroyed' | 'left'

/** What `new` and `send` wait for. */
export interface Following {
  /** Turns that are not over yet. */
  readonly turns: readonly string[]
  /** The turn of the command line, and how it ended. */
  readonly first: string
  readonly ending: Ending | null
}

/** A message that is on its way to the daemon. */
export interface Outgoing {
  readonly key: string
  readonly text: string
}

/** All that decides what is on the screen, and what a key means. */
export interface State {
  readonly columns: number
  readonly rows: number
  readonly facts: Facts
  readonly abilities: Abilities
  readonly transcript: Transcript
  readonly waiting: readonly UserMessage[]
  readonly outgoing: readonly Outgoing[]
  readonly turn: (OpenTurn & { startedAt: number }) | null
  readonly usage: Usage
  readonly context: { used: number; window: number | null } | null
  /** When the connection was lost; null: it stands. */
  readonly awaySince: number | null
  readonly draft: Draft
  readonly images: readonly Image[]
  readonly recall: Recall
  readonly menu: Menu | null
  readonly questions: readonly Question[]
  readonly answer: Answer | null
  /** Asked before something is done: the effects of a yes, and the text that goes back into the input after a no. */
  readonly confirm: { question: string; effects: readonly Effect[]; text: string } | null
  /** Calls show what is in them. */
  readonly opened: boolean
  readonly hint: string | null
  readonly following: Following | null
  readonly now: number
  /** When something was typed that is not sent yet. */
  readonly typedAt: number
  /** Makes the keys of messages. */
  readonly nonce: string
  readonly sent: number
}

export type Scope = Api['changes.read']['params']['scope']

/** What is to be done outside. What comes of it comes back as an input. */
export type Effect =
  | { do: 'send'; key: string; text: string; content: string | Content[] }
  | { do: 'steer'; key: string; text: string }
  /** `at`: the turn that is meant, if one was running. */
  | { do: 'interrupt'; at: { turnId?: string } }
  | { do: 'decide'; params: Api['approval.decide']['params'] }
  | { do: 'context'; approvalId: string }
  | { do: 'configure'; change: Omit<Api['session.configure']['params'], 'sessionId'> }
  | { do: 'compact'; key: string }
  | { do: 'find'; query: string }
  | { do: 'diff'; scope: Scope }
  | { do: 'unqueue'; turnId: string }
  | { do: 'steer-queued'; turnId: string }
  /** `text` is put into the input where it is no image. */
  | { do: 'image'; path: string; text: string }
  | { do: 'clipboard' }
  | { do: 'remember'; text: string }
  | { do: 'suspend' }
  | { do: 'repaint' }
  | { do: 'leave'; ending: Ending }

/** What is under way in the conversation after an event. */
export interface Underway {
  waiting: readonly UserMessage[]
  turn: OpenTurn | null
  /** The ids of approvals that nobody has answered. */
  asking: readonly string[]
}

export type Input =
  | { type: 'press'; press: Press; now: number }
  | ({ type: 'event'; event: Event; changes: readonly Change[]; now: number } & Underway)
  | { type: 'link'; state: 'away' | 'back'; now: number }
  | { type: 'tick'; now: number }
  | { type: 'size'; columns: number; rows: number }
  | { type: 'abilities'; abilities: Partial<Abilities> }
  | { type: 'found'; query: string; files: readonly string[] }
  | { type: 'context'; approvalId: string; rules: readonly string[]; asker: string | null }
  | { type: 'image'; image: Image }
  | { type: 'text'; text: string; hint: string | null }
  | { type: 'files'; title: string; files: readonly FileChange[]; truncated: boolean }
  | { type: 'note'; text: string; tone: Tone }
  /** A message could not be sent: it goes back into the input. */
  | { type: 'unsent'; key: string; message: string }
  /** A decision did not arrive. */
  | { type: 'undecided'; approvalId: string; message: string }
  | { type: 'leave' }

export interface Step {
  readonly state: State
  readonly effects: readonly Effect[]
}

export function stay(state: State, ...effects: Effect[]): Step {
  return { state, effects }
}

/** Stops the turn that is shown, and not one that has begun meanwhile. */
export function stopping({ turn }: State): Effect {
  return { do: 'interrupt', at: turn === null ? {} : { turnId: turn.id } }
}

export interface Beginning {
  session: SessionView
  past: readonly HistoryItem[]
  waiting: readonly UserMessage[]
  columns: number
  rows: number
  now: number
  nonce: string
  recalled: readonly string[]
  /** What was typed before and never sent. */
  typed: string
  /** Leave when this turn is over. */
  turnId: string | null
}

const NO_ABILITIES: Abilities = {
  models: [],
  commands: [],
  editInput: false,
  images: true,
  compact: false,
  effort: false,
}

export function firstState(given: Beginning): State {
  const { session, past, waiting, columns, rows, now, nonce, recalled, typed, turnId } = given
  const { id, agent, title, cwd, mode, effort, usage, status, modelInUse, model } = session
  return {
    columns,
    rows,
    facts: { id, agent, title, cwd, mode, model: modelInUse ?? model, effort, paused: status === 'paused' },
    abilities: NO_ABILITIES,
    transcript: withPast(NO_TRANSCRIPT, past),
    waiting,
    outgoing: [],
    turn: null,
    usage: usage ?? NO_USAGE,
    context: null,
    awaySince: null,
    draft: typed === '' ? EMPTY : draftOf(typed),
    images: [],
    recall: recallOf(recalled),
    menu: null,
    questions: [],
    answer: null,
    confirm: null,
    opened: false,
    hint: null,
    following: turnId === null ? null : { turns: [turnId], first: turnId, ending: null },
    now,
    typedAt: 0,
    nonce,
    sent: 0,
  }
}
