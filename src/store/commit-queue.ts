import { CorralError } from '../core/error.ts'
import type { LoggedEvent } from '../core/event.ts'
import type { Batch } from '../core/ports.ts'
import type { Pen } from './pen.ts'
import type { NewEventRow } from './statements.ts'
import type { WriterAnswer, WriterRequest } from './writing.ts'

interface CommitQueueDeps {
  pen: Pen
  /** Of the log, for its errors. */
  path: string
  head: number
  /** The last number that is in the log, read from it. */
  lastSeq(): number
  /** A commit failed; nobody has heard of it yet. */
  rolledBack(): void
}

interface Waiter {
  resolve(): void
  reject(error: CorralError): void
}

/** One commit is under way at a time; whatever is appended meanwhile gathers for the next one. */
export class CommitQueue {
  readonly #deps: CommitQueueDeps
  readonly #line: (() => Promise<void>)[] = []
  #busy = false
  #gathered: Batch = { events: [], writes: [] }
  #waiters: Waiter[] = []
  /** The last committed `seq`. */
  head: number

  constructor(deps: CommitQueueDeps) {
    this.#deps = deps
    this.head = deps.head
  }

  append(batch: Batch): Promise<void> {
    for (const event of batch.events) this.#gathered.events.push(event)
    for (const write of batch.writes) this.#gathered.writes.push(write)
    const first = this.#waiters.length === 0
    const committed = new Promise<void>((resolve, reject) => this.#waiters.push({ resolve, reject }))
    if (first) this.#enter(() => this.#commit())
    return committed
  }

  /** For what is no batch. */
  inLine(request: WriterRequest): Promise<WriterAnswer> {
    return new Promise((resolve) => this.#enter(() => this.#deps.pen.write(request).then(resolve)))
  }

  close(): Promise<void> {
    return this.#deps.pen.close()
  }

  /** Whoever wants the pen stands in line for it; what is appended meanwhile joins the batch that stands there already. */
  #enter(job: () => Promise<void>): void {
    this.#line.push(job)
    this.#serveNext()
  }

  #serveNext(): void {
    const job = this.#busy ? undefined : this.#line.shift()
    if (!job) return
    this.#busy = true
    void job().then(() => {
      this.#busy = false
      this.#serveNext()
    })
  }

  async #commit(): Promise<void> {
    await Promise.resolve() // whatever else this turn of the event loop appends is in the same batch
    const { events, writes } = this.#gathered
    const waiting = this.#waiters
    this.#startBatch()
    if (waiting.length === 0) return
    const { error } = await this.#deps.pen.write({ events: events.map(rowOf), writes })
    const last = events.at(-1)?.seq
    // A thread that died may have committed before it could say so.
    const committed =
      !error || (error.code === 'thread' && last !== undefined && this.#deps.lastSeq() >= last)
    if (!committed) return this.#fail(waiting, error.message)
    this.head = last ?? this.head
    for (const waiter of waiting) waiter.resolve()
  }

  /** What was gathered since stands on the failed batch: all of it is refused together. */
  #fail(failed: Waiter[], message: string): void {
    const { path, rolledBack } = this.#deps
    const refused = [...failed, ...this.#waiters]
    this.#startBatch()
    rolledBack()
    const error = new CorralError('storage', `The log cannot be written: ${message} (${path})`, { path })
    for (const waiter of refused) waiter.reject(error)
  }

  #startBatch(): void {
    this.#gathered = { events: [], writes: [] }
    this.#waiters = []
  }
}

function rowOf(logged: LoggedEvent): NewEventRow {
  const { event } = logged
  const message = event.type === 'message.delta' ? event.messageId : null
  return [event.seq, event.sessionId, event.turnId ?? null, event.type, event.at, logged.json, message]
}
