import type { Ask, Piece } from '../ask.ts'

/** One call on its way through the providers. */
export interface ModelCall {
  /** The id of its record. */
  id: string
  ask: Ask
  /** Sticky: what the client sent as `X-IR-Session-ID`; null: a call that stands for itself. */
  stickyId: string | null
  /** The client is gone, or has what it wanted: stop. */
  signal: AbortSignal
}

/** Somebody who answers: the agent on this machine, or an API elsewhere. */
export interface Provider {
  /** As in the answer's `provider`, and in the settings. */
  readonly name: string
  /** It keeps to `max_tokens` itself, and counts better than an estimate could. */
  readonly countsItself?: boolean
  /** Null: it may be asked. Else why not, in a few words. */
  unavailable(): Promise<string | null>
  /**
   * Pieces up to and including `end`. What it throws is a `RelayFailure`; thrown before the first piece, the next
   * provider may be asked. Ends at once when the call's signal aborts.
   */
  answer(call: ModelCall): AsyncIterable<Piece>
}
