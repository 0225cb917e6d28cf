import { isCompaction } from '../../core/compaction.ts'
import type { Event } from '../../core/event.ts'
import { type ConversationRecord, READY } from './record.ts'

type Of<T extends Event['type']> = Extract<Event, { type: T }>

/** How the key of a message begins with which `/compress` has the conversation summed up: nobody has said it. */
export const COMPRESS = 'compress '
const COMPRESSING = 'compressing context...'
const INTERRUPTED = 'it was interrupted'
const UNFINISHED = 'the turn was over before it was done'

/** Whether this message is not one, but the wish of `/compress`. */
export function isWish({ key, input }: Of<'turn.queued'>): boolean {
  return key?.startsWith(COMPRESS) === true && isCompaction(input)
}

/** What came of summing up a conversation, in the words of the protocol. */
export interface Compaction {
  compressed: boolean
  estimated_tokens_before: number
  estimated_tokens_after: number
  model_context_window: number | null
  /** An agent decides by itself when it is time, and how much it leaves. */
  target_limit: null
  anchor_event_index_before: number
  anchor_event_index_after: number
  /** Why it could not be done. */
  error?: string
}

/** How it is with the conversation. */
interface Now {
  turnId(): string | null
  /** Somebody has asked for the end of the turn. */
  isInterrupted(): boolean
}

interface Begun {
  turn: { turn_id?: string }
  /** What was asked for is `manual`. */
  reason: 'manual' | 'auto'
  tokens: number
  window: number | null
}

/**
 * Tells of a conversation that is summed up. An index is a place among the messages of the conversation: what is before
 * the anchor is in the summary.
 */
export function createCompaction(record: ConversationRecord, now: Now) {
  const { tell, status } = record
  const compressions = new Set<string>()
  /** The turn does nothing else: because of `/compress`, or because somebody said so. */
  let asked: 'compress' | 'said' | null = null
  let anchor = 0
  let begun: Begun | null = null
  let last: Compaction | null = null

  /** A turn that is no part of the conversation is not named. */
  function turn(): Begun['turn'] {
    const id = now.turnId()
    return id === null || asked === 'compress' ? {} : { turn_id: id }
  }

  function begin(tokens: number | null, window: number | null): Begun {
    const fresh: Begun = {
      turn: turn(),
      reason: asked ? 'manual' : 'auto',
      tokens: tokens ?? record.tokens,
      window,
    }
    status(COMPRESSING, fresh.turn.turn_id)
    tell('compaction.started', {
      ...fresh.turn,
      reason: fresh.reason,
      anchor_event_index_before: anchor,
      event_count: record.history.length,
      context_window_tokens: window,
    })
    return fresh
  }

  function resultOf({ tokens, window }: Begun, after: number, error?: string): Compaction {
    return {
      compressed: error === undefined,
      estimated_tokens_before: tokens,
      estimated_tokens_after: after,
      model_context_window: window,
      target_limit: null,
      anchor_event_index_before: anchor,
      anchor_event_index_after: error === undefined ? record.history.length : anchor,
      ...(error !== undefined && { error }),
    }
  }

  function fail(failed: Begun, message: string): void {
    last = resultOf(failed, failed.tokens, message)
    tell('compaction.failed', { ...failed.turn, reason: failed.reason, message })
    begun = null
  }

  function complete(done: Begun, after: number | null): void {
    last = resultOf(done, after ?? done.tokens)
    const { compressed, target_limit, anchor_event_index_before, anchor_event_index_after, ...numbers } = last
    const about = { ...done.turn, reason: done.reason }
    const anchors = { anchor_event_index_before, anchor_event_index_after }
    if (after !== null) record.summedUp(after)
    tell('compaction.anchor_selected', { ...about, ...anchors })
    // How long the summary is not every agent says.
    if (after !== null)
      tell('compaction.summary_merged', { ...about, ...anchors, estimated_tokens_after: after })
    const limits = { target_limit, high_watermark_limit: null }
    tell('compaction.completed', { ...about, compressed, ...numbers, ...limits, anchors })
    anchor = anchor_event_index_after
    begun = null
  }

  return {
    /** Whether this message is not one, but the wish to have it done. */
    isWish(event: Of<'turn.queued'>): boolean {
      const is = isWish(event)
      if (is) compressions.add(event.turnId)
      return is
    },
    cancelled: (id: string) => void compressions.delete(id),
    starts(id: string, text: string): void {
      asked = compressions.delete(id) ? 'compress' : /^\/compact(?:\s|$)/.test(text.trim()) ? 'said' : null
      if (asked !== 'compress') return
      last = null
      status(COMPRESSING)
    },
    /** The turn is none of the conversation's. */
    get hidden() {
      return asked === 'compress'
    },
    begins({ tokens, window }: Of<'agent.compacting'>): void {
      begun = begin(tokens, window)
    },
    ends({ tokensBefore, tokensAfter, window, error }: Of<'agent.compacted'>): void {
      // Some agents only tell that they have done it.
      const it = begun ?? begin(tokensBefore, window)
      if (error !== null) fail(it, now.isInterrupted() ? INTERRUPTED : error)
      else complete({ ...it, tokens: tokensBefore ?? it.tokens, window: window ?? it.window }, tokensAfter)
      if (now.turnId() === null) status(READY)
      else if (asked === null) status('thinking...')
    },
    /** The turn is over: what it has not finished has failed. */
    over(event: Of<'turn.completed'> | Of<'turn.failed'> | Of<'turn.interrupted'>): void {
      const isCutOff = event.type === 'turn.interrupted' || now.isInterrupted()
      const why = event.type === 'turn.failed' ? event.error.message : UNFINISHED
      const isLost = begun !== null || (asked === 'compress' && !last && event.type !== 'turn.completed')
      if (isLost) fail(begun ?? begin(null, null), isCutOff ? INTERRUPTED : why)
      asked = null
    },
    /** The conversation begins afresh. */
    clear(): void {
      anchor = 0
    },
    /** What came of the last one. */
    get last() {
      return last
    },
  }
}
