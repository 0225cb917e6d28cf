import type { PlanEntry } from '../../core/event.ts'
import type { AgentLimits } from '../../core/limits.ts'
import type { ApprovalRequest } from '../../core/approval.ts'
import type { Session } from '../../core/session.ts'
import { NO_USAGE, type Usage } from '../../core/usage.ts'
import type { JsonObject } from '../json.ts'
import type { DriverOutput } from '../output.ts'
import type { KnownModel } from './models.ts'

/** Something that Codex does and has not finished. */
export interface OpenItem {
  id: string
  type: string
  tool: string
  input: unknown
  parent: string | null
}

/** A turn of Codex's. */
export interface CodexTurn {
  id: string
  /** The turn of ours that it answers; null when Codex began it of its own accord. */
  ours: string | null
  /** Codex has said that it is under way: before that it cannot be stopped. */
  started: boolean
  /** The mode that it began in. */
  mode: string | null
}

/** A sub-agent has a conversation of its own, and belongs to the call that started it. */
export interface Child {
  thread: string
  parent: string
}

export type Ended = Extract<DriverOutput, { type: 'turn.ended' }>

/** What the translator carries from line to line: plain data, every list bounded. */
export interface CodexState {
  /** Whose lines are ours. */
  session: string
  /** The conversation; lines of others are not for us. */
  thread: string | null
  /** It has been opened by this process. */
  opened: boolean
  /** Its model, and what Codex has told of those that there are; null: not yet. */
  model: string | null
  models: KnownModel[] | null
  /** Where edits are part of the work: the session's directory, and those added to it. */
  roots: string[]
  children: Child[]
  /** No sub-agent of an earlier turn can be missing among them. */
  complete: boolean
  /** Lines of conversations that may be theirs, until that is known. */
  unclaimed: JsonObject[]
  turn: CodexTurn | null
  /** A turn that started before it was known whose it is. */
  heard: { thread: string; turn: string } | null
  /** The turn of ours that sums up the conversation, until Codex has begun it. */
  awaited: string | null
  /** It sums up the conversation, which had so many tokens. */
  compacting: { tokens: number | null } | null
  /** How full the conversation is, and how much there is room for. */
  context: { tokens: number | null; window: number | null }
  plan: string | null
  /** What has been told last about the account. */
  limits: AgentLimits | null
  /** It is to be stopped as soon as it can be. */
  stopping: boolean
  /** How the turn ended; told once what it left behind is gone. */
  ended: Ended | null
  open: OpenItem[]
  /** Open questions; those of sub-agents as they were asked, since they outlive the turn. */
  asked: { requestId: string; below: ApprovalRequest | null }[]
  /** The last message of the turn. */
  text: string | null
  /** What it has told last of what it is going to do in the turn. */
  steps: PlanEntry[] | null
  /** All changes of the turn as one diff. */
  diff: string | null
  usage: Usage
  /** The conversation's count of tokens when it was last stated: the same count again is no news. */
  counted: number | null
}

export const MAX_REMEMBERED = 256

const BETWEEN_TURNS = {
  turn: null,
  heard: null,
  awaited: null,
  compacting: null,
  stopping: false,
  ended: null,
  text: null,
  steps: null,
  diff: null,
  usage: NO_USAGE,
  counted: null,
} satisfies Partial<CodexState>

export function initialState({ id, nativeId, cwd, settings }: Session): CodexState {
  return {
    session: id,
    thread: nativeId,
    opened: false,
    model: null,
    models: null,
    roots: [cwd, ...(settings.additionalDirectories ?? [])],
    children: [],
    complete: nativeId === null,
    unclaimed: [],
    open: [],
    asked: [],
    context: { tokens: null, window: null },
    plan: null,
    limits: null,
    ...BETWEEN_TURNS,
  }
}

/** Sub-agents go on without the turn that started them. */
export function betweenTurns(state: CodexState): CodexState {
  const open = state.open.filter(({ parent }) => parent !== null)
  const asked = state.asked.filter(({ below }) => below !== null)
  return { ...state, ...BETWEEN_TURNS, open, asked }
}
