import type { Run } from './run.ts'

/** Signals in order; each waits its milliseconds after the one before. */
export type Steps = [signal: NodeJS.Signals, ms: number][]

/** From the polite interrupt to SIGTERM, from there to SIGKILL. */
export interface InterruptTimes {
  interruptMs: number
  killMs: number
}

/** How long an idle agent may take to say goodbye before it gets SIGTERM, and from there to SIGKILL. */
export interface EndTimes {
  termMs: number
  killMs: number
}

/** What becomes of an agent that was asked to stop and does not. */
export function afterInterrupt({ interruptMs, killMs }: InterruptTimes): Steps {
  return [
    ['SIGTERM', interruptMs],
    ['SIGKILL', killMs],
  ]
}

/** Signals on timers, until somebody says that it is over. One ladder per session. */
export interface Escalation {
  start(run: Run, steps: Steps): void
  stop(sessionId: string): void
  stopAll(): void
}

export function createEscalation(): Escalation {
  const timers = new Map<string, NodeJS.Timeout[]>()

  function stop(sessionId: string): void {
    for (const timer of timers.get(sessionId) ?? []) clearTimeout(timer)
    timers.delete(sessionId)
  }

  return {
    start(run, steps) {
      stop(run.sessionId)
      let after = 0
      timers.set(
        run.sessionId,
        steps.map(([signal, ms]) => setTimeout(() => run.signal(signal), (after += ms))),
      )
    },
    stop,
    stopAll() {
      for (const sessionId of timers.keys()) stop(sessionId)
    },
  }
}
