import { z } from 'zod'
import type { SettingsShape } from '../dialects/dialect.ts'
import { DIALECTS } from '../dialects/list.ts'
import { port, whole } from '../dialects/setting.ts'
import { fleetSchema } from './fleet.ts'
import { signinSchema } from './signin.ts'

const DAY = 24 * 60 * 60 * 1000
const HOUR = 60 * 60 * 1000

/** No longer than a timer can run. */
const ms = whole(0, 24 * DAY)
const positiveMs = whole(1, DAY)

type Dialects = (typeof DIALECTS)[number]
type Section<Shape extends SettingsShape> = z.ZodPrefault<z.ZodObject<Shape, z.core.$strict>>

/** A section for each dialect that has settings. */
const dialectSections = Object.fromEntries(
  DIALECTS.filter(({ settings }) => Object.keys(settings).length > 0).map(({ name, settings }) => [
    name,
    z.strictObject(settings).prefault({}),
  ]),
) as { [D in Dialects as 'enabled' extends keyof D['settings'] ? D['name'] : never]: Section<D['settings']> }

/** All that can be configured, but for the places of the data directory and the socket (see paths.ts). */
export const configSchema = z
  .strictObject({
    http: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe("listen on Corral's own port: `/native`, `/mcp`, `/metrics`"),
        port: port.default(2677).meta({
          description: 'of that listener; 0 takes any free one, and a taken one gives way to the next',
          env: 'CORRAL_PORT',
          flag: '--port',
        }),
        bind: z
          .string()
          .min(1)
          .default('127.0.0.1')
          .describe('its address; one that others reach is served with TLS only'),
        bodyLimit: whole(1024, 1024 ** 3)
          .default(32 * 1024 ** 2)
          .describe('largest HTTP request body, in bytes, of every listener'),
        otherUsers: z
          .boolean()
          .default(false)
          .describe("let this machine's other users in where no token is asked for (Linux only)"),
      })
      .prefault({}),
    ...dialectSections,
    defaults: z
      .strictObject({
        agent: z
          .string()
          .min(1)
          .nullable()
          .default(null)
          .describe(
            'the agent of sessions from `corral new` and the dashboard; null takes one that is installed, a real one before `demo`',
          ),
        mode: z
          .enum(['auto', 'code', 'plan', 'ask'])
          .default('ask')
          .describe('the mode of those sessions: what the agent may do without asking'),
      })
      .prefault({}),
    agents: z
      .strictObject({
        maxWarm: whole(0, 1000).default(8).describe('idle agent processes kept alive at most'),
        idleMs: ms.default(15 * 60 * 1000).describe('an idle agent process ends after this long'),
        orphanMs: ms.default(HOUR).describe('how long an agent outlives a daemon that does not come back'),
        readyMs: positiveMs.default(60_000).describe('how long an agent may take to open its conversation'),
        spare: z
          .boolean()
          .default(false)
          .describe(
            'keep a started agent ready for the next session; one more where agents may not ask (Codecast, loaf), after the first of those',
          ),
        interruptMs: positiveMs.default(1500).describe('wait after asking an agent to stop, before SIGTERM'),
        termMs: positiveMs.default(5000).describe('wait after telling an idle agent to end, before SIGTERM'),
        killMs: positiveMs.default(5000).describe('wait after SIGTERM, before SIGKILL'),
      })
      .prefault({}),
    stop: z
      .strictObject({
        graceMs: whole(0, HOUR)
          .default(10_000)
          .describe('how long `corral stop` lets running turns come to an end'),
      })
      .prefault({}),
    queue: z
      .strictObject({
        max: whole(1, 100_000).default(100).describe('messages that may wait in one session'),
      })
      .prefault({}),
    approvals: z
      .strictObject({
        timeoutMs: whole(1, 365 * DAY)
          .nullable()
          .default(null)
          .describe('a question that nobody answers is refused after this long; null waits for ever'),
      })
      .prefault({}),
    checkpoints: z
      .strictObject({
        enabled: z
          .boolean()
          .default(true)
          .describe('keep the files of a git repository as they are before each turn, to go back to'),
        waitMs: positiveMs
          .default(2000)
          .describe('how long a message waits for that; a turn that begins without has no checkpoint'),
      })
      .prefault({}),
    pairing: z
      .strictObject({
        pinTtlMs: whole(1000, DAY)
          .default(10 * 60 * 1000)
          .describe('how long a PIN lets a device in'),
      })
      .prefault({}),
    signin: signinSchema.prefault({}),
    fleet: fleetSchema.prefault({}),
    system: z
      .strictObject({
        maxMemoryPercent: whole(1, 100)
          .nullable()
          .default(null)
          .describe(
            'of the memory in use; beyond it idle agents end. null leaves a fifth free, at most 4 GiB',
          ),
        emergencyMemoryPercent: whole(1, 100)
          .nullable()
          .default(null)
          .describe('beyond it also those that were used just now; null is half of that room'),
      })
      .prefault({}),
    updates: z
      .strictObject({
        feed: z
          .string()
          .min(1)
          .nullable()
          .default(null)
          .describe('where the newest release is described; null asks nobody'),
        publicKey: z.string().min(1).nullable().default(null).describe('whose signature a release must have'),
      })
      .prefault({}),
    retention: z
      .strictObject({
        days: whole(1, 36_500)
          .nullable()
          .default(null)
          .describe('events older than this go; null keeps them all'),
        destroyedDays: whole(0, 36_500)
          .default(30)
          .describe(
            'how long a removed session is kept; one that others branched off, until they are gone too',
          ),
      })
      .prefault({}),
    log: z
      .strictObject({
        level: z.enum(['info', 'warn', 'error', 'silent']).default('info').describe('what goes to the log'),
        maxBytes: whole(1024, 1024 ** 3)
          .default(10 * 1024 ** 2)
          .describe('a log file that is larger is put aside, as `corral.log.1`'),
        keep: whole(0, 100).default(3).describe('how many older log files stay'),
      })
      .prefault({}),
  })
  .prefault({})

export type Settings = z.output<typeof configSchema>

/** An agent of the user's own that speaks the Agent Client Protocol: in the section `agents`, by its name. */
export const customAgentSchema = z.strictObject({
  command: z.string().min(1),
  args: z.array(z.string()).exactOptional(),
  env: z.record(z.string(), z.string()).exactOptional(),
  title: z.string().min(1).max(100).exactOptional(),
  modes: z.partialRecord(z.enum(['auto', 'code', 'plan', 'ask']), z.string().min(1)).exactOptional(),
})
export type CustomAgent = z.output<typeof customAgentSchema>

export const AGENT_NAME = /^[a-z][a-z0-9-]{0,31}$/
export const BUILT_IN = ['claude', 'codex', 'gemini', 'opencode', 'demo', 'external']

/** One setting: a leaf of the schema. */
export interface Setting {
  /** As in the file: `agents.maxWarm`. */
  path: readonly [section: string, key: string]
  env: string
  flag: string
  schema: z.ZodType
  description: string
  initial: unknown
}

/** The leaves, in the order of the schema; environment names, flags and the documentation come from here. */
export const SETTINGS: readonly Setting[] = Object.entries(configSchema.unwrap().shape).flatMap(
  ([section, group]) =>
    Object.entries(group.unwrap().shape).map(([key, leaf]: [string, z.ZodType]) => {
      const words = `${section}_${key.replace(/[A-Z]/g, (letter) => `_${letter}`)}`
      const { env, flag } = (leaf.meta() ?? {}) as { env?: string; flag?: string }
      return {
        path: [section, key] as const,
        env: env ?? `CORRAL_${words.toUpperCase()}`,
        flag: flag ?? `--${words.toLowerCase().replaceAll('_', '-')}`,
        schema: leaf,
        description: leaf.description ?? '',
        initial: leaf.parse(undefined),
      }
    }),
)

/** What a setting may be, in words: for error messages and the documentation. */
export function allowed(schema: z.ZodType): string {
  return words(z.toJSONSchema(schema, { io: 'input' }))
}

function words(json: z.core.JSONSchema.BaseSchema): string {
  if (json.anyOf)
    return json.anyOf.map((option) => words(option as z.core.JSONSchema.BaseSchema)).join(' or ')
  if (Array.isArray(json.type)) return json.type.map((type) => words({ ...json, type })).join(' or ')
  if (json.enum) return `one of ${json.enum.join(', ')}`
  if (json.type === 'integer') return `a whole number from ${json.minimum} to ${json.maximum}`
  if (json.type === 'boolean') return 'true or false'
  if (json.format === 'uri') return 'an address'
  if (json.type === 'string') return 'a text'
  return String(json.type)
}
