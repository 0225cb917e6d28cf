import { setTimeout as delay } from 'node:timers/promises'

const POLL_MS = 50

/** For what may be done twice: whether it was done when the connection went away is not known. */
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
