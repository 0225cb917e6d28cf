/** What a peer has sent, in order, held back while nothing more is wanted of it. */
export interface Inbox<T> {
  readonly paused: boolean
  put(item: T): void
  /** Reads on only when every `pause` has had its `resume`. */
  pause(): void
  resume(): void
  /** Forgets what is held back. */
  clear(): void
}

/** `take` gets the items; `source` is what they are read from. */
export function createInbox<T>(
  source: { pause(): unknown; resume(): unknown },
  take: (item: T) => void,
): Inbox<T> {
  let pauses = 0
  // A chunk holds many messages, and the first of them may already be a reason to read no further.
  let held: T[] = []

  function put(item: T): void {
    if (pauses > 0) held.push(item)
    else take(item)
  }

  return {
    get paused() {
      return pauses > 0
    },
    put,
    pause() {
      pauses++
      source.pause()
    },
    resume() {
      pauses--
      if (pauses > 0) return
      const waiting = held
      held = []
      for (const item of waiting) put(item)
      if (pauses === 0) source.resume()
    },
    clear() {
      held = []
    },
  }
}
