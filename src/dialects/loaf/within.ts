/** Waits for the work, but not longer than this; what becomes of it is not asked. */
export async function within(ms: number, work: Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, ms)
  await Promise.race([work, promise]).catch(() => {})
  clearTimeout(timer)
}
