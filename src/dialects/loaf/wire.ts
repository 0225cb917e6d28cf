import { z } from 'zod'
import { LEVELS, PROVIDERS } from './models.ts'

/*
 * What goes over the wire, as clients of the original know it: envelopes are spelled with underscores, what is in them is not.
 * All of it is strict, so that a field that nobody has documented is found by the tests.
 */

export const provider = z.enum(PROVIDERS)
const level = z.enum(LEVELS)
const moment = z.string().describe('ISO 8601')
const nullableNumber = z.number().nullable()

export const attachment = z.strictObject({
  path: z.string(),
  mimeType: z.string(),
  dataUrl: z.string(),
  byteSize: z.number(),
})
const images = z.array(attachment)

export const uiMessage = z.strictObject({
  id: z.number(),
  kind: z.enum(['user', 'assistant', 'system']),
  text: z.string(),
  images: images.exactOptional(),
})

export const historyMessage = z.strictObject({
  role: z.enum(['user', 'assistant']),
  text: z.string(),
  images: images.exactOptional(),
})

export const queuedPrompt = z.strictObject({ id: z.string(), text: z.string(), images, enqueuedAt: moment })

export const sessionState = z.strictObject({
  id: z.string(),
  createdAt: moment,
  updatedAt: moment,
  pending: z.boolean(),
  statusLabel: z.string(),
  messages: z.array(uiMessage),
  history: z.array(historyMessage),
  queue: z.array(queuedPrompt),
  pendingSteerCount: z.number(),
  conversationProvider: z.string().nullable(),
  activeSessionId: z.string().nullable(),
  contextTokenEstimate: z.number(),
  contextTokenSource: z.literal('history'),
  contextTokenProvider: z.string().nullable(),
  contextTokenBreakdown: z.strictObject({
    pinned_tokens: z.number(),
    conversation_tokens: z.number(),
    tool_schema_tokens: z.number(),
    provider_overhead_tokens: z.number(),
  }),
})

export const modelOption = z.strictObject({
  id: z.string(),
  provider,
  label: z.string(),
  description: z.string(),
  supportedThinkingLevels: z.array(level).exactOptional(),
  defaultThinkingLevel: level.exactOptional(),
  routingProviders: z.array(z.string()).exactOptional(),
  contextWindowTokens: z.number().exactOptional(),
})

/** The chosen model: without a choice its name is empty and its provider null. */
export const choice = z.strictObject({
  selected_model: z.string(),
  selected_provider: provider.nullable(),
  selected_thinking: level,
  selected_openrouter_provider: z.string(),
})

export const modelList = z.strictObject({
  providers: z.array(provider),
  models: z.array(modelOption),
  ...choice.shape,
})

export const compaction = z.strictObject({
  compressed: z.boolean(),
  estimated_tokens_before: z.number(),
  estimated_tokens_after: z.number(),
  model_context_window: nullableNumber,
  /** An agent decides by itself when it is time, and how much it leaves. */
  target_limit: z.null(),
  anchor_event_index_before: z.number(),
  anchor_event_index_after: z.number(),
  error: z.string().exactOptional().describe('why it could not be done'),
})

/** A saved session in a list. */
export const savedSession = z.strictObject({
  id: z.string(),
  title: z.string(),
  provider: z.string(),
  model: z.string(),
  thinkingLevel: level,
  openRouterProvider: z.string().exactOptional(),
  createdAt: moment,
  updatedAt: moment,
  messageCount: z.number(),
  rolloutPath: z.string(),
})

export const savedSessions = z.strictObject({
  total: z.number(),
  cursor: z.number(),
  limit: z.number(),
  sessions: z.array(savedSession),
  next_cursor: nullableNumber,
})

export const skills = z.strictObject({
  directories: z.array(z.string()).describe('where skills are looked for, whether it exists or not'),
  errors: z.array(z.string()),
  skills: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      description_preview: z.string(),
      source_path: z.string(),
    }),
  ),
})

export const tools = z.strictObject({
  tools: z.array(
    z.strictObject({
      name: z.string(),
      description: z.string(),
      input_schema: z.strictObject({
        type: z.literal('object'),
        properties: z.strictObject({}),
        required: z.array(z.string()),
        additionalProperties: z.boolean(),
      }),
    }),
  ),
})

export const profile = z.strictObject({
  email: z.string(),
  name: z.string(),
  picture: z.string().exactOptional(),
})

export const authStatus = z.strictObject({
  enabled_providers: z.array(provider),
  has_openai_token: z.boolean(),
  has_openrouter_key: z.boolean(),
  has_antigravity_token: z.boolean(),
  has_anthropic_key: z.boolean(),
  antigravity_profile: profile.nullable(),
})

export const limitWindow = z.strictObject({
  usedPercent: z.number(),
  remainingPercent: z.number(),
  limitWindowSeconds: nullableNumber,
  resetAtEpochSeconds: nullableNumber,
})

const unknownLimits = z.strictObject({ ok: z.literal(false), message: z.string() })

export const accountLimits = z.discriminatedUnion('ok', [
  z.strictObject({
    ok: z.literal(true),
    snapshot: z.strictObject({
      planType: z.string().nullable(),
      primary: limitWindow.nullable(),
      secondary: limitWindow.nullable(),
    }),
  }),
  unknownLimits,
])

export const limits = z.strictObject({
  openai: accountLimits.nullable(),
  antigravity: unknownLimits.nullable(),
  anthropic: accountLimits.exactOptional(),
})

/** All that is not about one session. */
export const snapshot = z.strictObject({
  auth: z.strictObject({
    enabledProviders: z.array(provider),
    hasOpenAiToken: z.boolean(),
    hasOpenRouterKey: z.boolean(),
    hasAntigravityToken: z.boolean(),
    hasAnthropicKey: z.boolean(),
    antigravityProfile: profile.nullable(),
  }),
  onboarding: z.strictObject({ completed: z.boolean() }),
  model: z.strictObject({
    selectedModel: z.string(),
    selectedThinking: level,
    selectedOpenRouterProvider: z.string(),
    selectedProvider: provider.nullable(),
  }),
  sessions: z.strictObject({ count: z.number(), ids: z.array(z.string()) }),
  skills: z.strictObject({ count: z.number(), directories: z.array(z.string()) }),
})

/** What the `params` of an event have. */
export const replayedEvent = z.strictObject({
  type: z.string(),
  timestamp: moment,
  seq: z.number(),
  payload: z.record(z.string(), z.unknown()),
})

export const replayed = z.strictObject({
  session_id: z.string(),
  events: z.array(replayedEvent),
  next: nullableNumber.describe('give it as `after` to get the next page'),
})

/** The names of what is part of several results. */
export const SHAPES = {
  SessionState: sessionState,
  UiMessage: uiMessage,
  HistoryMessage: historyMessage,
  Attachment: attachment,
  QueuedPrompt: queuedPrompt,
  ModelList: modelList,
  ModelOption: modelOption,
  SavedSessions: savedSessions,
  SavedSession: savedSession,
  Snapshot: snapshot,
  AuthStatus: authStatus,
  Profile: profile,
  Limits: limits,
  AccountLimits: accountLimits,
  LimitWindow: limitWindow,
  Skills: skills,
  Tools: tools,
  Replay: replayed,
  Event: replayedEvent,
} as const

export type Attachment = z.output<typeof attachment>
export type UiMessage = z.output<typeof uiMessage>
export type HistoryMessage = z.output<typeof historyMessage>
export type QueuedPrompt = z.output<typeof queuedPrompt>
export type SessionState = z.output<typeof sessionState>
export type ModelOption = z.output<typeof modelOption>
export type Compaction = z.output<typeof compaction>
export type Skills = z.output<typeof skills>
export type Profile = z.output<typeof profile>
export type Limits = z.output<typeof limits>
export type AccountLimits = z.output<typeof accountLimits>
export type Window = z.output<typeof limitWindow>
export type Replayed = z.output<typeof replayedEvent>
