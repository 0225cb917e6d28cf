import type { ContentPiece, End, Heading, Outcome, Served } from './answer.ts'
import type { Ask } from './ask.ts'
import type { RelayFailure } from './failure.ts'

/** A dialect in front of the relay: how its clients ask, and how they are answered. It has no state, and does nothing itself. */
export interface Shape {
  /** `named`: it is a call of a session, which may know the calls that a lone message brings results of. */
  read(body: unknown, named: boolean): Ask
  stream(heading: Heading, ask: Ask): StreamEncoder
  whole(heading: Heading, ask: Ask, outcome: Outcome, served: Served): object
  /** The envelope that its clients open when a call is not answered. */
  failure(failure: RelayFailure, requestId: string): object
}

/** Pieces as the text of one client's event stream. One for each answer, since it knows what has been sent. */
export interface StreamEncoder {
  /** The stream's beginning, unless it has been sent: for who wants to have it out before the first piece. */
  begin(): string
  piece(piece: ContentPiece): string
  end(end: End, served: Served): string
  /** Keeps proxies from closing a quiet connection. */
  ping(): string
  /** Instead of an end, when it is too late for a status. */
  fail(failure: RelayFailure): string
}
