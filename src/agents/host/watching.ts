import { watch, type FSWatcher } from 'node:fs'

/** How often a process is looked at although nothing has stirred; faster where the system cannot say that it has. */
const POLL_MS = 500
const BLIND_POLL_MS = 50

interface Watching {
  /** There may be something to read. */
  pump: () => void
  /** The process may be gone. */
  check: () => void
  failed: (error: unknown) => void
}

/**
 * Watches the directory of a run until the function that it returns is called. Without a watch (the system's limit on them is
 * reached) reading is merely less prompt.
 */
export function watchRun(dir: string, { pump, check, failed }: Watching): () => void {
  let watcher: FSWatcher | null = null
  try {
    watcher = watch(dir, (_, file) => (file === 'exit' ? check() : pump()))
    watcher.on('error', failed)
  } catch (error) {
    failed(error)
  }
  const poll = setInterval(check, watcher ? POLL_MS : BLIND_POLL_MS)
  return () => {
    watcher?.close()
    clearInterval(poll)
  }
}
