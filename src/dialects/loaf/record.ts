import type { Event } from '../../core/event.ts'
import { tokensIn, withImages } from './messages.ts'
import type { Attachment, HistoryMessage, SessionState, UiMessage } from './wire.ts'

/** One event of the protocol, but for its time and number. */
export interface WireEvent {
  type: string
  payload: Record<string, unknown>
}

/** Between two events of the log there is room for this many of the protocol's. */
const SEQS_PER_EVENT = 1000
export const READY = 'ready'

/** Numbers of a log's events in the protocol: the same in every process, rising within a session. */
export function seqOf(event: Pick<Event, 'seq'>, index: number): number {
  return event.seq * SEQS_PER_EVENT + Math.min(index, SEQS_PER_EVENT - 1)
}

/** Less than the number of any event of a log: for messages of sessions that have none yet. */
export function earlyId(count: number): number {
  return 1 + (count % (SEQS_PER_EVENT - 1))
}

export interface RecordOptions {
  sessionId: string
  /** Whose models the session uses. */
  provider(): string | null
  /** The next number for a message that comes before all events. */
  earlyId?(): number
}

/** What has been said in a session as this protocol shows it, and what there is to tell about it. */
export class SessionRecord {
  /** What a window shows. */
  readonly messages: UiMessage[] = []
  /** What the agent has of it. */
  readonly history: HistoryMessage[] = []
  #label = READY
  readonly #options: RecordOptions
  #out: WireEvent[] = []
  #at: Pick<Event, 'seq'> = { seq: 0 }
  /** How much has been told since the last event of the log. */
  #since = 0
  #chars = 0
  /** Where the last turn begins in the history. */
  #turnFrom = 0

  constructor(options: RecordOptions) {
    this.#options = options
  }

  get label(): string {
    return this.#label
  }

  get tokens(): number {
    return tokensIn(this.#chars)
  }

  tell(type: string, payload: Record<string, unknown>): void {
    this.#out.push({ type, payload: { session_id: this.#options.sessionId, ...payload } })
  }

  status(label: string, turnId?: string): void {
    this.#label = label
    const turn = turnId === undefined ? {} : { turn_id: turnId }
    this.tell('session.status', { pending: label !== READY, status_label: label, ...turn })
  }

  debug(turnId: string | null, stage: string, data: unknown): void {
    this.tell('session.debug', { ...(turnId !== null && { turn_id: turnId }), stage, data })
  }

  /** The number of a message is the number of the event that tells it. */
  append(kind: UiMessage['kind'], text: string, images: Attachment[] = []): void {
    const early = this.#at.seq === 0 ? this.#options.earlyId?.() : undefined
    const id = early ?? seqOf(this.#at, this.#since + this.#out.length)
    const message = withImages({ id, kind, text }, images)
    this.messages.push(message)
    this.tell('session.message.appended', { message })
  }

  remember(role: HistoryMessage['role'], text: string, images: Attachment[] = []): void {
    this.history.push(withImages({ role, text }, images))
    this.count(text.length)
  }

  count(chars: number): void {
    this.#chars += chars
    this.tell('session.context.estimate', {
      provider: this.#options.provider(),
      source: 'history',
      total_tokens_estimate: this.tokens,
      breakdown: this.#breakdown(),
    })
  }

  beginTurn(): void {
    this.#turnFrom = this.history.length
  }

  /** What led to nothing is no part of the conversation. */
  forgetTurn(): void {
    const gone = this.history.splice(this.#turnFrom)
    const chars = gone.reduce((sum, { text }) => sum + text.length, 0)
    this.#chars = Math.max(0, this.#chars - chars)
  }

  /** All that was said before is as long as this now, to the agent. */
  summedUp(tokens: number): void {
    this.#chars = tokens * 4
  }

  clear(): void {
    this.messages.length = 0
    this.history.length = 0
    this.#chars = 0
    this.#turnFrom = 0
  }

  /** What is told about an event of the log. */
  of(event: Event, work: () => void): WireEvent[] {
    this.#at = event
    this.#since = 0
    return this.#gather(work)
  }

  /** What is told about something that no event of the log says. */
  beside(work: () => void): { events: WireEvent[]; first: number } {
    const first = seqOf(this.#at, this.#since)
    return { events: this.#gather(work), first }
  }

  context(): Pick<
    SessionState,
    | 'conversationProvider'
    | 'activeSessionId'
    | 'contextTokenEstimate'
    | 'contextTokenSource'
    | 'contextTokenProvider'
    | 'contextTokenBreakdown'
  > {
    const isUsed = this.history.length > 0
    const provider = isUsed ? this.#options.provider() : null
    return {
      conversationProvider: provider,
      activeSessionId: isUsed ? this.#options.sessionId : null,
      contextTokenEstimate: this.tokens,
      contextTokenSource: 'history',
      contextTokenProvider: provider,
      contextTokenBreakdown: this.#breakdown(),
    }
  }

  #gather(work: () => void): WireEvent[] {
    this.#out = []
    work()
    this.#since += this.#out.length
    return this.#out
  }

  #breakdown() {
    return {
      pinned_tokens: 0,
      conversation_tokens: this.tokens,
      tool_schema_tokens: 0,
      provider_overhead_tokens: 0,
    }
  }
}
