import type { Engine, Subscription } from '../../core/api.ts'
import type { LoggedEvent } from '../../core/event.ts'
import { bundleOf, EVERYTHING, frameOf, type Broadcast, type Bundle, type PushFilter } from './broadcast.ts'
import type { Outbox } from './outbox.ts'
import { createPieces, type Pieces } from './pieces.ts'
import type { Push } from './pushes.ts'
import type { Teller } from './teller.ts'

export interface StreamParts {
  readonly engine: Engine
  readonly broadcast: Broadcast
  /** Who is behind for no longer than this is not told. */
  readonly lagMs: number
  now(): number
  readonly outbox: Outbox
  failed(): void
}

/** The pushes of one connection. */
export class Stream {
  /** Moments as numbers. */
  unix = false
  readonly #parts: StreamParts
  readonly #leave: () => void
  #filter = EVERYTHING
  #pieces: Pieces | null = null
  /** What this client alone has been told, while it reads from the log. */
  #own: Teller | null = null
  /** The last batch found no more space: the log is read from there on. */
  #behind = false
  #behindSince = 0
  readonly #missed = new Map<string, Bundle>()
  #subscription: Subscription

  constructor(parts: StreamParts) {
    this.#parts = parts
    this.#leave = parts.broadcast.join((bundle) => {
      if (!this.#own) this.#put(bundle)
    })
    this.#subscription = this.#follow(parts.engine.events.head)
  }

  /** The pushes of ClawDE's command line and of its editor plugin come along from now on. */
  withPieces(): Pieces {
    return (this.#pieces ??= createPieces())
  }

  /** An answer is on its way: what it caused comes after it. Each needs its release. */
  hold(): void {
    this.#parts.outbox.hold()
  }

  release(): void {
    if (this.#parts.outbox.release()) this.#goOn()
  }

  /** From a number in the log, or from now on. */
  subscribe(after: number, filter: PushFilter): void {
    this.#subscription.close()
    this.#filter = filter
    this.#dismiss()
    if (after < this.#parts.engine.events.head) this.#own = this.#teller('with nothing')
    this.#behind = false
    this.#subscription = this.#follow(after)
  }

  /** Something that is not in the log; who is behind gets the last one of its kind. */
  push(kind: string, bundle: Bundle): void {
    if (this.#behind) this.#missed.set(kind, bundle)
    else this.#put(bundle)
  }

  drained(): void {
    if (!this.#parts.outbox.held) this.#goOn()
  }

  close(): void {
    this.#subscription.close()
    this.#dismiss()
    this.#leave()
  }

  #follow(after: number): Subscription {
    const { engine, failed } = this.#parts
    return engine.events.subscribe({ after }, (events) => this.#deliver(events), failed)
  }

  #deliver(events: LoggedEvent[]): boolean {
    const live = this.#parts.broadcast.bundleOf(events)
    // Who tells this client something later has to be who did not tell it before.
    if (live && !this.#own?.holdsBack) this.#dismiss()
    else this.#own ??= this.#teller('with nothing')
    if (this.#put(this.#own ? bundleOf(this.#own.tell(events)) : live!)) return true
    if (!this.#behind) this.#behindSince = this.#parts.now()
    this.#behind = true
    this.#own ??= this.#teller('up to date')
    return false
  }

  #teller(begins: 'up to date' | 'with nothing'): Teller {
    return this.#parts.broadcast.teller(begins, (pushes) => void this.#put(bundleOf(pushes)))
  }

  #dismiss(): void {
    this.#own?.close()
    this.#own = null
  }

  #put(bundle: Bundle): boolean {
    return this.#parts.outbox.put(framesOf(bundle, this.#filter, this.#pieces, this.unix))
  }

  /** What is sent to somebody who was too slow is told from the log; pieces of what is complete by now are left out. */
  #goOn(): void {
    if (!this.#behind) return
    this.#behind = false
    const { engine, outbox, lagMs, now } = this.#parts
    const { cursor } = this.#subscription
    const { head, oldest } = engine.events
    if (head > cursor && now() - this.#behindSince >= lagMs) {
      const params = { after: cursor, head, missed: head - cursor, gap: cursor + 1 < oldest }
      outbox.put([frameOf({ method: 'events.lagged', sessionId: null, seq: cursor, params }, this.unix)])
    }
    for (const bundle of this.#missed.values()) this.#put(bundle)
    this.#missed.clear()
    this.#subscription.resume()
  }
}

/** The frames of a bundle that one client wants. */
function framesOf(
  bundle: Bundle,
  { sessions, types }: PushFilter,
  pieces: Pieces | null,
  unix: boolean,
): readonly Buffer[] {
  const frames = bundle.frames(unix)
  if (sessions === null && types === null && pieces === null) return frames
  const isWanted = ({ method }: Push): boolean => types === null || types.has(method)
  return bundle.pushes.flatMap((push, n) => {
    if (sessions !== null && push.sessionId !== null && !sessions.has(push.sessionId)) return []
    const more = pieces?.of(push).filter(isWanted) ?? []
    return [...(isWanted(push) ? [frames[n]!] : []), ...more.map((piece) => frameOf(piece, unix))]
  })
}
