import type { Event } from '../../core/event.ts'
import { tokensIn, withImages, type Attachment, type HistoryMessage, type UiMessage } from './messages.ts'

/** One event of the protocol, but for its time and number. */
export interface Told {
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

/** What has been said in a session, and what there is to tell about it. */
export function createRecord({ sessionId, provider, earlyId: nextEarly }: RecordOptions) {
  const messages: UiMessage[] = []
  const history: HistoryMessage[] = []
  let out: Told[] = []
  let at: Pick<Event, 'seq'> = { seq: 0 }
  /** How much has been told since the last event of the log. */
  let since = 0
  let label = READY
  let chars = 0

  function tell(type: string, payload: Record<string, unknown>): void {
    out.push({ type, payload: { session_id: sessionId, ...payload } })
  }

  function breakdown() {
    return {
      pinned_tokens: 0,
      conversation_tokens: tokensIn(chars),
      tool_schema_tokens: 0,
      provider_overhead_tokens: 0,
    }
  }

  function count(more: number): void {
    chars += more
    tell('session.context.estimate', {
      provider: provider(),
      source: 'history',
      total_tokens_estimate: tokensIn(chars),
      breakdown: breakdown(),
    })
  }

  function gather(work: () => void): Told[] {
    out = []
    work()
    since += out.length
    return out
  }

  return {
    messages,
    history,
    tell,
    count,
    get label() {
      return label
    },
    get tokens() {
      return tokensIn(chars)
    },
    status(now: string, turnId?: string): void {
      label = now
      const turn = turnId === undefined ? {} : { turn_id: turnId }
      tell('session.status', { pending: now !== READY, status_label: now, ...turn })
    },
    append(kind: UiMessage['kind'], text: string, images: Attachment[] = []): void {
      const id = at.seq === 0 && nextEarly ? nextEarly() : seqOf(at, since + out.length)
      const message = withImages({ id, kind, text }, images)
      messages.push(message)
      tell('session.message.appended', { message })
    },
    remember(role: HistoryMessage['role'], text: string, images: Attachment[] = []): void {
      history.push(withImages({ role, text }, images))
      count(text.length)
    },
    /** All that was said before is as long as this now, to the agent. */
    summedUp(tokens: number): void {
      chars = tokens * 4
    },
    /** What led to nothing is no part of the conversation. */
    forgetLastPrompt(): void {
      const last = history.findLastIndex(({ role }) => role === 'user')
      if (last < 0) return
      chars -= history[last]!.text.length
      history.splice(last)
    },
    clear(): void {
      messages.length = 0
      history.length = 0
      chars = 0
    },
    /** What is told about an event of the log. */
    of(event: Event, work: () => void): Told[] {
      at = event
      since = 0
      return gather(work)
    },
    /** What is told about something that no event of the log says. */
    beside(work: () => void): { told: Told[]; first: number } {
      const first = seqOf(at, since)
      return { told: gather(work), first }
    },
    context() {
      const isUsed = history.length > 0
      return {
        conversationProvider: isUsed ? provider() : null,
        activeSessionId: isUsed ? sessionId : null,
        contextTokenEstimate: tokensIn(chars),
        contextTokenSource: 'history',
        contextTokenProvider: isUsed ? provider() : null,
        contextTokenBreakdown: breakdown(),
      }
    },
  }
}

export type ConversationRecord = ReturnType<typeof createRecord>
