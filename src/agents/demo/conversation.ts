import type { Content } from '../../core/content.ts'
import { textOf } from '../../core/content.ts'
import type { Effort } from '../../core/effort.ts'
import type { Mode } from '../../core/mode.ts'
import { Inbox, type Prompt } from './inbox.ts'
import type { Memory } from './memory.ts'
import type { Output } from './output.ts'
import { compactScript, fallbackIn, limitsIn } from './pretence.ts'
import { DEFAULT_MODEL, DEMO_WINDOW, type DemoInput } from './protocol.ts'
import { aborted, Requests } from './requests.ts'
import type { Attachment, Utterance } from './script.ts'
import type { Stage } from './tour.ts'
import { type Ending, runTurn, type TurnNeeds } from './turn.ts'
import { usageOf } from './usage.ts'

export interface ConversationNeeds {
  output: Output
  /** Null: the conversation to go on with is lost, and every turn says so. */
  memory: Memory | null
  directory: string
  /** What it is to the tour; null: it was not made for it. */
  stage: Stage | null
  mode: Mode
  model: string
  clock: () => number
  /** Called once, when `finish` was asked for and nothing is left to do. */
  finished(): void
}

/** One conversation: prompts one at a time, in order, each turn id once. */
export class Conversation {
  readonly #needs: ConversationNeeds
  readonly #output: Output
  readonly #inbox: Inbox
  readonly #requests: Requests
  readonly #deaf = new AbortController()
  #system: string[] = []
  #tools: string[] = []
  #mode: Mode
  #effort: Effort | null = null
  /** The model that was chosen, and the one that it has said it uses since. */
  #model: string
  #told: string | null
  #running: AbortController | null = null
  #finishing = false
  /** What has been said in this conversation, as far as this process knows. */
  #chars = 0

  constructor(needs: ConversationNeeds) {
    this.#needs = needs
    this.#output = needs.output
    this.#inbox = new Inbox(needs.output)
    this.#requests = new Requests(needs.output)
    this.#mode = needs.mode
    this.#model = this.#told = needs.model
  }

  receive(line: DemoInput): void {
    if (line.type === 'prompt') this.#inbox.prompt(line)
    else if (line.type === 'steer') this.#inbox.steer(line)
    else if (line.type === 'retract') this.#inbox.retract(line.steerId)
    else if (line.type === 'decision' || line.type === 'result') this.#requests.answer(line)
    else if (line.type === 'interrupt') this.interrupt()
    else if (line.type === 'mode') this.#mode = line.mode
    else if (line.type === 'settings')
      [this.#system, this.#tools, this.#effort] = [line.system, line.tools, line.effort]
    else if (line.type === 'effort') this.#effort = line.effort
    else if (line.type === 'barrier') this.#output.emit({ type: 'barrier', id: line.id })
    else if (line.type === 'model') [this.#model, this.#told] = [line.model ?? DEFAULT_MODEL, null]
    else if (line.type === 'end') this.finish(false)
    if ((line.type === 'prompt' || line.type === 'steer') && !this.#running) void this.#work()
  }

  interrupt(): void {
    this.#running?.abort()
  }

  /** Comes to an end once idle. `deaf`: nothing can be heard any more, so open questions end too. */
  finish(deaf: boolean): void {
    const first = !this.#finishing
    this.#finishing = true
    if (deaf) this.#deaf.abort()
    if (!this.#running && first) this.#needs.finished()
  }

  async #work(): Promise<void> {
    for (let prompt = this.#inbox.next(); prompt; prompt = this.#inbox.next()) {
      this.#running = new AbortController()
      await this.#turn(prompt, this.#running.signal)
    }
    this.#running = null
    if (this.#finishing) this.#needs.finished()
  }

  async #turn({ turnId, input }: Prompt, signal: AbortSignal): Promise<void> {
    const { memory, clock } = this.#needs
    const startedAt = clock()
    const text = textOf(input)
    memory?.add(turnId, text, attachmentsOf(input))
    this.#useModel(fallbackIn(text) ?? this.#model)
    const windows = limitsIn(text, Date.now())
    if (windows.length > 0) this.#output.emit({ type: 'limits', windows })
    const script = compactScript(text)
    const play = (words: string) => (memory ? runTurn(this.#turnNeeds(memory, turnId, signal), words) : LOST)
    const ending = script === null ? await play(text) : await this.#compact(() => play(script))
    this.#chars += text.length + ending.chars
    this.#tellContext()
    const { outcome, error } = ending
    const usage = usageOf(text, ending.chars, ending.modelCalls, Math.round(clock() - startedAt))
    this.#output.emit({ type: 'end-of-turn', turnId, outcome, error, usage })
  }

  /** A conversation that hardly takes any room is not worth a word. */
  #tellContext(): void {
    const used = Math.ceil(this.#chars / 4)
    if (used >= DEMO_WINDOW / 100) this.#output.emit({ type: 'context', used, window: DEMO_WINDOW })
  }

  #useModel(used: string): void {
    if (used !== this.#told) this.#output.emit({ type: 'model', model: used })
    this.#told = used
  }

  async #compact(sum: () => Ending | Promise<Ending>): Promise<Ending> {
    const before = Math.ceil(this.#chars / 4)
    this.#output.emit({ type: 'compacting', tokens: before })
    const ending = await sum()
    const done = ending.outcome === 'completed'
    if (done) this.#chars = 0
    const error = done ? null : (ending.error?.message ?? ending.outcome)
    const after = done ? Math.ceil(ending.chars / 4) : before
    this.#output.emit({ type: 'compacted', before, after, error })
    return ending
  }

  #turnNeeds(memory: Memory, turnId: string, signal: AbortSignal): TurnNeeds {
    const over = AbortSignal.any([signal, this.#deaf.signal])
    return {
      output: this.#output,
      signal,
      mode: () => this.#mode,
      steered: () => this.#takeSteers(memory, turnId),
      facts: () => ({
        system: this.#system,
        effort: this.#effort,
        remembered: memory.remembered,
        attachments: memory.attachments,
        directory: this.#needs.directory,
        stage: this.#needs.stage,
      }),
      offered: (tool) => this.#tools.includes(tool),
      ask: (request) => this.#requests.ask(request, over),
      call: (request) => this.#requests.ask(request, over),
      forever: () => aborted(over),
    }
  }

  /** Between two rounds of a turn. */
  #takeSteers(memory: Memory, turnId: string): Utterance[] {
    return this.#inbox.takeSteers().map(({ input }) => {
      memory.add(turnId, textOf(input), attachmentsOf(input))
      return { by: 'user', text: textOf(input) }
    })
  }
}

const LOST: Ending = {
  outcome: 'failed',
  error: { code: 'conversation_lost', message: 'The demo agent has no conversation of this id' },
  modelCalls: 0,
  chars: 0,
}

function attachmentsOf(input: Content[]): Attachment[] {
  return input
    .filter((part) => part.type !== 'text')
    .map((part) => ({ mediaType: part.mediaType, bytes: Buffer.from(part.data, 'base64').length }))
}
