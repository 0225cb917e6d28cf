import type { Output } from './output.ts'
import type { DemoInput } from './protocol.ts'

export type Prompt = Extract<DemoInput, { type: 'prompt' }>
type Steer = Extract<DemoInput, { type: 'steer' }>

const MAX_SEEN = 10_000

/** Messages that wait: prompts in order, each once, and steers, which become part of a turn or are the next one. */
export class Inbox {
  readonly #output: Output
  readonly #seen = new Set<string>()
  readonly #prompts: Prompt[] = []
  readonly #steers: Steer[] = []

  constructor(output: Output) {
    this.#output = output
  }

  prompt(prompt: Prompt): void {
    this.#output.emit({ type: 'accepted', turnId: prompt.turnId })
    if (this.#isNew(prompt.turnId)) this.#prompts.push(prompt)
  }

  steer(steer: Steer): void {
    this.#output.emit({ type: 'steer-read', steerId: steer.steerId })
    if (this.#isNew(steer.steerId)) this.#steers.push(steer)
  }

  retract(id: string): void {
    const at = this.#steers.findIndex(({ steerId }) => steerId === id)
    if (at >= 0) this.#steers.splice(at, 1)
  }

  /** The steers that become part of the running turn. */
  takeSteers(): Steer[] {
    const taken = this.#steers.splice(0)
    for (const { steerId } of taken) this.#output.emit({ type: 'steer-taken', steerId })
    return taken
  }

  /** The next turn. What came too late for one turn is the next. */
  next(): Prompt | undefined {
    const late = this.#steers.shift()
    if (!late) return this.#prompts.shift()
    this.#output.emit({ type: 'accepted', turnId: late.steerId })
    return { type: 'prompt', turnId: late.steerId, input: late.input }
  }

  #isNew(id: string): boolean {
    if (this.#seen.has(id)) return false
    this.#seen.add(id)
    if (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.values().next().value!)
    return true
  }
}
