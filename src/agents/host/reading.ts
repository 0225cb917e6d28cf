import type { JournalPosition, RunRow } from '../../core/ports.ts'
import type { Session } from '../../core/session.ts'
import type { Failure } from '../../core/turn.ts'
import type { AgentDriver } from '../agent.ts'
import type { DriverOutput } from '../output.ts'
import { notice } from '../step.ts'
import type { Journal } from './journal.ts'

/** Lines that are no protocol are mentioned this often per turn; after that they are passed over in silence. */
const MENTIONED = 3

type Position = Omit<JournalPosition, 'runId'>

interface ReadingHooks {
  barrier(id: string): void
  ready(problem: Failure | null): void
  ended(): void
}

/** An agent's journal through its translator: outputs, and the position that belongs to them. */
export class Reading {
  readonly #journal: Journal
  readonly #driver: AgentDriver
  readonly #session: () => Session | null
  readonly #hooks: ReadingHooks
  readonly #arrived = new Set<string>()
  #state: unknown
  #turnOffset: number
  #acceptedTurn: string | null = null
  #inTurn = false
  /** Its conversation is open. */
  #isOpen: boolean
  #refused = false
  #garbage = 0

  constructor(journal: Journal, driver: AgentDriver, session: () => Session | null, hooks: ReadingHooks) {
    this.#journal = journal
    this.#driver = driver
    this.#session = session
    this.#hooks = hooks
    this.#state = this.#begin()
    this.#turnOffset = journal.offset
    this.#isOpen = !driver.handshake
  }

  get acceptedTurn(): string | null {
    return this.#acceptedTurn
  }

  /** What the translator carries from line to line. */
  get state(): unknown {
    return this.#state
  }

  /** It has a message and has not finished with it. */
  get inTurn(): boolean {
    return this.#inTurn
  }

  get refused(): boolean {
    return this.#refused
  }

  /** Whether the agent has read this steer, in the turn that runs. */
  arrived(steerId: string): boolean {
    return this.#arrived.has(steerId)
  }

  next(): { outputs: DriverOutput[]; position: Position } | null {
    const page = this.#journal.read()
    if (!page) return null
    const outputs = page.lines.flatMap(({ text, end }) => this.#translate(text, end))
    if (outputs.length === 0 && this.#isForOthers()) this.#turnOffset = page.offset
    return { outputs, position: { offset: page.offset, turnOffset: this.#turnOffset } }
  }

  /** Brings translator and position back to what is committed, without saying anything twice. */
  rewind(committed: RunRow): void {
    this.#state = this.#begin()
    this.#arrived.clear()
    // A journal shorter than its committed position was emptied just before a crash.
    const emptied = this.#journal.size() < committed.offset
    const { offset, turnOffset } = emptied ? { offset: 0, turnOffset: 0 } : committed
    this.#turnOffset = turnOffset
    this.#journal.seek(turnOffset)
    while (this.#journal.offset < offset) {
      const page = this.#journal.read()
      if (!page) return
      for (const { text, end } of page.lines) {
        // Pages are read by size, so the last one may reach past the committed byte.
        if (end > offset) return this.#journal.seek(offset)
        this.#translate(text, end)
      }
    }
  }

  /** Empties the journal; the new position must be committed before the agent is asked anything. */
  empty(): Position {
    this.#journal.truncate()
    this.#turnOffset = 0
    return { offset: 0, turnOffset: 0 }
  }

  /** A session that is gone has nothing to say, whatever its agent says. */
  #begin(): unknown {
    const now = this.#session()
    return now && this.#driver.translator.initial(now)
  }

  #translate(text: string | null, end: number): DriverOutput[] {
    const parsed = parse(text)
    if (parsed === undefined) return this.#garbage++ < MENTIONED ? [strange(text)] : []
    const outputs = this.#step(parsed)
    for (const output of outputs) this.#heed(output, end)
    return outputs
  }

  /** A translator that stumbles over a line costs that line, not the daemon. */
  #step(line: unknown): DriverOutput[] {
    try {
      const { state, outputs } = this.#driver.translator.step(this.#state, line)
      this.#state = state
      return outputs
    } catch (error) {
      const message = `A line of the agent could not be understood: ${String(error)}`
      return [notice('agent_output', message)]
    }
  }

  /** What the host itself has to know. `end`: the byte after the line that says it. */
  #heed(output: DriverOutput, end: number): void {
    if (output.type === 'turn.accepted') this.#accept(output.turnId)
    else if (output.type === 'turn.begun') this.#accept(this.#session()?.turn?.id ?? null)
    else if (output.type === 'barrier.reached') this.#hooks.barrier(output.id)
    else if (output.type === 'agent.ready') {
      this.#isOpen = output.problem === null
      this.#hooks.ready(output.problem)
    } else if (output.type === 'agent.notice') this.#refused ||= output.code === 'claim_failed'
    else if (output.type === 'steer.arrived' || output.type === 'steer.taken')
      this.#arrived.add(output.steerId)
    else if (output.type === 'turn.ended') {
      this.#arrived.clear()
      this.#turnOffset = end
      this.#garbage = 0
      this.#inTurn = false
      this.#hooks.ended()
    }
  }

  #accept(turnId: string | null): void {
    this.#acceptedTurn = turnId
    this.#inTurn = turnId !== null
  }

  /** What is said in a shared process while the session rests need not be read again: it may be a lot. */
  #isForOthers(): boolean {
    return (
      this.#driver.shared !== undefined && this.#isOpen && !this.#inTurn && this.#session()?.turn === null
    )
  }
}

function parse(text: string | null): unknown {
  if (text === null) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function strange(text: string | null): DriverOutput {
  const message =
    text === null
      ? 'The agent wrote a line that is too long to be read; it was passed over'
      : 'The agent wrote something that is not its protocol'
  return notice('agent_output', message, { start: text?.slice(0, 200) ?? '' })
}
