import { randomUUID } from 'node:crypto'
import type { JsonObject, Piece, StopReason, TokenUsage } from '../ask.ts'
import type { Patience } from './connection.ts'
import { inputOf, parsed, refuseTorn } from './json.ts'
import { openaiBody } from './openai-body.ts'
import { brokenOf, type Upstream } from './refusal.ts'
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
  reader,
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

function reader(upstream: Upstream): AnswerReader {
  let usage: TokenUsage | null = null
  let calls: GatheredCall[] = []
  let called = false
  let torn: string | null = null
  let refused = false
  let stop: StopReason | null = null
  let done = false

  /** Some give every call the same index: another id is another call. */
  function gather({ index = 0, id, function: given, custom }: CallDelta): void {
    let call = calls.findLast((known) => known.index === index)
    if (!call || (id && call.id !== '' && id !== call.id)) {
      calls.push((call = { index, id: id ?? '', name: '', custom: custom !== undefined, parts: [] }))
    }
    if (id) call.id = id
    const name = given?.name ?? custom?.name
    if (name) call.name = name
    const part = given?.arguments ?? custom?.input
    if (part) call.parts.push(part)
  }

  function said(delta: Delta): Piece[] {
    const pieces: Piece[] = []
    const thought = delta.reasoning_content ?? delta.reasoning
    if (thought) pieces.push({ type: 'thinking', text: thought })
    if (delta.content) pieces.push({ type: 'text', text: delta.content })
    if (delta.refusal) pieces.push({ type: 'text', text: delta.refusal })
    refused ||= Boolean(delta.refusal)
    for (const call of delta.tool_calls ?? []) gather(call)
    return pieces
  }

  function release(): Piece[] {
    const complete = calls
    calls = []
    called ||= complete.length > 0
    return complete.flatMap(({ id, name, custom, parts }): Piece[] => {
      const text = parts.join('')
      const input = custom ? { input: text } : inputOf(text)
      if (input) return [{ type: 'tool_use', id: id || `call_${randomUUID()}`, name, input }]
      torn = name
      return []
    })
  }

  function stopOf(reason: string): StopReason {
    if (refused) return 'refusal'
    const known = STOPS[reason] ?? 'end_turn'
    return called && known === 'end_turn' ? 'tool_use' : known
  }

  function end(): Piece[] | null {
    if (done) return []
    if (!stop) return null
    done = true
    return [{ type: 'end', stopReason: stop, stopSequence: null, usage }]
  }

  return {
    read({ data }) {
      // Usage comes behind the reason to stop, so only this is the end.
      if (data === '[DONE]') return end() ?? []
      const chunk = parsed(upstream, data) as Chunk
      if (chunk.error) throw brokenOf(upstream, chunk.error)
      if (chunk.usage) usage = usageOf(chunk.usage)
      const [choice] = chunk.choices ?? []
      const pieces = choice?.delta ? said(choice.delta) : []
      if (choice?.finish_reason) {
        pieces.push(...release())
        stop = stopOf(choice.finish_reason)
        refuseTorn(upstream, torn, stop)
      }
      return pieces
    },
    end,
    get done() {
      return done
    },
  }
}

function usageOf({
  prompt_tokens: input,
  completion_tokens: output,
}: NonNullable<Chunk['usage']>): TokenUsage {
  return { inputTokens: input ?? 0, outputTokens: output ?? 0 }
}
