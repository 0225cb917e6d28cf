import { getAsset, isSea } from 'node:sea'
import { Worker, type WorkerOptions } from 'node:worker_threads'
import { openForWriting, type Writing, type WriterAnswer, type WriterRequest } from './writing.ts'

const CHECKPOINT_PAGES = 2000
/** Rows within a second that are worth a thread of their own; below that the way there and back costs more than it saves. */
const BUSY_ROWS = 1000
const QUIET_MS = 30_000
/** So many characters take as long to write as a row. */
const ROW_CHARS = 16 * 1024
/** What has more than this never holds up the event loop: it waits for the thread. */
const LARGE_CHARS = 1024 ** 2

/** The one thing that writes to the log. One request at a time. */
export interface Pen {
  write(request: WriterRequest): Promise<WriterAnswer>
  close(): Promise<void>
}

/**
 * Under load a thread holds the pen: checkpoints then never stall the event loop. A log at rest needs no thread, and a thread
 * costs some 13 MB: the first commits after a quiet time are made right here, while the thread starts, unless they are large.
 */
export function createPen(path: string, warn: (message: string) => void): Pen {
  let here: Writing | null = null
  let thread: WriterThread | null = null
  let closed = false
  let recent = 0
  let second = 0
  let quiet: NodeJS.Timeout | null = null

  /** Counts rows by the second, and lets the thread go when there have been none for a while. */
  function noteActivity(rows: number): void {
    const now = Math.floor(performance.now() / 1000)
    recent = now === second ? recent + rows : rows
    second = now
    if (thread?.dead) thread = null
    if (!thread && recent >= BUSY_ROWS) thread = new WriterThread(path, warn)
    if (!thread) return
    quiet ??= setInterval(() => {
      if (thread?.busy || performance.now() / 1000 - second < QUIET_MS / 1000) return
      clearInterval(quiet!)
      quiet = null
      thread?.letGo()
      thread = null
    }, QUIET_MS / 4).unref()
  }

  function writeHere(request: WriterRequest): WriterAnswer {
    try {
      here ??= openForWriting(path, 2 * CHECKPOINT_PAGES)
      return here.serve(request)
    } catch (error) {
      return { error: { message: (error as Error).message, code: 'open' } }
    }
  }

  return {
    write(request) {
      if (closed) return Promise.resolve({ error: { message: 'the log is closed', code: 'closed' } })
      const chars = charsIn(request)
      const rows = 'events' in request ? request.events.length + request.writes.length : 1
      noteActivity(chars > LARGE_CHARS ? BUSY_ROWS : rows + Math.floor(chars / ROW_CHARS))
      if (thread?.ready) return thread.write(request)
      if (!thread || chars <= LARGE_CHARS) return Promise.resolve(writeHere(request))
      const starting = thread
      return starting.started.then((isReady) => (isReady ? starting.write(request) : writeHere(request)))
    },
    async close() {
      closed = true
      if (quiet) clearInterval(quiet)
      if (thread && !thread.dead) await thread.close()
      here?.close()
    },
  }
}

function charsIn(request: WriterRequest): number {
  return 'events' in request ? request.events.reduce((sum, row) => sum + row[5].length, 0) : 0
}

/** Its program lies beside this file, or inside of the single executable. */
function startWriter(options: WorkerOptions): Worker {
  if (isSea()) return new Worker(getAsset('writer.js', 'utf8'), { ...options, eval: true })
  const file = import.meta.url.endsWith('.ts') ? './writer.ts' : './writer.js'
  return new Worker(new URL(file, import.meta.url), options)
}

class WriterThread {
  readonly #worker: Worker
  #answer: ((answer: WriterAnswer) => void) | null = null
  /** Whether it has become ready; false: it died before. */
  readonly started: Promise<boolean>
  ready = false
  dead = false

  constructor(path: string, warn: (message: string) => void) {
    const worker = startWriter({
      workerData: { path, checkpointPages: CHECKPOINT_PAGES },
      resourceLimits: { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 512 },
    })
    const { promise: started, resolve: hasStarted } = Promise.withResolvers<boolean>()
    this.started = started
    worker.on('message', (message: WriterAnswer | 'ready') => {
      if (message !== 'ready') return this.#settle(message)
      this.ready = true
      hasStarted(true)
    })
    worker.on('exit', () => hasStarted(false))
    worker.on('error', (error) => {
      this.dead = true
      warn(`the log's writing thread died: ${error.message}`)
      this.#settle({ error: { message: error.message, code: 'thread' } })
    })
    worker.unref()
    this.#worker = worker
  }

  get busy(): boolean {
    return this.#answer !== null
  }

  write(request: WriterRequest): Promise<WriterAnswer> {
    this.#worker.ref() // while an answer is awaited it keeps the process
    return new Promise((resolve) => {
      this.#answer = resolve
      this.#worker.postMessage(request)
    })
  }

  /** It ends by itself; nobody waits for it. */
  letGo(): void {
    this.#worker.postMessage('close')
  }

  async close(): Promise<void> {
    this.#worker.ref()
    const gone = new Promise((resolve) => this.#worker.once('exit', resolve))
    this.letGo()
    await gone
  }

  #settle(message: WriterAnswer): void {
    const waiting = this.#answer
    this.#answer = null
    this.#worker.unref()
    waiting?.(message)
  }
}
