import type { Run } from './run.ts'

/** Signals on timers, until somebody says that it is over. One ladder per session. */
export interface Escalation {
  /** Each step waits its milliseconds after the one before. */
  start(run: Run, steps: [signal: NodeJS.Signals, ms: number][]): void
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
