import { Worker } from 'node:worker_threads'
import { openForWriting, type Writing, type WriterAnswer, type WriterRequest } from './writing.ts'

const CHECKPOINT_PAGES = 2000
/** Rows within a second that are worth a thread of their own; below that the way there and back costs more than it saves. */
const BUSY_ROWS = 1000
const QUIET_MS = 30_000

/** The one thing that writes to the log. One request at a time. */
export interface Pen {
  write(request: WriterRequest): Promise<WriterAnswer>
  close(): Promise<void>
}

/**
 * Under load a thread holds the pen: checkpoints then never stall the event loop. A log at rest needs no thread, and a thread
 * costs some 13 MB: the first commits after a quiet time are made right here, while the thread starts.
 */
export function createPen(path: string, warn: (message: string) => void): Pen {
  let here: Writing | null = null
  let thread: Worker | null = null
  let ready = false
  let answer: ((answer: WriterAnswer) => void) | null = null
  let closed = false
  let recent = 0
  let second = 0
  let quiet: NodeJS.Timeout | null = null

  function startThread(): void {
    const file = import.meta.url.endsWith('.ts') ? './writer.ts' : './writer.js'
    const worker = new Worker(new URL(file, import.meta.url), {
      workerData: { path, checkpointPages: CHECKPOINT_PAGES },
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 },
    })
    worker.on('message', (message: WriterAnswer | 'ready') => {
      if (message === 'ready') ready = true
      else settle(message)
    })
    worker.on('error', (error) => {
      if (thread === worker) dropThread()
      warn(`the log's writing thread died: ${error.message}`)
      settle({ error: { message: error.message, code: 'thread' } })
    })
    worker.unref()
    thread = worker
  }

  function settle(message: WriterAnswer): void {
    const waiting = answer
    answer = null
    thread?.unref()
    waiting?.(message)
  }

  function dropThread(): Worker | null {
    const worker = thread
    thread = null
    ready = false
    return worker
  }

  /** Counts rows by the second, and lets the thread go when there have been none for a while. */
  function noteActivity(rows: number): void {
    const now = Math.floor(performance.now() / 1000)
    recent = now === second ? recent + rows : rows
    second = now
    if (!thread && recent >= BUSY_ROWS) startThread()
    if (!thread) return
    quiet ??= setInterval(() => {
      if (answer || performance.now() / 1000 - second < QUIET_MS / 1000) return
      clearInterval(quiet!)
      quiet = null
      dropThread()?.postMessage('close')
    }, QUIET_MS / 4).unref()
  }

  return {
    write(request) {
      if (closed) return Promise.resolve({ error: { message: 'the log is closed', code: 'closed' } })
      noteActivity('events' in request ? request.events.length + request.writes.length : 1)
      if (!thread || !ready) {
        try {
          here ??= openForWriting(path, 2 * CHECKPOINT_PAGES)
          return Promise.resolve(here.serve(request))
        } catch (error) {
          return Promise.resolve({ error: { message: (error as Error).message, code: 'open' } })
        }
      }
      const worker = thread
      worker.ref() // while an answer is awaited it keeps the process
      return new Promise((resolve) => {
        answer = resolve
        worker.postMessage(request)
      })
    },
    async close() {
      closed = true
      if (quiet) clearInterval(quiet)
      const worker = dropThread()
      if (worker) {
        worker.ref()
        const gone = new Promise((resolve) => worker.once('exit', resolve))
        worker.postMessage('close')
        await gone
      }
      here?.close()
    },
  }
}
