import type { Approval, Decision } from '../../core/approval.ts'
import type { Content } from '../../core/content.ts'
import type { Event, EventType } from '../../core/event.ts'
import type { Mode } from '../../core/mode.ts'
import type { SessionSettings } from '../../core/settings.ts'
import type { Turn } from '../../core/turn.ts'

/** What an editor is told about a session. */
export interface SessionView {
  id: string
  agent: string
  cwd: string
  title: string | null
  mode: Mode
  model: string | null
  modelInUse: string | null
  activeAt: number
}

/** What an editor may ask for when it makes a session; who serves it adds the rest. */
export interface NewSession {
  cwd: string
  settings: SessionSettings
}

export type Asked = Pick<Approval, 'id' | 'kind' | 'tool' | 'input' | 'callId' | 'summary'>
export type UserDecision = Exclude<Decision, { behavior: 'cancelled' }>
export type TurnView = Pick<Turn, 'state' | 'usage' | 'error'>

export interface EventsOptions {
  sessionId: string
  types: EventType[]
  /** What was to come cannot be read any more: reading goes on with what comes from now on. */
  onReset(): void
}

export interface NamedModel {
  id: string
  name: string
}

/**
 * The way to the daemon. Its errors carry a `code` of core's list. Calls give up when nobody has answered for a while;
 * events wait for the daemon however long it takes.
 */
export interface Corral {
  create(wish: NewSession): Promise<SessionView>
  fork(sessionId: string): Promise<SessionView>
  session(sessionId: string): Promise<SessionView>
  sessions(cursor: string | null): Promise<{ sessions: SessionView[]; next: string | null }>
  /** Models that this agent has told of, and others that sessions of it are known to have used. */
  models(agent: string): Promise<NamedModel[]>
  /** What was said last, by the user. */
  lastMessage(sessionId: string): Promise<Content[]>
  configure(sessionId: string, patch: { mode?: Mode; model?: string | null }): Promise<SessionView>
  destroy(sessionId: string): Promise<void>
  /** The same key twice is one message; resolves with the turn that it became. */
  send(sessionId: string, content: Content[], key: string): Promise<string>
  turn(turnId: string): Promise<TurnView>
  /** `turnId`: only this one, out of the queue if it has not begun. */
  interrupt(sessionId: string, turnId?: string): Promise<void>
  decide(approvalId: string, decision: UserDecision): Promise<void>
  /** The last `seq` of such an event, 0 when there is none. */
  lastSeq(sessionId: string, types: EventType[]): Promise<number>
  /** All of them, from the first one on and then live. Iterate it once. */
  events(options: EventsOptions): AsyncIterable<Event> & { close(): void }
}
