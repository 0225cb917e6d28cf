const RETRY_MS = 1000

/** Tries until the log takes it, or nobody is interested any more: what happened to a process must be written down. */
export async function untilCommitted(
  work: () => Promise<void>,
  given: { stopped: () => boolean; failed: (error: unknown) => void },
): Promise<void> {
  while (!given.stopped()) {
    try {
      return await work()
    } catch (error) {
      given.failed(error)
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
    }
  }
}
