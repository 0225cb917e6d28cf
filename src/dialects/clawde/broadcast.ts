import type { Engine, Subscription } from '../../core/api.ts'
import type { LoggedEvent } from '../../core/event.ts'
import { textFrame } from '../../transports/frames.ts'
import { notification } from '../../transports/jsonrpc.ts'
import type { Push } from './pushes.ts'
import { bothWays, unixTimes } from './spelling.ts'
import { createTeller, type Later, type Teller } from './teller.ts'

/** Which pushes a client wants. Null: all of them. */
export interface PushFilter {
  readonly sessions: ReadonlySet<string> | null
  readonly types: ReadonlySet<string> | null
}

export const EVERYTHING: PushFilter = { sessions: null, types: null }

/** Pushes that many clients get, put into frames once for all who want moments as numbers, and once for the others. */
export interface Bundle {
  readonly pushes: readonly Push[]
  /** One for each push. */
  frames(unix: boolean): readonly Buffer[]
}

export function bundleOf(pushes: readonly Push[]): Bundle {
  const made: Buffer[][] = []
  return { pushes, frames: (unix) => (made[Number(unix)] ??= pushes.map((push) => frameOf(push, unix))) }
}

export function frameOf({ method, params, seq }: Push, unix: boolean): Buffer {
  const spelled = bothWays({ ...params, seq })
  return textFrame(notification(method, JSON.stringify(unix ? unixTimes(spelled) : spelled)))
}

/** What happens now, for all clients together. */
export interface Broadcast {
  /** The pushes of a batch that has just happened; undefined when it comes from the log. */
  bundleOf(events: LoggedEvent[]): Bundle | undefined
  /** A teller of one client's own, which begins with what everybody who is up to date has been told, or with nothing. */
  teller(begins: 'up to date' | 'with nothing', tell: Later['tell']): Teller
  /** Somebody listens, also to what is told between two batches; returns how to leave. Nothing is done while nobody does. */
  join(between: (bundle: Bundle) => void): () => void
}

export interface BroadcastParts {
  engine: Engine
  silentMs: number
  onFault(error: unknown): void
}

export function createBroadcast({ engine, silentMs, onFault }: BroadcastParts): Broadcast {
  const listeners = new Set<(bundle: Bundle) => void>()
  const later: Later = {
    silentMs,
    tell(pushes) {
      const bundle = bundleOf(pushes)
      for (const between of listeners) between(bundle)
    },
  }
  let live = createTeller(engine, later)
  let subscription: Subscription | null = null
  let bundles = new WeakMap<LoggedEvent[], Bundle>()

  function deliver(events: LoggedEvent[]): void {
    try {
      bundles.set(events, bundleOf(live.tell(events)))
    } catch (error) {
      onFault(error)
      bundles.set(events, bundleOf([]))
    }
  }

  return {
    bundleOf: (events) => bundles.get(events),
    teller(begins, tell) {
      const its = { silentMs, tell }
      return begins === 'up to date' ? live.copy(its) : createTeller(engine, its)
    },
    // This reader is the first of all of this dialect: a batch has been put into words before any client is handed it.
    join(between) {
      listeners.add(between)
      if (listeners.size === 1) {
        live = createTeller(engine, later)
        bundles = new WeakMap()
        subscription = engine.events.subscribe({ after: engine.events.head }, deliver, onFault)
      }
      return () => {
        listeners.delete(between)
        if (listeners.size > 0) return
        subscription?.close()
        live.close()
      }
    },
  }
}
