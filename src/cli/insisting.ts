import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 50

/** Repeats a call until it is answered. Only for calls that may run twice: one whose connection was lost may have run. */
export async function insisting<T>(call: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await call()
    } catch (error) {
      const { name, code } = error as { name?: string; code?: unknown }
      if (name !== 'ConnectionLost' && code !== 'stopping') throw error
      await delay(POLL_MS)
    }
  }
}
