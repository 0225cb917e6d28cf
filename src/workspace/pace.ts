export interface PaceTiming {
  /** Runs when nothing has happened for this long ... */
  readonly quietMs: number
  /** ... or when something has been happening for this long. */
  readonly patienceMs: number
  /** After a run, a rest of this many times its own length: a slow status takes a fixed share of a processor. */
  readonly restFactor: number
}

export const PACE: PaceTiming = { quietMs: 300, patienceMs: 1500, restFactor: 4 }

/** Turns many nudges into few runs, one at a time. `run` must not throw. */
export interface Pace {
  nudge(): void
  /** Resolves when a run that is under way has ended; there is none afterwards. */
  close(): Promise<void>
}

export function createPace(run: () => Promise<void>, timing: PaceTiming = PACE): Pace {
  let timer: NodeJS.Timeout | null = null
  let running: Promise<void> | null = null
  let firstNudge: number | null = null
  let notBefore = 0
  let closed = false

  function schedule(): void {
    if (closed || running || firstNudge === null) return
    const now = performance.now()
    const due = Math.min(now + timing.quietMs, firstNudge + timing.patienceMs)
    if (timer) clearTimeout(timer)
    timer = setTimeout(start, Math.max(due - now, notBefore - now, 0))
  }

  function start(): void {
    timer = null
    firstNudge = null
    const began = performance.now()
    running = run().finally(() => {
      running = null
      notBefore = performance.now() + (performance.now() - began) * timing.restFactor
      schedule()
    })
  }

  return {
    nudge() {
      firstNudge ??= performance.now()
      schedule()
    },
    async close() {
      closed = true
      if (timer) clearTimeout(timer)
      await running
    },
  }
}
