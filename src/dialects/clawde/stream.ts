import type { Engine, Subscription } from '../../core/api.ts'
import type { LoggedEvent } from '../../core/event.ts'
import { bundleOf, EVERYTHING, frameOf, type Broadcast, type Bundle, type Wanted } from './broadcast.ts'
import { createPieces, type Pieces } from './pieces.ts'
import type { Push } from './pushes.ts'
import type { Teller } from './teller.ts'

export interface StreamOptions {
  engine: Engine
  broadcast: Broadcast
  /** False: no more before there is room again. */
  send(frame: Buffer): boolean
  /** Bytes that may wait for an answer to go first. */
  heldLimit: number
  /** Who is behind for no longer than this is not told. */
  lagMs: number
  failed(): void
}

/** The pushes of one connection. */
export interface Stream {
  /** Moments as numbers. */
  unix: boolean
  /** The pushes of ClawDE's command line and of its editor plugin come along from now on. */
  withPieces(): Pieces
  /** An answer is on its way: what it caused comes after it. Each needs its release. */
  hold(): void
  release(): void
  /** From a place in the log, or from now on. */
  subscribe(after: number, wanted: Wanted): void
  /** Something that is not in the log; who is behind gets the last one of its kind. */
  push(kind: string, bundle: Bundle): void
  drained(): void
  close(): void
}

export function createStream(options: StreamOptions): Stream {
  const { engine, broadcast, send, heldLimit, lagMs, failed } = options
  const leave = broadcast.join((bundle) => {
    if (!own) say(framesOf(bundle))
  })
  let wanted = EVERYTHING
  let pieces: Pieces | null = null
  /** What this client alone has been told, while it reads from the log. */
  let own: Teller | null = null
  let holds = 0
  let held: Buffer[] = []
  let heldBytes = 0
  /** The last batch found no more room: the log is read from there on. */
  let behind = false
  let behindSince = 0
  const missed = new Map<string, Bundle>()
  let subscription = follow(engine.events.head)

  function follow(after: number): Subscription {
    return engine.events.subscribe({ after }, deliver, failed)
  }

  function deliver(events: LoggedEvent[]): boolean {
    const live = broadcast.bundleOf(events)
    // Who tells this client something later has to be who did not tell it before.
    if (live && !own?.holdsBack) dismiss()
    else own ??= broadcast.teller('with nothing', tellAlone)
    const bundle = own ? bundleOf(own.tell(events)) : live!
    if (say(framesOf(bundle))) return true
    if (!behind) behindSince = performance.now()
    behind = true
    own ??= broadcast.teller('up to date', tellAlone)
    return false
  }

  function framesOf(bundle: Bundle): readonly Buffer[] {
    const frames = bundle.frames(stream.unix)
    const { sessions, types } = wanted
    if (sessions === null && types === null && pieces === null) return frames
    const isWanted = ({ method }: Push): boolean => types === null || types.has(method)
    return bundle.pushes.flatMap((push, n) => {
      if (sessions !== null && push.sessionId !== null && !sessions.has(push.sessionId)) return []
      const more = pieces?.of(push).filter(isWanted) ?? []
      return [...(isWanted(push) ? [frames[n]!] : []), ...more.map((piece) => frameOf(piece, stream.unix))]
    })
  }

  function tellAlone(pushes: readonly Push[]): void {
    say(framesOf(bundleOf(pushes)))
  }

  function dismiss(): void {
    own?.close()
    own = null
  }

  function say(frames: readonly Buffer[]): boolean {
    if (holds > 0) {
      held.push(...frames)
      for (const { length } of frames) heldBytes += length
      return heldBytes < heldLimit
    }
    let room = true
    for (const frame of frames) room = send(frame)
    return room
  }

  /** What is sent to somebody who was too slow is told from the log; pieces of what is complete by now are left out. */
  function goOn(): void {
    if (!behind) return
    behind = false
    const { cursor } = subscription
    const { head, oldest } = engine.events
    if (head > cursor && performance.now() - behindSince >= lagMs) {
      const params = { after: cursor, head, missed: head - cursor, gap: cursor + 1 < oldest }
      const lagged: Push = { method: 'events.lagged', sessionId: null, seq: cursor, params }
      say([frameOf(lagged, stream.unix)])
    }
    for (const bundle of missed.values()) say(framesOf(bundle))
    missed.clear()
    subscription.resume()
  }

  const stream: Stream = {
    unix: false,
    withPieces: () => (pieces ??= createPieces()),
    hold: () => void (holds += 1),
    release() {
      if (--holds > 0) return
      const frames = held
      held = []
      heldBytes = 0
      if (say(frames) && behind) goOn()
    },
    subscribe(after, chosen) {
      subscription.close()
      wanted = chosen
      dismiss()
      if (after < engine.events.head) own = broadcast.teller('with nothing', tellAlone)
      behind = false
      subscription = follow(after)
    },
    push(kind, bundle) {
      if (behind) missed.set(kind, bundle)
      else say(framesOf(bundle))
    },
    drained() {
      if (holds === 0) goOn()
    },
    close() {
      subscription.close()
      dismiss()
      leave()
    },
  }
  return stream
}
