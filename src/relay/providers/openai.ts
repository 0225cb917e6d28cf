import { randomUUID } from 'node:crypto'
import type { JsonObject, Piece, StopReason, TokenUsage } from '../ask.ts'
import type { Patience } from './connection.ts'
import { inputOf, parsed, refuseTorn } from './json.ts'
import { openaiBody } from './openai-body.ts'
import { brokenOf, type Upstream } from './refusal.ts'
import type { SseEvent } from './sse-reader.ts'
import {
  type AnswerReader,
  createUpstream,
  type Shape,
  type UpstreamConfig,
  type UpstreamProvider,
} from './upstream.ts'

/** OpenAI's Chat Completions, or what speaks it: Ollama, vLLM, a gateway. */
export function openaiUpstream(config: UpstreamConfig, patience?: Partial<Patience>): UpstreamProvider {
  return createUpstream(config, openai, patience)
}

const openai: Shape = {
  endpoint(baseUrl) {
    const base = baseUrl.replace(/\/+$/, '')
    // Where there is no path at all it has been forgotten: everybody serves this below a version.
    return new URL(`${base}${new URL(base).pathname === '/' ? '/v1' : ''}/chat/completions`)
  },
  headers: (apiKey) => (apiKey ? { authorization: `Bearer ${apiKey}` } : {}),
  body(ask, model) {
    const { shape, json, partial } = ask.body
    const options = shape === 'openai' ? (json['stream_options'] as JsonObject | null) : null
    return {
      ...(shape === 'openai' && json),
      ...((shape !== 'openai' || partial) && openaiBody(ask, model)),
      model,
      stream: true,
      stream_options: { ...options, include_usage: true },
    }
  },
  reader: (upstream) => new OpenAiReader(upstream),
}

const STOPS: Record<string, StopReason> = {
  stop: 'end_turn',
  length: 'max_tokens',
  tool_calls: 'tool_use',
  function_call: 'tool_use',
  content_filter: 'refusal',
}

/** One chunk, with what is looked at. */
interface Chunk {
  choices?: { delta?: Delta | null; finish_reason?: string | null }[]
  usage?: { prompt_tokens?: number; completion_tokens?: number } | null
  error?: unknown
}

interface Delta {
  content?: string | null
  /** Two names for the same: nobody has agreed on one. */
  reasoning_content?: string | null
  reasoning?: string | null
  refusal?: string | null
  tool_calls?: CallDelta[] | null
}

interface CallDelta {
  index?: number
  id?: string
  function?: { name?: string; arguments?: string }
  custom?: { name?: string; input?: string }
}

interface GatheredCall {
  index: number
  id: string
  name: string
  /** Its input is a text and not the JSON of an object. */
  custom: boolean
  parts: string[]
}

class OpenAiReader implements AnswerReader {
  done = false
  private usage: TokenUsage | null = null
  private stop: StopReason | null = null
  /** The calls whose inputs are being read. */
  private calls: GatheredCall[] = []
  private hasCalled = false
  private hasRefused = false
  /** The tool whose input was no JSON object. */
  private torn: string | null = null
  private readonly upstream: Upstream

  constructor(upstream: Upstream) {
    this.upstream = upstream
  }

  read({ data }: SseEvent): Piece[] {
    // Usage comes behind the reason to stop, so only this is the end.
    if (data === '[DONE]') return this.end() ?? []
    const chunk = parsed(this.upstream, data) as Chunk
    if (chunk.error) throw brokenOf(this.upstream, chunk.error)
    if (chunk.usage) this.usage = usageOf(chunk.usage)
    const [choice] = chunk.choices ?? []
    const pieces = choice?.delta ? this.said(choice.delta) : []
    if (choice?.finish_reason) {
      pieces.push(...this.release())
      this.stop = this.stopOf(choice.finish_reason)
      refuseTorn(this.upstream, this.torn, this.stop)
    }
    return pieces
  }

  end(): Piece[] | null {
    const { done, stop, usage } = this
    if (done) return []
    if (!stop) return null
    this.done = true
    return [{ type: 'end', stopReason: stop, stopSequence: null, usage }]
  }

  private said(delta: Delta): Piece[] {
    const pieces: Piece[] = []
    const thought = delta.reasoning_content ?? delta.reasoning
    if (thought) pieces.push({ type: 'thinking', text: thought })
    if (delta.content) pieces.push({ type: 'text', text: delta.content })
    if (delta.refusal) pieces.push({ type: 'text', text: delta.refusal })
    this.hasRefused ||= Boolean(delta.refusal)
    for (const call of delta.tool_calls ?? []) this.gather(call)
    return pieces
  }

  /** Some give every call the same index: another id is another call. */
  private gather({ index = 0, id, function: given, custom }: CallDelta): void {
    let call = this.calls.findLast((known) => known.index === index)
    if (!call || (id && call.id !== '' && id !== call.id)) {
      this.calls.push((call = { index, id: id ?? '', name: '', custom: custom !== undefined, parts: [] }))
    }
    if (id) call.id = id
    const name = given?.name ?? custom?.name
    if (name) call.name = name
    const part = given?.arguments ?? custom?.input
    if (part) call.parts.push(part)
  }

  private release(): Piece[] {
    const complete = this.calls
    this.calls = []
    this.hasCalled ||= complete.length > 0
    return complete.flatMap(({ id, name, custom, parts }): Piece[] => {
      const text = parts.join('')
      const input = custom ? { input: text } : inputOf(text)
      if (input) return [{ type: 'tool_use', id: id || `call_${randomUUID()}`, name, input }]
      this.torn = name
      return []
    })
  }

  private stopOf(reason: string): StopReason {
    if (this.hasRefused) return 'refusal'
    const known = STOPS[reason] ?? 'end_turn'
    return this.hasCalled && known === 'end_turn' ? 'tool_use' : known
  }
}

function usageOf({
  prompt_tokens: input,
  completion_tokens: output,
}: NonNullable<Chunk['usage']>): TokenUsage {
  return { inputTokens: input ?? 0, outputTokens: output ?? 0 }
}
