/** Large answers of one client: each is made when the one before has been made and there is space for it. */
export interface WorkQueue {
  run<T>(work: () => T | Promise<T>): Promise<T>
  drained(): void
  /** What has not begun never does. */
  close(): void
}

export function createWorkQueue(hasSpace: () => boolean): WorkQueue {
  const waiting: (() => Promise<void>)[] = []
  let busy = false

  function next(): void {
    if (busy || !hasSpace()) return
    const work = waiting.shift()
    if (!work) return
    busy = true
    void work().finally(() => {
      busy = false
      next()
    })
  }

  return {
    run(work) {
      const { promise, resolve, reject } = Promise.withResolvers<Awaited<ReturnType<typeof work>>>()
      waiting.push(async () => {
        try {
          resolve(await work())
        } catch (error) {
          reject(error as Error)
        }
      })
      next()
      return promise
    },
    drained: next,
    close: () => void waiting.splice(0),
  }
}
