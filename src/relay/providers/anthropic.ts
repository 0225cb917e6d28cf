import type { Ask, Block, JsonObject, Piece, StopReason, TokenUsage } from '../ask.ts'
import { systemOf } from '../json/structured.ts'
import { withResults } from '../reading/turns.ts'
import type { Patience } from './connection.ts'
import { brokenOf, unreachable, type Upstream } from './refusal.ts'
import { inputOf, parsed, refuseTorn } from './json.ts'
import type { SseEvent } from './sse-reader.ts'
import {
  type AnswerReader,
  createUpstream,
  type Shape,
  type UpstreamConfig,
  type UpstreamProvider,
} from './upstream.ts'

/** Anthropic's Messages API, or what speaks it. */
export function anthropicUpstream(config: UpstreamConfig, patience?: Partial<Patience>): UpstreamProvider {
  return createUpstream(config, anthropic, patience)
}

const anthropic: Shape = {
  endpoint(baseUrl) {
    const base = baseUrl.replace(/\/+$/, '').replace(/\/v1$/, '')
    return new URL(`${base}/v1/messages`)
  },
  headers: (apiKey) => ({ 'anthropic-version': '2023-06-01', ...(apiKey && { 'x-api-key': apiKey }) }),
  body: (ask, model) =>
    ask.body.shape === 'anthropic'
      ? { ...signed(ask.body.json), ...(ask.body.partial && bodyOf(ask)), model, stream: true }
      : { ...bodyOf(ask), model, stream: true },
  reader: (upstream) => new AnthropicReader(upstream),
}

/** An agent's thinking has no signature; a conversation that began with one could not go on here with it. */
function signed(json: JsonObject): JsonObject {
  const messages = json['messages'] as { content: unknown }[]
  if (!messages.some(({ content }) => Array.isArray(content) && content.some(isUnsigned))) return json
  const kept = messages.map((message) =>
    Array.isArray(message.content)
      ? { ...message, content: message.content.filter((block) => !isUnsigned(block)) }
      : message,
  )
  return { ...json, messages: kept.filter(({ content }) => !Array.isArray(content) || content.length > 0) }
}

function isUnsigned(block: unknown): boolean {
  const { type, signature } = block as { type?: unknown; signature?: unknown }
  return type === 'thinking' && !signature
}

function bodyOf(ask: Ask): JsonObject {
  const { temperature, top_p: topP } = ask.body.json
  const system = systemOf(ask)
  return {
    max_tokens: ask.maxTokens,
    messages: withResults(ask.messages)
      .map(({ role, content }) => ({ role, content: content.flatMap(blockOf) }))
      .filter(({ content }) => content.length > 0),
    ...(system !== null && { system }),
    ...(ask.stopSequences.length > 0 && { stop_sequences: ask.stopSequences }),
    ...(ask.tools.length > 0 && { tools: ask.tools.map(toolOf), tool_choice: ask.toolChoice }),
    // The other API's temperatures go up to two.
    ...(typeof temperature === 'number' && { temperature: Math.min(temperature, 1) }),
    ...(typeof topP === 'number' && { top_p: topP }),
  }
}

function toolOf({ name, description, inputSchema }: Ask['tools'][number]): JsonObject {
  return { name, description, input_schema: inputSchema }
}

/** Thinking without its signature would be refused: it stays out. Empty texts would be, too. */
function blockOf(block: Block): JsonObject[] {
  switch (block.type) {
    case 'text':
      return block.text === '' ? [] : [block]
    case 'image':
      return [{ type: 'image', source: sourceOf(block.mediaType, block.data) }]
    case 'document': {
      const title = block.title === null ? {} : { title: block.title }
      return [{ type: 'document', source: documentSource(block.mediaType, block.data), ...title }]
    }
    case 'tool_use':
      return [block]
    case 'tool_result': {
      const content = block.content.flatMap((part) => blockOf(part))
      const failed = block.isError ? { is_error: true } : {}
      return [{ type: 'tool_result', tool_use_id: block.toolUseId, content, ...failed }]
    }
    case 'thinking':
      return []
  }
}

function sourceOf(mediaType: string, data: string): JsonObject {
  return { type: 'base64', media_type: mediaType, data }
}

function documentSource(mediaType: string, data: string): JsonObject {
  if (!mediaType.startsWith('text/')) return sourceOf(mediaType, data)
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(data, 'base64').toString('utf8') }
}

const STOPS: Record<string, StopReason> = {
  end_turn: 'end_turn',
  tool_use: 'tool_use',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  stop_sequence: 'stop_sequence',
  refusal: 'refusal',
}

/** One event, with what is looked at. */
interface StreamEvent {
  type?: string
  message?: { usage?: Usage }
  content_block?: { type?: string; id?: string; name?: string; input?: unknown; text?: string }
  delta?: {
    type?: string
    text?: string
    thinking?: string
    signature?: string
    partial_json?: string
    stop_reason?: string | null
    stop_sequence?: string | null
  }
  usage?: Usage
  error?: unknown
}

interface Usage {
  input_tokens?: number | null
  cache_creation_input_tokens?: number | null
  cache_read_input_tokens?: number | null
  output_tokens?: number | null
}

class AnthropicReader implements AnswerReader {
  done = false
  private usage: TokenUsage | null = null
  private stop: { reason: StopReason; sequence: string | null } | null = null
  /** The call whose input is being read. */
  private tool: { id: string; name: string; json: string[]; input: unknown } | null = null
  /** The tool whose input was no JSON object. */
  private torn: string | null = null
  private readonly upstream: Upstream

  constructor(upstream: Upstream) {
    this.upstream = upstream
  }

  read({ data }: SseEvent): Piece[] {
    const event = parsed(this.upstream, data) as StreamEvent
    switch (event.type) {
      case 'message_start':
        this.count(event.message?.usage)
        return []
      case 'content_block_start':
        return this.opened(event.content_block)
      case 'content_block_delta':
        return this.grown(event.delta)
      case 'content_block_stop':
        return this.closed()
      case 'message_delta':
        this.count(event.usage)
        this.stop = {
          reason: STOPS[event.delta?.stop_reason ?? ''] ?? 'end_turn',
          sequence: event.delta?.stop_sequence ?? null,
        }
        return []
      case 'message_stop':
        return this.finished()
      case 'error':
        throw brokenOf(this.upstream, event.error)
      default:
        return []
    }
  }

  end(): null {
    return null
  }

  private count(given: Usage | undefined): void {
    if (!given) return
    const input = inputTokens(given)
    this.usage = {
      inputTokens: input > 0 ? input : (this.usage?.inputTokens ?? 0),
      outputTokens: given.output_tokens ?? this.usage?.outputTokens ?? 0,
    }
  }

  private opened(block: StreamEvent['content_block']): Piece[] {
    this.tool = null
    if (block?.type === 'text' && block.text) return [{ type: 'text', text: block.text }]
    if (block?.type === 'tool_use') {
      this.tool = { id: block.id ?? '', name: block.name ?? '', json: [], input: block.input }
    }
    return []
  }

  private grown(delta: StreamEvent['delta']): Piece[] {
    if (delta?.text) return [{ type: 'text', text: delta.text }]
    if (delta?.thinking) return [{ type: 'thinking', text: delta.thinking }]
    if (delta?.signature) return [{ type: 'thinking', text: '', signature: delta.signature }]
    if (delta?.partial_json) this.tool?.json.push(delta.partial_json)
    return []
  }

  private closed(): Piece[] {
    if (!this.tool) return []
    const { id, name, json, input: given } = this.tool
    const input = inputOf(json.join(''), given)
    this.tool = null
    if (input) return [{ type: 'tool_use', id, name, input }]
    this.torn = name
    return []
  }

  private finished(): Piece[] {
    const { stop, usage, torn, upstream } = this
    if (!stop) throw unreachable(upstream, 'the answer has no end')
    refuseTorn(upstream, torn, stop.reason)
    this.done = true
    return [{ type: 'end', stopReason: stop.reason, stopSequence: stop.sequence, usage }]
  }
}

/** With what came from a cache: the answer's usage has no place of its own for it. */
function inputTokens(given: Usage): number {
  const cached = (given.cache_creation_input_tokens ?? 0) + (given.cache_read_input_tokens ?? 0)
  return (given.input_tokens ?? 0) + cached
}
