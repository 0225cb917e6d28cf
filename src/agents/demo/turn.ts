import { randomUUID } from 'node:crypto'
import { setImmediate, setTimeout } from 'node:timers/promises'
import type { Mode } from '../../core/mode.ts'
import type { Failure } from '../../core/turn.ts'
import type { Output } from './output.ts'
import type { DemoDecision, DemoOutput, DemoResult, MessageKind, Outcome } from './protocol.ts'
import { type Call, type Facts, planOf, type Utterance, type Action, wordsUpTo } from './script.ts'
import { needsApproval, pretend, summaryOf, type ToolCall, toolCallOf, type ToolResult } from './tools.ts'

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

const MAX_ROUNDS = 100
const CHUNK_BYTES = 64 * 1024

/** Plays what a prompt asks for, tool results and what they ask for included. Says all of it but the end. */
export async function runTurn(needs: TurnNeeds, prompt: string): Promise<Ending> {
  const player = createPlayer(needs)
  const end = (outcome: Outcome, modelCalls: number, error: Failure | null = null): Ending => {
    return { outcome, error, modelCalls, chars: player.chars() }
  }
  let said: Utterance[] = [{ by: 'user', text: prompt }]
  let round = 1
  try {
    for (; round <= MAX_ROUNDS; round++) {
      const results = await player.play(planOf(said, needs.facts()))
      if (results.length === 0) return end('completed', round)
      said = [...results, ...needs.steered()]
    }
    return end('failed', MAX_ROUNDS, {
      code: 'limit',
      message: `Stopped after ${MAX_ROUNDS} rounds of tool calls`,
    })
  } catch (error) {
    if (error instanceof ModelFailure) {
      return end('failed', round, {
        code: 'model_error',
        message: error.message,
        detail: { status: error.status },
      })
    }
    if ((error as Error).name === 'AbortError') return end('interrupted', round)
    throw error
  }
}

function createPlayer(needs: TurnNeeds) {
  const { output, signal } = needs
  let chars = 0
  let answered = Promise.withResolvers<void>()

  const complete = (messageId: string, kind: MessageKind, text: string, aborted = false) => {
    chars += text.length
    output.emit({ type: 'message', messageId, kind, text, aborted })
    if (aborted) signal.throwIfAborted()
  }

  const speak = (kind: MessageKind, text: string) => {
    const messageId = randomUUID()
    const lines = (text.match(/\s+\S*|\S+/g) ?? []).map((piece) => deltaLine(messageId, kind, piece))
    output.write(Buffer.from(lines.join('')))
    complete(messageId, kind, text)
  }

  const drip = async (words: number, everyMs: number) => {
    const messageId = randomUUID()
    let told = 0
    for (; told < words && !signal.aborted; told++) {
      if (told > 0) await setTimeout(everyMs, undefined, { signal }).catch(() => undefined)
      if (signal.aborted) break
      output.emit({ type: 'delta', messageId, kind: 'text', text: told === 0 ? 'w1' : ` w${told + 1}` })
    }
    complete(messageId, 'text', wordsUpTo(told), signal.aborted)
  }

  /** The same line over and over, many to a write: this is what throughput is measured with. */
  const burst = async (count: number, bytes: number) => {
    const messageId = randomUUID()
    const piece = 'x'.repeat(bytes)
    const line = Buffer.from(deltaLine(messageId, 'text', piece))
    const perChunk = Math.max(1, Math.min(count, Math.floor(CHUNK_BYTES / line.length)))
    const chunk = Buffer.alloc(perChunk * line.length, line)
    let told = 0
    while (told < count && !signal.aborted) {
      const lines = Math.min(perChunk, count - told)
      output.write(chunk.subarray(0, lines * line.length))
      told += lines
      await setImmediate()
    }
    complete(messageId, 'text', piece.repeat(told), told < count)
  }

  const use = async (call: Call): Promise<Utterance> => {
    signal.throwIfAborted()
    const tool = toolCallOf(call)
    const callId = randomUUID()
    output.emit({ type: 'tool-start', callId, ...tool })
    try {
      const result = needs.offered(tool.tool) ? await carriedOut(tool, callId) : await pretended(tool, callId)
      output.emit({ type: 'tool-end', callId, ...result })
      return { by: 'tool', text: result.output }
    } catch (error) {
      output.emit({ type: 'tool-end', callId, output: 'interrupted', isError: true })
      throw error
    }
  }

  const carriedOut = async (tool: ToolCall, callId: string): Promise<ToolResult> => {
    // A model has named all its calls before the first one is made.
    await answered.promise
    const { text, isError } = await needs.call({ type: 'call', requestId: randomUUID(), callId, ...tool })
    return { output: text, isError }
  }

  const pretended = async (tool: ToolCall, callId: string): Promise<ToolResult> => {
    const kind = tool.tool === 'Ask' ? 'question' : 'tool'
    const requestId = randomUUID()
    const request = { type: 'ask', requestId, kind, ...tool, callId, summary: summaryOf(tool) } as const
    return pretend(tool, needsApproval(needs.mode(), tool.tool) ? await needs.ask(request) : null)
  }

  /** Tools of the client's are called all at once, others one after the other. */
  const play = async (steps: Action[]): Promise<Utterance[]> => {
    const results: Promise<Utterance>[] = []
    answered = Promise.withResolvers()
    for (const step of steps) {
      if (step.do === 'say') speak('text', step.text)
      else if (step.do === 'think') speak('thinking', step.text)
      else if (step.do === 'drip') await drip(step.words, step.everyMs)
      else if (step.do === 'burst') await burst(step.count, step.bytes)
      else if (step.do === 'call') {
        const used = use(step.call)
        results.push(used)
        if (!needs.offered(toolCallOf(step.call).tool)) await used
      } else if (step.do === 'wait') await setTimeout(step.ms, undefined, { signal })
      else if (step.do === 'fail') throw new ModelFailure(step.status)
      else await needs.forever()
    }
    answered.resolve()
    return Promise.all(results)
  }
  return { play, chars: () => chars }
}

function deltaLine(messageId: string, kind: MessageKind, text: string): string {
  return `${JSON.stringify({ type: 'delta', messageId, kind, text } satisfies DemoOutput)}\n`
}
