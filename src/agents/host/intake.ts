import { CorralError } from '../../core/error.ts'
import type { AgentOutput } from '../../core/event.ts'
import type { AgentSink, RunRow } from '../../core/ports.ts'
import { isForEngine } from '../output.ts'
import type { Reading } from './reading.ts'

/** What says nothing is read again after a restart, if it is not more than this. */
const SILENT_BYTES = 256 * 1024
/** Commits under way before reading on waits: the journal is the buffer, memory is not. */
const MAX_IN_FLIGHT = 4
const RETRY_MS = 1000

export interface IntakeDeps {
  row: RunRow
  sink: AgentSink
  /** The committed row, to start over from when a commit failed. */
  committed: (runId: string) => RunRow | null
  /** Its protocol wants an answer; told before what was read is committed, so after a crash it may be told again. */
  onRequest: (request: unknown) => void
  /** What it said has been committed. */
  onOutput: (outputs: AgentOutput[]) => void
  warn: (message: string, error: unknown) => void
}

interface IntakeHooks {
  /** Nothing is to be read any more. */
  stopped: () => boolean
  /** All that is in the journal now has been committed. */
  drained: () => void
}

/** Brings what an agent says from its journal to the log: read, translated and committed page by page. */
export class Intake {
  readonly #deps: IntakeDeps
  readonly #hooks: IntakeHooks
  readonly #reading: Reading
  readonly #whenQuiet: (() => void)[] = []
  #committed: number
  #inFlight = 0
  #failed = false
  #scheduled = false

  constructor(deps: IntakeDeps, reading: Reading, hooks: IntakeHooks) {
    this.#deps = deps
    this.#reading = reading
    this.#hooks = hooks
    this.#committed = deps.row.offset
  }

  /** Something is being committed. */
  get committing(): boolean {
    return this.#inFlight > 0
  }

  /** Resolves when all that is in the journal has been committed, the next time that this is so. */
  quiet(): Promise<void> {
    return new Promise((resolve) => this.#whenQuiet.push(resolve))
  }

  pump(): void {
    if (this.#hooks.stopped() || this.#failed) return
    while (this.#inFlight < MAX_IN_FLIGHT && this.#ingest());
    if (this.#inFlight > 0) return
    for (const resolve of this.#whenQuiet.splice(0)) resolve()
    this.#hooks.drained()
  }

  #ingest(): boolean {
    const page = this.#reading.next()
    if (!page) return false
    const { row, sink, onRequest, onOutput, warn } = this.#deps
    // What says nothing is hardly worth a commit: read again after a crash, it says nothing again.
    if (page.outputs.length === 0 && page.position.offset - this.#committed < SILENT_BYTES) return true
    this.#committed = page.position.offset
    for (const output of page.outputs) if (output.type === 'agent.request') onRequest(output.request)
    const outputs = page.outputs.filter(isForEngine)
    this.#inFlight++
    sink
      .output(row.sessionId, { runId: row.id, ...page.position }, outputs)
      .then(() => onOutput(outputs))
      .catch((error: unknown) => {
        // What the log cannot take now it takes later; anything else would fail again in the same way.
        this.#failed ||= error instanceof CorralError && error.code === 'storage'
        warn(`reading agent ${row.pid}`, error)
      })
      .finally(() => {
        this.#inFlight--
        if (!this.#failed) this.#soon()
        else if (this.#inFlight === 0) setTimeout(() => this.#startOver(), RETRY_MS)
      })
    return true
  }

  /** The log could not be written: nothing is lost, the journal has it. */
  #startOver(): void {
    if (this.#hooks.stopped()) return
    const committed = this.#deps.committed(this.#deps.row.id)
    this.#failed = false
    if (committed) this.#reading.rewind(committed)
    this.pump()
  }

  /** In a turn of the event loop of its own, so that others get theirs and a failure is known before more is read. */
  #soon(): void {
    if (this.#scheduled) return
    this.#scheduled = true
    setImmediate(() => {
      this.#scheduled = false
      this.pump()
    })
  }
}
