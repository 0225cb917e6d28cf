/** So many may do at a time what costs memory: the others wait in the order they came. */
export interface Slots {
  /** `start` is called when there is a free slot, at once if there is one, with the way out. Returns how to give up. */
  enter(start: (leave: () => void) => void): () => void
}

type Start = (leave: () => void) => void

export function createSlots(count: number): Slots {
  const waiting = new Set<Start>()
  let free = count

  /** The next one begins in a tick of its own, so that whoever wants little gets a turn in between. */
  function leave(): void {
    setImmediate(() => {
      const [next] = waiting
      if (!next) return void (free += 1)
      waiting.delete(next)
      next(leave)
    })
  }

  return {
    enter(start) {
      if (free > 0) {
        free -= 1
        start(leave)
      } else waiting.add(start)
      return () => void waiting.delete(start)
    },
  }
}

/** Does its work, now or later, and then says so. */
type Work = (done: () => void) => void

/** What one client wants and is large: one is made at a time, the next when the client has taken the last. */
export interface Lane {
  add(work: Work): void
  /** There is room again. */
  drained(): void
  /** What waits is dropped. */
  close(): void
}

export function createLane(slots: Slots, hasRoom: () => boolean): Lane {
  let waiting: Work[] = []
  let busy = false
  let giveUp = (): void => {}

  function next(): void {
    if (busy || waiting.length === 0 || !hasRoom()) return
    busy = true
    giveUp = slots.enter((leave) => {
      const over = (): void => {
        busy = false
        leave()
      }
      // Events may have taken the room while this waited for a slot.
      if (!hasRoom()) return over()
      waiting.shift()!(() => {
        over()
        next()
      })
    })
  }

  return {
    add(work) {
      waiting.push(work)
      next()
    },
    drained: next,
    close() {
      waiting = []
      giveUp()
    },
  }
}
