import { isAbsolute } from 'node:path'
import { z } from 'zod'
import { hostOf, isLoopbackHost } from '../../access/loopback.ts'
import { MODES } from '../../core/mode.ts'

const text = z.string().min(1).max(1000)
/** Goes into a header as it is. */
const key = z
  .string()
  .min(1)
  .max(4096)
  .regex(/^[\x21-\x7e]+$/, 'must be printable characters without spaces')

function urlOf(value: string): URL | null {
  const url = URL.parse(value)
  return url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '' ? url : null
}

const address = z
  .string()
  .max(2000)
  .refine((value) => urlOf(value) !== null, 'must be an http or https address without a user name')

/** The license key goes there: nobody on the way may read it. */
const privateAddress = address.refine((value) => {
  const url = urlOf(value)
  return url === null || url.protocol === 'https:' || isLoopbackHost(hostOf(url.host) ?? '')
}, 'must be https, or on this machine')

export const upstreamSchema = z.strictObject({
  name: z.string().regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, 'must be letters, digits, dots, dashes'),
  kind: z.enum(['anthropic', 'openai']),
  baseUrl: address.refine((value) => !/[?#]/.test(value), 'must have no query'),
  apiKey: key.exactOptional(),
  model: text.exactOptional(),
  models: z.record(text, text).exactOptional(),
})

const price = z.number().min(0).max(1_000_000)

/** All that the relay keeps for itself. Every field has a default, so that a file may have any part of it. */
export const settingsSchema = z.strictObject({
  licenseKey: key.nullable().default(null),
  /** Whoever says whether the key is valid; null: no license is needed. */
  licenseUrl: privateAddress.nullable().default(null),
  /** Where people are sent by answers that refuse; null: to where the license is checked. */
  dashboardUrl: address.nullable().default(null),
  topUpUrl: address.nullable().default(null),
  /** Null: a place of the relay's own. */
  workingDir: z
    .string()
    .max(4096)
    .refine((path) => isAbsolute(path) && !path.includes('\0'), 'must be an absolute path')
    .nullable()
    .default(null),
  builtinToolsEnabled: z.boolean().default(false),
  agent: z
    .string()
    .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be the name of an agent')
    .default('claude'),
  /** Nobody is there to answer a question: what the agent may use at all is decided by `builtinToolsEnabled`. */
  mode: z.enum(MODES).default('auto'),
  poolSize: z.int().min(0).max(64).default(2),
  prewarm: z.boolean().default(false),
  storePrompts: z.boolean().default(false),
  /** In USD for a million tokens, by model; beside the table that the relay has. */
  prices: z.record(text, z.strictObject({ input: price, output: price })).default({}),
  /** Asked in this order when the agent cannot answer. */
  upstreams: z
    .array(upstreamSchema)
    .max(32)
    .refine((list) => new Set(list.map(({ name }) => name)).size === list.length, 'must have different names')
    .default([]),
})

export type RelaySettings = z.output<typeof settingsSchema>
