import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Mode } from '../../core/mode.ts'
import type { Failure } from '../../core/turn.ts'
import type { Output } from './output.ts'
import type { DemoDecision, DemoOutput, DemoResult, MessageKind, Outcome, Teller } from './protocol.ts'
import { perform } from './real-tools.ts'
import { type Call, type Facts, planOf, type Utterance, type Action, wordsUpTo } from './script.ts'
import {
  needsApproval,
  pretend,
  summaryOf,
  taskOf,
  type ToolCall,
  toolCallOf,
  type ToolResult,
} from './tools.ts'
import { usageOf } from './usage.ts'

export interface TurnNeeds {
  output: Output
  /** Aborts when the turn is interrupted. */
  signal: AbortSignal
  facts(): Facts
  /** What the user has said since the last round. */
  steered(): Utterance[]
  mode(): Mode
  /** Rejects when `signal` aborts or nobody is left to answer. */
  ask(request: Extract<DemoOutput, { type: 'ask' }>): Promise<DemoDecision>
  /** Whether this tool is the client's. */
  offered(tool: string): boolean
  /** Has the client carry out a tool; rejects as `ask` does. */
  call(request: Extract<DemoOutput, { type: 'call' }>): Promise<DemoResult>
  /** Never resolves; rejects as `ask` does. */
  forever(): Promise<never>
}

export interface Ending {
  outcome: Outcome
  error: Failure | null
  modelCalls: number
  /** Characters said and thought. */
  chars: number
}

class ModelFailure extends Error {
  readonly status: number

  constructor(status: number) {
    super(`The model answered with status ${status} (scripted)`)
    this.status = status
  }
}

class TooManyRounds extends Error {}

const MAX_ROUNDS = 100
const CHUNK_BYTES = 64 * 1024

/** Plays what a prompt asks for, tool results and what they ask for included. Says all of it but the end. */
export async function runTurn(needs: TurnNeeds, prompt: string): Promise<Ending> {
  const player = new Player(needs)
  const end = (outcome: Outcome, modelCalls: number, error: Failure | null = null): Ending => {
    return { outcome, error, modelCalls, chars: player.chars }
  }
  try {
    await player.rounds(prompt, needs.steered)
    return end('completed', player.modelCalls)
  } catch (error) {
    if (error instanceof ModelFailure) {
      const { message, status } = error
      return end('failed', player.modelCalls, { code: 'model_error', message, detail: { status } })
    }
    if (error instanceof TooManyRounds) {
      return end('failed', MAX_ROUNDS, { code: 'limit', message: error.message })
    }
    if ((error as Error).name === 'AbortError') return end('interrupted', player.modelCalls)
    throw error
  }
}

/** Does what scripts say: for the agent itself, or for a sub-agent of its that a call runs. */
class Player {
  /** Said and thought so far. */
  chars = 0
  modelCalls = 0
  /** The last text that was said. */
  text = ''
  readonly #needs: TurnNeeds
  readonly #teller: Teller
  readonly #output: Output
  readonly #signal: AbortSignal
  #answered = Promise.withResolvers<void>()

  constructor(needs: TurnNeeds, teller: Teller = {}) {
    this.#needs = needs
    this.#teller = teller
    this.#output = needs.output
    this.#signal = needs.signal
  }

  /** A script, then what the results of its calls ask for, until nothing more is called. */
  async rounds(prompt: string, steered: () => Utterance[]): Promise<void> {
    let said: Utterance[] = [{ by: 'user', text: prompt }]
    while (++this.modelCalls <= MAX_ROUNDS) {
      const results = await this.#play(planOf(said, this.#needs.facts()))
      if (results.length === 0) return
      said = [...results, ...steered()]
    }
    throw new TooManyRounds(`Stopped after ${MAX_ROUNDS} rounds of tool calls`)
  }

  /** Tools of the client's are called all at once, others one after the other. */
  async #play(actions: Action[]): Promise<Utterance[]> {
    const results: Promise<Utterance>[] = []
    this.#answered = Promise.withResolvers()
    for (const action of actions) {
      if (action.do === 'say') this.#speak('text', action.text)
      else if (action.do === 'think') this.#speak('thinking', action.text)
      else if (action.do === 'drip') await this.#drip(action.words, action.everyMs)
      else if (action.do === 'tell') await this.#tell(piecesOf(action.text), action.everyMs)
      else if (action.do === 'burst') await this.#burst(action.count, action.bytes)
      else if (action.do === 'call') {
        const used = this.#use(action.call, action.real ?? false)
        results.push(used)
        if (!this.#needs.offered(toolCallOf(action.call).tool)) await used
      } else if (action.do === 'wait') await setTimeout(action.ms, undefined, { signal: this.#signal })
      else if (action.do === 'fail') throw new ModelFailure(action.status)
      else await this.#needs.forever()
    }
    this.#answered.resolve()
    return Promise.all(results)
  }

  #complete(messageId: string, kind: MessageKind, text: string, aborted = false): void {
    this.chars += text.length
    if (kind === 'text') this.text = text
    this.#output.emit({ type: 'message', messageId, kind, text, aborted, ...this.#teller })
    if (aborted) this.#signal.throwIfAborted()
  }

  #speak(kind: MessageKind, text: string): void {
    const messageId = randomUUID()
    const lines = piecesOf(text).map((piece) => deltaLine({ messageId, kind, text: piece, ...this.#teller }))
    this.#output.write(Buffer.from(lines.join('')))
    this.#complete(messageId, kind, text)
  }

  async #drip(words: number, everyMs: number): Promise<void> {
    await this.#tell(piecesOf(wordsUpTo(words)), everyMs)
  }

  /** One piece after the other. */
  async #tell(pieces: readonly string[], everyMs: number): Promise<void> {
    const signal = this.#signal
    const messageId = randomUUID()
    let told = 0
    for (; told < pieces.length && !signal.aborted; told++) {
      if (told > 0) await setTimeout(everyMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
      this.#output.emit({ type: 'delta', messageId, kind: 'text', text: pieces[told]!, ...this.#teller })
    }
    this.#complete(messageId, 'text', pieces.slice(0, told).join(''), signal.aborted)
  }

  /** The same line over and over, many to a write: this is what throughput is measured with. */
  async #burst(count: number, bytes: number): Promise<void> {
    const messageId = randomUUID()
    const piece = 'x'.repeat(bytes)
    const line = Buffer.from(deltaLine({ messageId, kind: 'text', text: piece, ...this.#teller }))
    const perChunk = Math.max(1, Math.min(count, Math.floor(CHUNK_BYTES / line.length)))
    const chunk = Buffer.alloc(perChunk * line.length, line)
    let told = 0
    while (told < count && !this.#signal.aborted) {
      const lines = Math.min(perChunk, count - told)
      this.#output.write(chunk.subarray(0, lines * line.length))
      told += lines
      await setImmediate()
    }
    this.#complete(messageId, 'text', piece.repeat(told), told < count)
  }

  async #use(call: Call, isReal: boolean): Promise<Utterance> {
    this.#signal.throwIfAborted()
    const tool = toolCallOf(call)
    const callId = randomUUID()
    this.#output.emit({ type: 'tool-start', callId, ...tool, ...this.#teller })
    try {
      const offered = this.#needs.offered(tool.tool)
      const result = offered
        ? await this.#carriedOut(tool, callId)
        : await this.#approved(tool, callId, isReal)
      this.#output.emit({ type: 'tool-end', callId, ...result, ...this.#teller })
      return { by: 'tool', text: result.output }
    } catch (error) {
      this.#output.emit({ type: 'tool-end', callId, output: 'interrupted', isError: true, ...this.#teller })
      throw error
    }
  }

  async #carriedOut(tool: ToolCall, callId: string): Promise<ToolResult> {
    // A model has named all its calls before the first one is made.
    await this.#answered.promise
    const request = { type: 'call', requestId: randomUUID(), callId, ...tool } as const
    const { text, isError } = await this.#needs.call(request)
    return { output: text, isError }
  }

  async #approved(tool: ToolCall, callId: string, isReal: boolean): Promise<ToolResult> {
    const { mode, ask } = this.#needs
    const kind = tool.tool === 'Ask' ? 'question' : 'tool'
    const requestId = randomUUID()
    const call = { ...tool, callId, summary: summaryOf(tool), ...this.#teller }
    const request = { type: 'ask', requestId, kind, ...call } as const
    const decision = needsApproval(mode(), tool.tool) ? await ask(request) : null
    const prompt = decision?.behavior === 'deny' ? null : taskOf(tool)
    if (prompt !== null) return this.#delegated(prompt, callId)
    const { directory } = this.#needs.facts()
    if (!isReal || directory === null) return pretend(tool, decision)
    return perform(tool, decision, directory, this.#signal)
  }

  /** A sub-agent does it; its last text is what the call comes to. */
  async #delegated(prompt: string, callId: string): Promise<ToolResult> {
    const helper = new Player(this.#needs, { parent: callId })
    const startedAt = performance.now()
    const used = () => {
      const durationMs = Math.round(performance.now() - startedAt)
      return { usage: usageOf(prompt, helper.chars, helper.modelCalls, durationMs) }
    }
    try {
      await helper.rounds(prompt, () => [])
      return { output: helper.text, isError: false, ...used() }
    } catch (error) {
      if (!(error instanceof ModelFailure || error instanceof TooManyRounds)) throw error
      return { output: error.message, isError: true, ...used() }
    } finally {
      this.chars += helper.chars
      this.modelCalls += helper.modelCalls
    }
  }
}

/** Words, each with the space before it. */
function piecesOf(text: string): string[] {
  return text.match(/\s+\S*|\S+/g) ?? []
}

function deltaLine(delta: Omit<Extract<DemoOutput, { type: 'delta' }>, 'type'>): string {
  return `${JSON.stringify({ type: 'delta', ...delta } satisfies DemoOutput)}\n`
}
