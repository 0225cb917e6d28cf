/** Something with a number that only grows. */
export interface Numbered {
  seq: number
}

/** The newest items, in order. Positions count on, whatever has been dropped. */
export interface Ring<T extends Numbered> {
  add(item: T): void
  /** Told after each addition. */
  onAdd(listener: () => void): void
  clear(): void
  /** The number of the newest item that had to make room; 0: all are there. */
  readonly lost: number
  /** The position of the oldest item that is still there. */
  readonly first: number
  /** The position of the next one to come. */
  readonly end: number
  at(position: number): T | undefined
  /** The position behind the item with this number, there or not. */
  after(seq: number): number
  slice(from: number, to?: number): T[]
  /** A number for the next item. */
  nextSeq(now: number): number
}

/**
 * Numbers are times where that is possible: so they go on growing over a restart and over a `clear`, and nothing has to be
 * remembered for it.
 */
export function createRing<T extends Numbered>(capacity: number, initial: readonly T[] = []): Ring<T> {
  const items = initial.slice(-capacity)
  let end = items.length
  // A full beginning is the end of something longer.
  let lost = initial.length < capacity ? 0 : (initial.at(-capacity - 1)?.seq ?? initial[0]!.seq - 1)
  let newest = items.at(-1)?.seq ?? 0
  const first = (): number => end - items.length
  const listeners: (() => void)[] = []

  return {
    add(item) {
      items.push(item)
      if (items.length > capacity) lost = items.shift()!.seq
      end += 1
      newest = item.seq
      for (const listener of listeners) listener()
    },
    onAdd: (listener) => void listeners.push(listener),
    clear: () => void (items.length = 0),
    get lost() {
      return lost
    },
    get first() {
      return first()
    },
    get end() {
      return end
    },
    at: (position) => items[position - first()],
    after(seq) {
      const index = items.findIndex((item) => item.seq > seq)
      return index < 0 ? end : first() + index
    },
    slice: (from, to = end) => items.slice(Math.max(0, from - first()), Math.max(0, to - first())),
    nextSeq: (now) => Math.max(newest + 1, now),
  }
}
