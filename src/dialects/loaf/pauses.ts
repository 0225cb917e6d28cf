import type { Event } from '../../core/event.ts'

/** A point in the events of a session after which nothing more is told until somebody has been answered. */
export interface Pause {
  /** Resolves when the event has been told of, and rejects when it never will be. */
  readonly reached: Promise<void>
  release(): void
}

interface Waiting {
  isIt(event: Event): boolean
  reached: PromiseWithResolvers<void>
  released: PromiseWithResolvers<void>
}

export class Pauses {
  readonly #waiting = new Set<Waiting>()

  at(isIt: Waiting['isIt']): Pause {
    const reached = Promise.withResolvers<void>()
    const released = Promise.withResolvers<void>()
    const waiting = { isIt, reached, released }
    reached.promise.catch(() => {}) // often nobody waits
    this.#waiting.add(waiting)
    return {
      reached: reached.promise,
      release: () => {
        this.#waiting.delete(waiting)
        released.resolve()
      },
    }
  }

  /** Resolves when all that pause at this event have been released. */
  async pass(event: Event): Promise<void> {
    for (const { reached, released } of [...this.#waiting].filter(({ isIt }) => isIt(event))) {
      reached.resolve()
      await released.promise
    }
  }

  /** There are no more events. */
  end(error: Error): void {
    for (const { reached, released } of this.#waiting) {
      reached.reject(error)
      released.resolve()
    }
  }
}
