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

/** An agent's journal through its translator: outputs, and the position that belongs to them. */
export interface Reading {
  next(): { outputs: DriverOutput[]; position: Position } | null
  /** Brings translator and position back to what is committed, without saying anything twice. */
  rewind(committed: RunRow): void
  /** Empties the journal; the new position must be committed before the agent is asked anything. */
  empty(): Position
  readonly acceptedTurn: string | null
  /** What the translator carries from line to line. */
  readonly state: unknown
  /** Whether the agent has read this steer, in the turn that runs. */
  arrived(steerId: string): boolean
  /** It has a message and has not finished with it. */
  readonly inTurn: boolean
  readonly refused: boolean
}

export interface Heard {
  barrier(id: string): void
  ready(problem: Failure | null): void
  ended(): void
}

export function createReading(
  journal: Journal,
  driver: AgentDriver,
  session: () => Session | null,
  heard: Heard,
): Reading {
  const { translator } = driver
  let state = begin()
  let turnOffset = journal.offset
  let acceptedTurn: string | null = null
  const arrived = new Set<string>()
  let inTurn = false
  /** Its conversation is open. */
  let isOpen = !driver.handshake
  let refused = false
  let garbage = 0

  /** A session that is gone has nothing to say, whatever its agent says. */
  function begin(): unknown {
    const now = session()
    return now && translator.initial(now)
  }

  function accept(turnId: string | null): void {
    acceptedTurn = turnId
    inTurn = turnId !== null
  }

  function translate(text: string | null, end: number): DriverOutput[] {
    const parsed = parse(text)
    if (parsed === undefined) return garbage++ < MENTIONED ? [strange(text)] : []
    const outputs = step(parsed)
    for (const output of outputs) {
      if (output.type === 'turn.accepted') accept(output.turnId)
      else if (output.type === 'turn.begun') accept(session()?.turn?.id ?? null)
      else if (output.type === 'barrier.reached') heard.barrier(output.id)
      else if (output.type === 'agent.ready') {
        isOpen = output.problem === null
        heard.ready(output.problem)
      } else if (output.type === 'agent.notice') refused ||= output.code === 'claim_failed'
      else if (output.type === 'steer.arrived' || output.type === 'steer.taken') arrived.add(output.steerId)
      else if (output.type === 'turn.ended') {
        arrived.clear()
        turnOffset = end
        garbage = 0
        inTurn = false
        heard.ended()
      }
    }
    return outputs
  }

  /** A translator that stumbles over a line costs that line, not the daemon. */
  function step(line: unknown): DriverOutput[] {
    try {
      const result = translator.step(state, line)
      state = result.state
      return result.outputs
    } catch (error) {
      const message = `A line of the agent could not be understood: ${String(error)}`
      return [notice('agent_output', message)]
    }
  }

  /** What is said in a shared process while the session rests need not be read again: it may be a lot. */
  function isForOthers(): boolean {
    return driver.shared !== undefined && isOpen && !inTurn && session()?.turn === null
  }

  return {
    get acceptedTurn() {
      return acceptedTurn
    },
    get state() {
      return state
    },
    arrived: (steerId) => arrived.has(steerId),
    get inTurn() {
      return inTurn
    },
    get refused() {
      return refused
    },
    next() {
      const page = journal.read()
      if (!page) return null
      const outputs = page.lines.flatMap(({ text, end }) => translate(text, end))
      if (outputs.length === 0 && isForOthers()) turnOffset = page.offset
      return { outputs, position: { offset: page.offset, turnOffset } }
    },
    rewind(committed) {
      state = begin()
      arrived.clear()
      // A journal shorter than its committed position was emptied just before a crash.
      const emptied = journal.size() < committed.offset
      const { offset, turnOffset: from } = emptied ? { offset: 0, turnOffset: 0 } : committed
      turnOffset = from
      journal.seek(from)
      while (journal.offset < offset) {
        const page = journal.read()
        if (!page) return
        for (const { text, end } of page.lines) {
          // Pages are read by size, so the last one may reach past the committed byte.
          if (end > offset) return journal.seek(offset)
          translate(text, end)
        }
      }
    },
    empty() {
      journal.truncate()
      turnOffset = 0
      return { offset: 0, turnOffset: 0 }
    },
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
  const data = { start: text?.slice(0, 200) ?? '' }
  return notice('agent_output', message, data)
}
