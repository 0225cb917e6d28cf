import type { ModelCall } from '../providers/provider.ts'

/** A call that is not over. */
export interface RunningCall {
  id: string
  /** The name that its client gave to the session; null: it stands for itself. */
  sessionId: string | null
  model: string
  startedAt: number
}

export interface RunningCalls {
  /** The one that waits longest first. */
  list(): RunningCall[]
  /** The call is in the list until the work is done. */
  during<T>(call: ModelCall & { startedAt: number }, work: () => Promise<T>): Promise<T>
}

/** The calls under way. As many as the relay lets in at a time. */
export function createRunningCalls(): RunningCalls {
  const running = new Map<string, RunningCall>()
  return {
    list: () => [...running.values()],
    async during({ id, stickyId, ask, startedAt }, work) {
      running.set(id, { id, sessionId: stickyId, model: ask.model, startedAt })
      try {
        return await work()
      } finally {
        running.delete(id)
      }
    },
  }
}
