import { isCompaction } from '../../core/compaction.ts'
import type { Change, OpenTurn, TurnEnd, UserMessage } from '../../core/conversation/item.ts'
import { type SessionRecord, READY } from './record.ts'
import type { Compaction } from './wire.ts'

/** How the key of a message begins with which `/compress` has the conversation summed up: nobody has said it. */
export const COMPRESS = 'compress '
const COMPRESSING = 'compressing context...'
const INTERRUPTED = 'it was interrupted'
const UNFINISHED = 'the turn was over before it was done'

/** Whether this message is not one, but the wish of `/compress`. */
export function isWish({ key, content }: Pick<UserMessage, 'key' | 'content'>): boolean {
  return key?.startsWith(COMPRESS) === true && isCompaction(content)
}

interface Begun {
  turn: { turn_id?: string }
  /** What was asked for is `manual`. */
  reason: 'manual' | 'auto'
  tokens: number
  window: number | null
}

type ChangeOf<T extends Change['type']> = Extract<Change, { type: T }>

/**
 * Tells of a conversation that is summed up. An index is a place among the messages of the conversation: what is before
 * the anchor is in the summary.
 */
export class Compactions {
  /** What came of the last one; null: nothing. */
  last: Compaction | null = null
  readonly #record: SessionRecord
  /** The turn does nothing else: because of `/compress`, or because somebody said so. */
  #asked: 'compress' | 'said' | null = null
  #anchor = 0
  #begun: Begun | null = null

  constructor(record: SessionRecord) {
    this.#record = record
  }

  /** The turn that runs is none of the conversation's. */
  get hidden(): boolean {
    return this.#asked === 'compress'
  }

  /** A turn begins with this message; `text` is what it says. */
  starts(message: UserMessage, text: string): void {
    const isSaid = /^\/compact(?:\s|$)/.test(text.trim())
    this.#asked = isWish(message) ? 'compress' : isSaid ? 'said' : null
    if (!this.hidden) return
    this.last = null
    this.#record.status(COMPRESSING)
  }

  begins({ tokens, window }: ChangeOf<'compacting'>, turn: OpenTurn | null): void {
    this.#begun = this.#begin(tokens, window, turn?.id ?? null)
  }

  ends({ tokensBefore, tokensAfter, window, error }: ChangeOf<'compacted'>, turn: OpenTurn | null): void {
    // Some agents only tell that they have done it.
    const it = this.#begun ?? this.#begin(tokensBefore, window, turn?.id ?? null)
    if (error !== null) this.#fail(it, turn?.interrupting ? INTERRUPTED : error)
    else
      this.#complete({ ...it, tokens: tokensBefore ?? it.tokens, window: window ?? it.window }, tokensAfter)
    if (turn === null) this.#record.status(READY)
    else if (this.#asked === null) this.#record.status('thinking...')
  }

  /** The turn is over: what it has not finished has failed. */
  over({ turnId, outcome, error }: TurnEnd, isInterrupted: boolean): void {
    const isLost = this.#begun !== null || (this.hidden && !this.last && outcome !== 'completed')
    if (isLost) {
      const why = isInterrupted ? INTERRUPTED : (error?.message ?? UNFINISHED)
      this.#fail(this.#begun ?? this.#begin(null, null, turnId), why)
    }
    this.#asked = null
  }

  /** The conversation begins afresh. */
  clear(): void {
    this.#anchor = 0
  }

  #begin(tokens: number | null, window: number | null, turnId: string | null): Begun {
    const fresh: Begun = {
      // A turn that is no part of the conversation is not named.
      turn: turnId === null || this.hidden ? {} : { turn_id: turnId },
      reason: this.#asked ? 'manual' : 'auto',
      tokens: tokens ?? this.#record.tokens,
      window,
    }
    this.#record.status(COMPRESSING, fresh.turn.turn_id)
    this.#record.tell('compaction.started', {
      ...fresh.turn,
      reason: fresh.reason,
      anchor_event_index_before: this.#anchor,
      event_count: this.#record.history.length,
      context_window_tokens: window,
    })
    return fresh
  }

  #resultOf({ tokens, window }: Begun, after: number, error?: string): Compaction {
    return {
      compressed: error === undefined,
      estimated_tokens_before: tokens,
      estimated_tokens_after: after,
      model_context_window: window,
      target_limit: null,
      anchor_event_index_before: this.#anchor,
      anchor_event_index_after: error === undefined ? this.#record.history.length : this.#anchor,
      ...(error !== undefined && { error }),
    }
  }

  #fail(failed: Begun, message: string): void {
    this.last = this.#resultOf(failed, failed.tokens, message)
    this.#record.tell('compaction.failed', { ...failed.turn, reason: failed.reason, message })
    this.#begun = null
  }

  #complete(done: Begun, after: number | null): void {
    const record = this.#record
    this.last = this.#resultOf(done, after ?? done.tokens)
    const { compressed, target_limit, anchor_event_index_before, anchor_event_index_after, ...numbers } =
      this.last
    const about = { ...done.turn, reason: done.reason }
    const anchors = { anchor_event_index_before, anchor_event_index_after }
    if (after !== null) record.summedUp(after)
    record.tell('compaction.anchor_selected', { ...about, ...anchors })
    // How long the summary is not every agent says.
    if (after !== null)
      record.tell('compaction.summary_merged', { ...about, ...anchors, estimated_tokens_after: after })
    const limits = { target_limit, high_watermark_limit: null }
    record.tell('compaction.completed', { ...about, compressed, ...numbers, ...limits, anchors })
    this.#anchor = anchor_event_index_after
    this.#begun = null
  }
}
