import type { Effort } from '../core/effort.ts'

/*
 * What a program asks for and what it gets, in words that both wire shapes are mapped to and every provider speaks. The
 * words are Anthropic's, since theirs say more.
 */

export type JsonObject = Record<string, unknown>

/** A call that has been read and found sound. */
export interface Ask {
  model: string
  /** Never exceeded, whoever answers. */
  maxTokens: number
  stopSequences: string[]
  /** null: none was given. */
  system: string | null
  /** Never empty; the last one is the user's. Tool results follow the call that they are about. */
  messages: Message[]
  tools: ToolDefinition[]
  toolChoice: ToolChoice
  stream: boolean
  /** Thinking is wanted in the answer. */
  thinking: boolean
  /** JSON is wanted and nothing else. */
  json: JsonWish | null
  /** How long whoever answers is to think; not said: as it does by itself. */
  effort?: Effort
  /**
   * The body as it came: an upstream of the same shape gets it with all that is not understood here. `partial`: what its
   * session remembers is not in it.
   */
  body: { shape: 'anthropic' | 'openai'; json: JsonObject; partial?: true }
}

/** JSON that a program has asked for. Without a schema it is an object. */
export interface JsonWish {
  schema: JsonObject | null
}

export interface Message {
  role: 'user' | 'assistant'
  content: Block[]
}

export type Block =
  | { type: 'text'; text: string }
  /** The data of images and documents is base64, also that of texts. */
  | { type: 'image'; mediaType: string; data: string }
  | { type: 'document'; mediaType: string; data: string; title: string | null }
  | { type: 'tool_use'; id: string; name: string; input: JsonObject }
  | { type: 'tool_result'; toolUseId: string; content: ResultBlock[]; isError: boolean }
  /** Comes back from clients that keep it; nobody needs it again. */
  | { type: 'thinking'; text: string }

export type ResultBlock = { type: 'text'; text: string } | { type: 'image'; mediaType: string; data: string }

export interface ToolDefinition {
  name: string
  description: string
  /** JSON Schema of its input. */
  inputSchema: JsonObject
  /** To its caller the input is a text, which is in the field `input` here. */
  custom?: true
}

export type ToolChoice = { type: 'auto' | 'any' | 'none' } | { type: 'tool'; name: string }

/** A part of an answer, in the order in which the client gets to see them. */
export type Piece =
  | { type: 'text'; text: string }
  /** `signature` ends a block of it: an API wants it back with the text, or refuses the text. */
  | { type: 'thinking'; text: string; signature?: string }
  | { type: 'tool_use'; id: string; name: string; input: JsonObject }
  /** Exactly one, and the last. */
  | { type: 'end'; stopReason: StopReason; stopSequence: string | null; usage: TokenUsage | null }

export type StopReason = 'end_turn' | 'tool_use' | 'max_tokens' | 'stop_sequence' | 'refusal'

/** As the provider counts; null where it does not say, and the relay estimates. */
export interface TokenUsage {
  inputTokens: number
  outputTokens: number
}
