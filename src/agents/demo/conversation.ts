import type { Content } from '../../core/content.ts'
import { textOf } from '../../core/content.ts'
import type { Effort } from '../../core/effort.ts'
import type { Mode } from '../../core/mode.ts'
import type { Memory } from './memory.ts'
import type { Output } from './output.ts'
import { compactScript, fallbackIn, limitsIn } from './pretence.ts'
import {
  DEFAULT_MODEL,
  type DemoDecision,
  type DemoInput,
  type DemoOutput,
  type DemoResult,
} from './protocol.ts'
import type { Attachment, Utterance } from './script.ts'
import { type Ending, runTurn } from './turn.ts'

export interface ConversationNeeds {
  output: Output
  /** Null: the conversation to go on with is lost, and every turn says so. */
  memory: Memory | null
  directory: string
  mode: Mode
  model: string
  clock: () => number
  /** Called once, when `finish` was asked for and nothing is left to do. */
  finished(): void
}

export interface Conversation {
  receive(line: DemoInput): void
  interrupt(): void
  /** Comes to an end once idle. `deaf`: nothing can be heard any more, so open questions end too. */
  finish(deaf: boolean): void
}

type Prompt = Extract<DemoInput, { type: 'prompt' }>
type Steer = Extract<DemoInput, { type: 'steer' }>

const MAX_SEEN = 10_000

/** One conversation: prompts one at a time, in order, each turn id once. */
export function createConversation(needs: ConversationNeeds): Conversation {
  const { output, memory } = needs
  const seen = new Set<string>()
  const queue: Prompt[] = []
  const steers: Steer[] = []
  const answers = new Map<string, (answer: DemoDecision | DemoResult) => void>()
  const deaf = new AbortController()
  let system: string[] = []
  let tools: string[] = []
  let mode = needs.mode
  let effort: Effort | null = null
  /** The model that was chosen, and the one that it has said it uses since. */
  let model = needs.model
  let told: string | null = needs.model
  let running: AbortController | null = null
  let finishing = false
  /** What has been said in this conversation, as far as this process knows. */
  let chars = 0

  const isNew = (id: string): boolean => {
    if (seen.has(id)) return false
    seen.add(id)
    if (seen.size > MAX_SEEN) seen.delete(seen.values().next().value!)
    return true
  }

  const prompted = (prompt: Prompt) => {
    output.emit({ type: 'accepted', turnId: prompt.turnId })
    if (!isNew(prompt.turnId)) return
    queue.push(prompt)
    if (!running) void work()
  }

  const steered = (steer: Steer) => {
    output.emit({ type: 'steer-read', steerId: steer.steerId })
    if (!isNew(steer.steerId)) return
    steers.push(steer)
    if (!running) void work()
  }

  /** Between two rounds of a turn. */
  const takeSteers = (known: Memory): Utterance[] =>
    steers.splice(0).map(({ steerId, input }) => {
      output.emit({ type: 'steer-taken', steerId })
      known.add(textOf(input), attachmentsOf(input))
      return { by: 'user', text: textOf(input) }
    })

  /** What came too late for one turn is the next. */
  const next = (): Prompt | undefined => {
    const late = steers.shift()
    if (!late) return queue.shift()
    output.emit({ type: 'accepted', turnId: late.steerId })
    return { type: 'prompt', turnId: late.steerId, input: late.input }
  }

  const work = async () => {
    for (let prompt = next(); prompt; prompt = next()) {
      running = new AbortController()
      await turn(prompt, running.signal)
    }
    running = null
    if (finishing) needs.finished()
  }

  const turn = async (prompt: Prompt, signal: AbortSignal) => {
    const startedAt = needs.clock()
    const text = textOf(prompt.input)
    memory?.add(text, attachmentsOf(prompt.input))
    useModel(fallbackIn(text) ?? model)
    const windows = limitsIn(text, Date.now())
    if (windows.length > 0) output.emit({ type: 'limits', windows })
    const script = compactScript(text)
    const play = (words: string) => (memory ? runTurn(turnNeeds(memory, signal), words) : LOST)
    const ending = script === null ? await play(text) : await compact(() => play(script))
    chars += text.length + ending.chars
    output.emit({
      type: 'end-of-turn',
      turnId: prompt.turnId,
      outcome: ending.outcome,
      error: ending.error,
      usage: {
        inputTokens: Math.ceil(text.length / 4),
        outputTokens: Math.ceil(ending.chars / 4),
        cacheReadTokens: 0,
        cacheWriteTokens: 0,
        costUsd: 0,
        modelCalls: ending.modelCalls,
        durationMs: Math.round(needs.clock() - startedAt),
      },
    })
  }

  const useModel = (used: string) => {
    if (used !== told) output.emit({ type: 'model', model: used })
    told = used
  }

  const compact = async (sum: () => Ending | Promise<Ending>): Promise<Ending> => {
    const before = Math.ceil(chars / 4)
    output.emit({ type: 'compacting', tokens: before })
    const ending = await sum()
    const done = ending.outcome === 'completed'
    if (done) chars = 0
    const error = done ? null : (ending.error?.message ?? ending.outcome)
    output.emit({ type: 'compacted', before, after: done ? Math.ceil(ending.chars / 4) : before, error })
    return ending
  }

  const turnNeeds = (known: Memory, signal: AbortSignal) => {
    const over = AbortSignal.any([signal, deaf.signal])
    return {
      output,
      signal,
      mode: () => mode,
      steered: () => takeSteers(known),
      facts: () => ({
        system,
        effort,
        remembered: known.remembered,
        attachments: known.attachments,
        directory: needs.directory,
      }),
      offered: (tool: string) => tools.includes(tool),
      ask: (request: Extract<DemoOutput, { type: 'ask' }>) => ask<DemoDecision>(request, over),
      call: (request: Extract<DemoOutput, { type: 'call' }>) => ask<DemoResult>(request, over),
      forever: () => aborted(over),
    }
  }

  const ask = async <T extends DemoDecision | DemoResult>(
    request: Extract<DemoOutput, { type: 'ask' | 'call' }>,
    over: AbortSignal,
  ): Promise<T> => {
    const answered = new Promise<T>((resolve) => answers.set(request.requestId, (it) => resolve(it as T)))
    output.emit(request)
    try {
      return await Promise.race([answered, aborted(over)])
    } catch (error) {
      output.emit({ type: 'withdraw', requestId: request.requestId })
      throw error
    } finally {
      answers.delete(request.requestId)
    }
  }

  const answered = (answer: DemoDecision | DemoResult) => {
    const waiting = answers.get(answer.requestId)
    answers.delete(answer.requestId)
    waiting?.(answer)
  }

  const retract = (id: string) => {
    const at = steers.findIndex(({ steerId }) => steerId === id)
    if (at >= 0) steers.splice(at, 1)
  }

  const interrupt = () => running?.abort()

  const finish = (nobodyThere: boolean) => {
    const first = !finishing
    finishing = true
    if (nobodyThere) deaf.abort()
    if (!running && first) needs.finished()
  }

  return {
    interrupt,
    finish,
    receive(line) {
      if (line.type === 'prompt') prompted(line)
      else if (line.type === 'steer') steered(line)
      else if (line.type === 'retract') retract(line.steerId)
      else if (line.type === 'decision' || line.type === 'result') answered(line)
      else if (line.type === 'interrupt') interrupt()
      else if (line.type === 'mode') mode = line.mode
      else if (line.type === 'settings') ({ system, tools, effort } = line)
      else if (line.type === 'effort') effort = line.effort
      else if (line.type === 'barrier') output.emit({ type: 'barrier', id: line.id })
      else if (line.type === 'model') [model, told] = [line.model ?? DEFAULT_MODEL, null]
      else if (line.type === 'end') finish(false)
    },
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

function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const fail = () => reject(signal.reason as Error)
    if (signal.aborted) fail()
    else signal.addEventListener('abort', fail, { once: true })
  })
}
