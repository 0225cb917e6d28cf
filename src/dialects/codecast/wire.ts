import { z } from 'zod'
import { MODES } from '../../core/mode.ts'

/** What goes over the wire as one SSE event. `type` comes first; fields that are not there are left out, never null. */
export type WireEvent =
  | { type: 'ping' }
  | { type: 'system'; subtype?: string; session_id?: string; model?: string; raw?: unknown }
  | { type: 'partial'; content: string }
  | { type: 'text'; content: string }
  | { type: 'tool_use'; tool?: string; input?: unknown; message?: string; is_error?: true }
  | { type: 'result'; session_id?: string; raw: unknown }
  | { type: 'queued'; position: number }
  | { type: 'error'; message: string; code?: string }
  | { type: 'interrupted'; message?: string }

export const DONE = '[DONE]'

export const INVALID_REQUEST = -32600
export const METHOD_NOT_FOUND = -32601
export const INVALID_PARAMS = -32602
export const APPLICATION_ERROR = -32000

const mode = z.enum(MODES)
const key = z.string().min(1).max(256)
/** The original's client sends null for what it does not set. */
function optional<T extends z.ZodType>(schema: T) {
  return schema.nullish().transform((given) => given ?? undefined)
}

const optionalText = z
  .string()
  .nullish()
  .transform((text) => text || null)

const session = z.object({ sessionId: z.string() })

export const noParams = z.object({})
export const sessionParams = session

export const createParams = z.object({
  path: z.string().min(1),
  mode: mode.nullish().transform((given) => given ?? 'auto'),
  model: optionalText,
  cli_type: optionalText.transform((given) => given ?? 'claude'),
  title: optionalText,
  key: optional(key),
})

const image = z.object({
  mediaType: z.string().regex(/^image\/[\w.+-]+$/, 'must be an image type'),
  data: z.base64().min(1),
})

export const sendParams = session.extend({
  message: z.string(),
  images: optional(z.array(image).max(32)),
  key: optional(key),
  ids: optional(z.boolean()),
  /** Stay on the stream when the message has to wait, and be told its turn. */
  follow: optional(z.boolean()),
})

export const resumeParams = session.extend({ sdkSessionId: optionalText })
export const setModeParams = session.extend({ mode })
/** Null, which the original's client sends, gives the choice back to the agent; not to name a model at all is a mistake. */
export const setModelParams = session.extend({
  model: z
    .string()
    .nullable()
    .transform((model) => model || null),
})
export const reconnectParams = session.extend({ after: optional(z.int().min(0)) })

export type CreateParams = z.output<typeof createParams>
export type SendParams = z.output<typeof sendParams>

export interface SessionView {
  sessionId: string
  path: string
  status: 'idle' | 'busy'
  mode: string
  cliType: string
  sdkSessionId: string | null
  model: string | null
  createdAt: string
  lastActivityAt: string
}

export interface QueueView {
  userPending: number
  responsePending: number
  clientConnected: boolean
}
