import {
  closeSync,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  truncateSync,
  watch,
} from 'node:fs'
import type { FSWatcher } from 'node:fs'
import type { AgentOutput } from '../../core/event.ts'
import type { AgentSink, ExitInfo, RunRow } from '../../core/ports.ts'
import type { AgentDriver } from '../agent.ts'
import { openFifo, type FifoWriter } from './fifo.ts'
import { openJournal, type Journal } from './journal.ts'
import { BOOT_ID, signalGroup, startTime } from './process.ts'
import { runFiles } from './wrapper.ts'

const MAX_LINE = 64 * 1024 * 1024
const STDERR_TAIL = 4096
/** A journal above this is emptied when its agent is idle. */
const TRUNCATE_ABOVE = 1024 * 1024
/** Commits under way before reading on waits: the journal is the buffer, memory is not. */
const MAX_IN_FLIGHT = 4
/** How often a process is looked at although nothing has stirred. */
const POLL_MS = 500
const RETRY_MS = 1000

export interface RunDeps {
  row: RunRow
  dir: string
  driver: AgentDriver
  sink: AgentSink
  /** The committed row, to start over from when a commit failed. */
  committed: (runId: string) => RunRow | null
  onOutput: (outputs: AgentOutput[]) => void
  /** The process is gone and everything it said is in the log. */
  onExit: () => void
  warn: (message: string, error: unknown) => void
}

/** One agent process: its journal on the way in, its FIFO on the way out. */
export interface Run {
  readonly id: string
  readonly sessionId: string
  readonly pid: number
  readonly driver: AgentDriver
  /** The agent's own name for what it is talking about: never in two processes at once. */
  conversation: string | null
  /** When it was last asked to do something. */
  usedAt: number
  busy: boolean
  ending: boolean
  /** A spare that did not become this session's process. */
  readonly refused: boolean
  /** The last turn whose message the agent has confirmed. */
  readonly acceptedTurn: string | null
  readonly gone: Promise<void>
  alive(): boolean
  /** Looks whether the process is still there. */
  check(): void
  /** Starts following the journal; resolves when all that is in it now has been committed. */
  follow(): Promise<void>
  write(lines: string[]): Promise<void>
  /** Resolves true once everything written before has been read by the agent, false when it is gone. */
  barrier(id: string): Promise<boolean>
  /** Before the next turn of an idle agent: keeps its files small. */
  tidy(): Promise<void>
  signal(signal: NodeJS.Signals): void
  /** Stops following without touching the process. */
  detach(): void
}

export function createRun(deps: RunDeps): Run {
  const { row, dir, driver, sink, warn } = deps
  const files = runFiles(dir)
  const journal: Journal = openJournal(files.journal, row.turnOffset, MAX_LINE)
  const fifo: FifoWriter = openFifo(files.input)
  const barriers = new Map<string, (reached: boolean) => void>()
  let state = driver.translator.initial()
  let turnOffset = row.turnOffset
  let acceptedTurn: string | null = null
  let refused = false
  let inFlight = 0
  const whenQuiet: (() => void)[] = []
  let failed = false
  let over = false
  let finished = false
  let detached = false
  let garbage = 0
  let pumping = false
  let watcher: FSWatcher | null = null
  let poll: NodeJS.Timeout | null = null
  let gone!: () => void
  const goneSignal = new Promise<void>((resolve) => (gone = resolve))

  function translate(text: string | null, end: number): AgentOutput[] {
    const parsed = parse(text)
    if (parsed === undefined) return garbage++ < 3 ? [notJson(text)] : []
    const step = driver.translator.step(state, parsed)
    state = step.state
    for (const output of step.outputs) {
      if (output.type === 'turn.accepted') acceptedTurn = output.turnId
      else if (output.type === 'turn.ended') {
        turnOffset = end
        garbage = 0
      } else if (output.type === 'agent.notice') refused ||= output.code === 'claim_failed'
      else if (output.type === 'barrier.reached') settleBarrier(output.id, true)
    }
    return step.outputs
  }

  function settleBarrier(id: string, reached: boolean): void {
    barriers.get(id)?.(reached)
    barriers.delete(id)
  }

  /** Brings translator and position back to what is committed, without saying anything twice. */
  function rewind(committed: RunRow): void {
    state = driver.translator.initial()
    // A journal shorter than its committed position was emptied just before a crash.
    const emptied = journal.size() < committed.offset
    const { offset, turnOffset: from } = emptied ? { offset: 0, turnOffset: 0 } : committed
    turnOffset = from
    journal.seek(from)
    while (journal.offset < offset) {
      const page = journal.read()
      if (!page) break
      for (const { text, end } of page.lines) {
        // Pages are read by size, so the last one may reach past the committed byte.
        if (end > offset) {
          journal.seek(offset)
          return
        }
        translate(text, end)
      }
    }
  }

  function ingest(): boolean {
    const page = journal.read()
    if (!page) return false
    const outputs = page.lines.flatMap(({ text, end }) => translate(text, end))
    inFlight++
    const position = { runId: row.id, offset: page.offset, turnOffset }
    sink
      .output(row.sessionId, position, outputs)
      .then(() => deps.onOutput(outputs))
      .catch((error: unknown) => {
        failed = true
        warn(`reading agent ${row.pid}`, error)
      })
      .finally(() => {
        inFlight--
        if (failed && inFlight === 0) setTimeout(startOver, RETRY_MS)
        else if (!failed) pump()
      })
    return true
  }

  /** The log could not be written: nothing is lost, the journal has it. */
  function startOver(): void {
    if (detached) return
    const committed = deps.committed(row.id)
    failed = false
    if (committed) rewind(committed)
    pump()
  }

  function pump(): void {
    if (pumping || detached || failed || finished) return
    pumping = true
    try {
      while (inFlight < MAX_IN_FLIGHT && ingest());
    } finally {
      pumping = false
    }
    if (inFlight > 0) return
    for (const resolve of whenQuiet.splice(0)) resolve()
    if (over) finish()
  }

  /** Also finds out whether the process is still there, which costs more than reading. */
  function check(): void {
    over ||= existsSync(files.exit) || !alive()
    pump()
  }

  function alive(): boolean {
    return startTime(row.pid) === row.startTime && row.bootId === BOOT_ID
  }

  /** The end: all of the journal has been read; what is left of the group goes, and the exit is told. */
  function finish(): void {
    if (finished || detached || failed) return
    finished = true
    signalGroup(row.pid, 'SIGKILL')
    void reportExit()
  }

  async function reportExit(): Promise<void> {
    for (let tries = 0; alive() && tries < 200; tries++)
      await new Promise((resolve) => setTimeout(resolve, 5))
    const exit: ExitInfo = { ...readExit(files.exit), stderr: tail(files.errors), expected: run.ending }
    while (!detached) {
      try {
        await sink.exited(row.sessionId, row.id, exit)
        break
      } catch (error) {
        warn(`noting the exit of agent ${row.pid}`, error)
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS))
      }
    }
    if (detached) return
    run.detach()
    rmSync(dir, { recursive: true, force: true })
    deps.onExit()
    gone()
  }

  const run: Run = {
    id: row.id,
    sessionId: row.sessionId,
    pid: row.pid,
    driver,
    conversation: null,
    usedAt: Date.now(),
    busy: false,
    ending: false,
    get refused() {
      return refused
    },
    get acceptedTurn() {
      return acceptedTurn
    },
    gone: goneSignal,
    alive,
    async follow() {
      rewind(row)
      watcher = watch(dir, (_, file) => (file === 'exit' ? check() : pump()))
      watcher.on('error', (error) => warn(`watching agent ${row.pid}`, error))
      poll = setInterval(check, POLL_MS)
      const quiet = new Promise<void>((resolve) => whenQuiet.push(resolve))
      check()
      await quiet
    },
    check,
    write: (lines) => fifo.write(lines),
    barrier(id) {
      return new Promise((resolve) => {
        barriers.set(id, resolve)
        // A line that was cut off by a crash is ended first; the agent may not survive it, and then starts anew.
        fifo.write(['', ...driver.barrier(id)]).catch(() => settleBarrier(id, false))
        void goneSignal.then(() => settleBarrier(id, false))
      })
    },
    async tidy() {
      if (fileSize(files.errors) > TRUNCATE_ABOVE) truncateSync(files.errors)
      const size = journal.size()
      if (size <= TRUNCATE_ABOVE || inFlight > 0 || journal.offset !== size) return
      journal.truncate()
      turnOffset = 0
      await sink.output(row.sessionId, { runId: row.id, offset: 0, turnOffset: 0 }, [])
    },
    signal: (signal) => void signalGroup(row.pid, signal),
    detach() {
      if (detached) return
      detached = true
      watcher?.close()
      if (poll) clearInterval(poll)
      fifo.close()
      journal.close()
    },
  }
  return run
}

function parse(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function notJson(text: string | null): AgentOutput {
  const message =
    text === null
      ? `The agent wrote a line of more than ${MAX_LINE / 1024 / 1024} MiB; it was passed over`
      : 'The agent wrote something that is not its protocol'
  return {
    type: 'agent.notice',
    level: 'warning',
    code: 'agent_output',
    message,
    data: { start: text?.slice(0, 200) ?? '' },
  }
}

function readExit(path: string): { code: number | null; signal: string | null } {
  try {
    const code = Number.parseInt(readFileSync(path, 'utf8'), 10)
    if (Number.isNaN(code)) return { code: null, signal: null }
    return { code, signal: SIGNALS[code - 128] ?? null }
  } catch {
    return { code: null, signal: 'SIGKILL' }
  }
}

/** A shell reports death by signal n as 128 + n. */
const SIGNALS: Record<number, string> = {
  1: 'SIGHUP',
  2: 'SIGINT',
  6: 'SIGABRT',
  9: 'SIGKILL',
  11: 'SIGSEGV',
  15: 'SIGTERM',
}

function tail(path: string): string {
  try {
    const fd = openSync(path, 'r')
    try {
      const { size } = fstatSync(fd)
      const buffer = Buffer.alloc(Math.min(size, STDERR_TAIL))
      readSync(fd, buffer, 0, buffer.length, size - buffer.length)
      return buffer.toString('utf8')
    } finally {
      closeSync(fd)
    }
  } catch {
    return ''
  }
}

function fileSize(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
