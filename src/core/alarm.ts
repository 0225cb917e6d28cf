/**
 * As long as anything is to fall due, the clock is looked at this often: timers do not notice when it is set, or when the machine
 * has slept.
 */
const LONGEST_MS = 15_000

/** Wakes sessions when something of theirs falls due. One timer, however many sessions. */
export interface Alarms {
  set(sessionId: string, at: number): void
  stop(): void
}

export function createAlarms(now: () => number, ring: (sessionId: string) => void): Alarms {
  const due = new Map<string, number>()
  let timer: NodeJS.Timeout | undefined
  /** When the timer goes off; it may find that there is nothing to do. */
  let armedFor = Infinity

  function arm(at: number): void {
    clearTimeout(timer)
    armedFor = at
    if (at < Infinity) timer = setTimeout(fire, Math.min(Math.max(at - now(), 0), LONGEST_MS)).unref()
  }

  function fire(): void {
    const late: string[] = []
    let next = Infinity
    for (const [sessionId, at] of due) {
      if (at <= now()) late.push(sessionId)
      else next = Math.min(next, at)
    }
    for (const sessionId of late) due.delete(sessionId)
    arm(next)
    for (const sessionId of late) ring(sessionId)
  }

  return {
    set(sessionId, at) {
      due.set(sessionId, at)
      if (at < armedFor) arm(at)
    },
    stop() {
      due.clear()
      arm(Infinity)
    },
  }
}
