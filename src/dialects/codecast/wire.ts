import { z } from 'zod'
import { MODES } from '../../core/mode.ts'

/** One server-sent event. `type` comes first; fields that are not there are left out, never null. */
export const event = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ping') }),
  z.object({
    type: z.literal('system'),
    subtype: z.string().exactOptional(),
    session_id: z.string().exactOptional(),
    model: z.string().exactOptional(),
    raw: z.unknown().exactOptional(),
  }),
  z.object({ type: z.literal('partial'), content: z.string() }),
  z.object({ type: z.literal('text'), content: z.string() }),
  z.object({
    type: z.literal('tool_use'),
    tool: z.string().exactOptional(),
    input: z.unknown().exactOptional(),
    message: z.string().exactOptional(),
    is_error: z.literal(true).exactOptional(),
  }),
  z.object({ type: z.literal('result'), session_id: z.string().exactOptional(), raw: z.unknown() }),
  z.object({ type: z.literal('queued'), position: z.number() }),
  z.object({ type: z.literal('error'), message: z.string(), code: z.string().exactOptional() }),
  z.object({ type: z.literal('interrupted'), message: z.string().exactOptional() }),
])
export type WireEvent = z.output<typeof event>

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

export const noParams = z.object({})
export const sessionParams = z.object({ sessionId: z.string() })

export const createParams = z.object({
  path: z.string().min(1).describe('absolute, from `~`, or from `~/Projects`'),
  mode: mode
    .nullish()
    .transform((given) => given ?? 'auto')
    .describe('`auto` if not given'),
  model: optionalText,
  cli_type: optionalText.transform((given) => given ?? 'claude').describe('the agent; `claude` if not given'),
  title: optionalText,
  key: optional(key).describe('the same key twice is one session'),
})

const image = z.object({
  mediaType: z.string().regex(/^image\/[\w.+-]+$/, 'must be an image type'),
  data: z.base64().min(1),
})

export const sendParams = sessionParams.extend({
  message: z.string(),
  images: optional(z.array(image).max(32)),
  key: optional(key).describe('the same key twice is one message'),
  ids: optional(z.boolean()).describe('an `id:` line with every event'),
  follow: optional(z.boolean()).describe(
    'if the message has to wait, stay on the stream until it is answered',
  ),
})

export const resumeParams = sessionParams.extend({
  sdkSessionId: optionalText.describe("the agent's own id of a conversation"),
})
export const setModeParams = sessionParams.extend({ mode })
export const setModelParams = sessionParams.extend({
  model: z
    .string()
    .nullable()
    .transform((model) => model || null)
    .describe('null, which the original’s client sends: the agent chooses again'),
})
export const reconnectParams = sessionParams.extend({
  after: optional(z.int().min(0)).describe('the last `id` that you have: nothing up to it is returned'),
})

export type CreateParams = z.output<typeof createParams>
export type SendParams = z.output<typeof sendParams>

const time = z.string().describe('ISO 8601, UTC')

export const session = z.object({
  sessionId: z.string(),
  path: z.string(),
  status: z.enum(['idle', 'busy']),
  mode: z.enum(MODES),
  cliType: z.string().describe('the agent'),
  sdkSessionId: z.string().nullable().describe("the agent's own id of the conversation"),
  model: z.string().nullable(),
  createdAt: time,
  lastActivityAt: time,
})
export type SessionView = z.output<typeof session>

export const queue = z.object({
  userPending: z.number().describe('messages that wait for the agent'),
  responsePending: z.number().describe('events that `session.reconnect` would return'),
  clientConnected: z.boolean().describe('false: an answer waits whose stream was cut'),
})
export type QueueView = z.output<typeof queue>

export const monitored = session.extend({ queue })

export const missed = z.object({
  bufferedEvents: z.array(event),
  lastSeq: z.number().exactOptional().describe('with `after`: the `after` of the next call'),
  more: z.literal(true).exactOptional().describe('cut at 10,000 events or 16 MiB: call again'),
})

const megabytes = z.number().describe('MiB')

export const health = z.object({
  ok: z.literal(true),
  sessions: z.number(),
  sessionsByStatus: z.object({
    idle: z.number(),
    busy: z.number(),
    error: z.number(),
    destroyed: z.number(),
  }),
  uptime: z.number().describe('seconds'),
  memory: z.object({ rss: megabytes, heapUsed: megabytes, heapTotal: megabytes }),
  rustVersion: z.string(),
  version: z.string(),
  nodeVersion: z.string(),
  corralVersion: z.string(),
  pid: z.number(),
})
export type HealthView = z.output<typeof health>
