import { z } from 'zod'
import { MODES } from '../../core/mode.ts'
import { id, time } from './wire-base.ts'

/** The relay, as its owner sees it. No key goes out here. */

const name = z.string().min(1).max(64)
const text = z.string().min(1).max(1000)
const address = z.string().min(1).max(2000)

export const relayOverview = z.object({
  state: z
    .enum(['off', 'unused', 'open'])
    .describe('`off`: it does not listen. `unused`: nobody has called yet, and nothing of it is loaded'),
  address: z.string().nullable().describe('where programs call it'),
  agent: z.string().nullable().describe('who answers first'),
  missing: z.string().nullable().describe('why that agent cannot be asked'),
  pool: z
    .object({
      idle: z.number().describe('agents that wait for a call'),
      active: z.number().describe('sessions with a name, and calls that stand for themselves'),
      spawning: z.number(),
    })
    .nullable(),
  providers: z.array(
    z.object({
      provider: z.string(),
      status: z.enum(['ok', 'degraded', 'unavailable']),
      reason: z.string().nullable(),
      retryAt: time.nullable().describe('when it is asked again'),
    }),
  ),
  license: z
    .object({
      configured: z.boolean().describe('there is a key'),
      valid: z.boolean(),
      tier: z.string(),
      usageThisMonth: z.number(),
      usageCap: z.number().nullable(),
    })
    .nullable(),
  runningCount: z.number(),
  running: z
    .array(
      z.object({
        id,
        sessionId: z.string().nullable().describe("the client's name for the session"),
        model: z.string(),
        startedAt: time,
      }),
    )
    .describe('calls that are not over, the oldest first; at most 100'),
})

export const relayCall = z.object({
  seq: z.number(),
  id,
  sessionId: z.string(),
  startedAt: time,
  completedAt: time,
  model: z.string(),
  provider: z.string().nullable().describe('who answered; null: nobody'),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costAvoidedUsd: z.number().describe("what an API would have cost, at its provider's prices"),
  status: z.enum(['success', 'error']),
  error: z.string().nullable(),
  stopReason: z.string().nullable(),
  fallbackChain: z
    .array(z.object({ provider: z.string(), error: z.string() }))
    .describe('who was asked before, and why they did not answer'),
  promptPreview: z.string().nullable().describe('only if the settings say that prompts are kept'),
})

export const relayPoint = z.object({
  at: time.describe('when the hour or the day began'),
  calls: z.number(),
  errors: z.number(),
  inputTokens: z.number(),
  outputTokens: z.number(),
  costAvoidedUsd: z.number(),
})

const price = z.number().min(0).max(1_000_000)
const prices = z
  .record(text, z.strictObject({ input: price, output: price }))
  .describe('in USD for a million tokens, by model')

const upstream = {
  name,
  kind: z.enum(['anthropic', 'openai']).describe('whose API it speaks'),
  baseUrl: address,
}

export const relaySettings = z.object({
  agent: z.string(),
  mode: z.enum(MODES),
  workingDir: z.string().nullable().describe("null: a directory of the relay's own"),
  builtinToolsEnabled: z.boolean().describe('the agent keeps its own tools'),
  poolSize: z.number(),
  prewarm: z.boolean().describe('agents wait also when nobody has called for long'),
  storePrompts: z.boolean().describe('beginnings of prompts and answers are kept with the calls'),
  licenseUrl: z.string().nullable(),
  hasLicenseKey: z.boolean(),
  prices,
  upstreams: z
    .array(
      z.object({
        ...upstream,
        model: z.string().nullable().describe('asked for instead of any other'),
        models: z.record(z.string(), z.string()).describe('names of models, and what they are called there'),
        hasKey: z.boolean(),
      }),
    )
    .describe('asked in this order when the agent cannot answer'),
})

export const relaySettingsPatch = z.strictObject({
  agent: name.exactOptional(),
  mode: z.enum(MODES).exactOptional(),
  workingDir: z.string().min(1).max(4096).nullable().exactOptional(),
  builtinToolsEnabled: z.boolean().exactOptional(),
  poolSize: z.int().min(0).max(64).exactOptional(),
  prewarm: z.boolean().exactOptional(),
  storePrompts: z.boolean().exactOptional(),
  licenseUrl: address.nullable().exactOptional(),
  licenseKey: z.string().min(1).max(4096).nullable().exactOptional().describe('never shown again'),
  prices: prices.exactOptional(),
  upstreams: z
    .array(
      z.strictObject({
        ...upstream,
        model: text.nullable().exactOptional(),
        models: z.record(text, text).exactOptional(),
        apiKey: z
          .string()
          .min(1)
          .max(4096)
          .nullable()
          .exactOptional()
          .describe('left out: the key that this name has, if the address has the same origin; null: none'),
      }),
    )
    .max(32)
    .exactOptional(),
})
