import type { Content } from '../../core/content.ts'
import type { Effort } from '../../core/effort.ts'
import type { AgentModel, Event, EventType } from '../../core/event.ts'
import type { KnownLimits } from '../../core/limits.ts'
import type { Profile } from './wire.ts'

/** What this dialect has to know about a session. */
export interface SessionView {
  id: string
  agent: string
  cwd: string
  title: string | null
  /** The one that was chosen, and the one that is shown. */
  model: string | null
  modelInUse: string | null
  effort: Effort | null
  createdAt: number
  activeAt: number
  turnCount: number
  /** The session that it is a fork of. */
  parentId: string | null
  turn: { id: string } | null
}

/** What a choice of a model comes to for a session. */
export interface Chosen {
  model: string | null
  effort: Effort | null
}

export interface NewSession extends Chosen {
  id: string
  agent: string
  title: string | null
  cwd: string
}

export interface AgentView {
  name: string
  installed: boolean
  signedIn: boolean | null
  capabilities: { compact: boolean }
  /** What it has told last about its account. */
  limits: KnownLimits | null
}

/** What is known about the models of an agent, under the agent's own names. */
export interface ModelsOf {
  /** Those that it has told of last; empty: it does not tell, or has not been asked yet. */
  told: readonly AgentModel[]
  /** Those that sessions have used. */
  used: readonly string[]
  /** The agent can be told how long to think. */
  effort: boolean
}

export interface EventsOptions {
  sessionId: string
  types: EventType[]
  /** What was to come cannot be read any more: reading goes on with what comes from now on. */
  onReset(): void
}

/** The way to the daemon. Its errors carry a `code` of core's list. */
export interface Corral {
  create(wish: NewSession): Promise<SessionView>
  session(sessionId: string): Promise<SessionView>
  sessions(cursor: string | null): Promise<{ sessions: SessionView[]; next: string | null }>
  /** What was said last, by the user. */
  lastMessage(sessionId: string): Promise<Content[]>
  /** `fresh`: the agent begins a new conversation. */
  configure(sessionId: string, patch: Partial<Chosen> | { fresh: true }): Promise<void>
  /** The same key twice is one message. */
  send(
    sessionId: string,
    content: Content[],
    key: string,
    busy: 'queue' | 'refuse',
  ): Promise<{ turnId: string; position: number }>
  steer(sessionId: string, content: Content[], key: string): Promise<void>
  /** Has the agent sum up the conversation, in a turn of its own: what runs is stopped for it, what waits comes after it. */
  compact(sessionId: string, key: string): Promise<void>
  /** False when it does not wait in the queue (any more). */
  unqueue(sessionId: string, turnId: string): Promise<boolean>
  interrupt(sessionId: string, clearQueue: boolean): Promise<boolean>
  agents(): Promise<AgentView[]>
  models(agent: string): Promise<ModelsOf>
  /** The last `seq` of such an event, 0 when there is none. */
  lastSeq(sessionId: string, types: EventType[]): Promise<number>
  /** A page of what has happened. */
  read(sessionId: string, types: EventType[], after: number): Promise<{ events: Event[]; more: boolean }>
  /** All of them, from the first one on and then live. Iterate it once. */
  events(options: EventsOptions): AsyncIterable<Event> & { close(): void }
}

/** Which accounts and keys Corral itself holds; agents may have accounts of their own beside these. */
export interface SignedIn {
  openai: boolean
  openrouter: boolean
  antigravity: boolean
  anthropic: boolean
  profile: Profile | null
}

export type FlowEvent =
  | 'auth.flow.started'
  | 'auth.flow.url'
  | 'auth.flow.device_code'
  | 'auth.flow.completed'
  | 'auth.flow.failed'

/** Told as they are; each carries `flow_id` beside what the protocol has. */
export type FlowListener = (type: FlowEvent, payload: { flow_id: string } & Record<string, unknown>) => void

/** Accounts and keys. Whatever fails throws, with words for people and nothing secret in them. */
export interface SignIn {
  status(): Promise<SignedIn>
  /** Resolves with the answer to the request when the flow has ended well. A mode that is not known is `auto`. */
  connect(
    provider: 'openai' | 'antigravity',
    mode: string,
    events: FlowListener,
  ): Promise<Record<string, unknown>>
  /** False when there is no such flow (any more). */
  cancel(flowId: string): Promise<boolean>
  /** Nobody is here any more to sign in: what was begun here ends, and what others began is not waited for. */
  leave(): Promise<void>
  setKey(name: 'openrouter' | 'exa' | 'anthropic', key: string): Promise<void>
  /** All accounts and keys; the login files of agents that had to be left. */
  forgetAll(): Promise<string[]>
}

/** What is remembered from one run to the next. */
export interface Memory {
  onboarded(): boolean
  setOnboarded(done: boolean): void
}
