import { z } from 'zod'
import { failure } from '../errors.ts'
import { method, type Context } from '../method.ts'
import { noParams, optionalParams, optionalText, params, text } from '../params.ts'
import { stateChanged } from '../snapshot.ts'
import * as wire from '../wire.ts'
import { limits } from './limits.ts'

type Issuer = 'openai' | 'antigravity'

async function connect<T>(context: Context, provider: Issuer, mode: string): Promise<T> {
  const result = await flow(context, provider, mode)
  await stateChanged(context, `auth_${provider}_connected`)
  return { ...result, provider } as T
}

/** Whoever waits for somebody to sign in must not keep other requests from being read. */
const MAX_WAITING = 20

async function flow({ signIn, output, waits }: Context, provider: Issuer, mode: string) {
  if (waits.signIns >= MAX_WAITING) throw failure(`${MAX_WAITING} sign-ins are waited for already`, 'busy')
  waits.signIns += 1
  let toldOfFailure = false
  try {
    return await signIn.connect(provider, mode, (type, payload) => {
      toldOfFailure ||= type === 'auth.flow.failed'
      output.event(type, { provider, ...payload })
    })
  } catch (error) {
    // One that could not even begin has no id.
    if (!toldOfFailure) output.event('auth.flow.failed', { provider, message: (error as Error).message })
    throw error
  } finally {
    waits.signIns -= 1
  }
}

export async function authStatus({ choices }: Context): Promise<z.output<typeof wire.authStatus>> {
  const { enabled, openai, openrouter, antigravity, anthropic, profile } = await choices.accounts()
  return {
    enabled_providers: enabled,
    has_openai_token: openai,
    has_openrouter_key: openrouter,
    has_antigravity_token: antigravity,
    has_anthropic_key: anthropic,
    antigravity_profile: profile,
  }
}

const withKey = params({ api_key: text })

const connectMethods = [
  method({
    name: 'auth.status',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: "Says which accounts and keys there are: Corral's, and the agents' own.",
    params: noParams,
    result: wire.authStatus,
    handler: (_, context) => authStatus(context),
  }),
  method({
    name: 'auth.connect.openai',
    scope: 'manage',
    repeat: 'never',
    errors: ['busy', 'unsupported'],
    summary:
      'Signs in for Codex. Answers when the sign-in is over; `auth.flow.*` events say what the user has to do.',
    params: optionalParams({
      mode: optionalText.describe('`browser`, `device_code` or `auto`; any other word means `auto`'),
      originator: optionalText.describe('ignored: the name under which Corral signs in is a setting'),
    }),
    result: z.strictObject({
      provider: z.literal('openai'),
      login_method: z.string().nullable(),
      account_id: z.string().nullable(),
    }),
    handler: ({ mode = 'auto' }, context) => connect(context, 'openai', mode),
  }),
  method({
    name: 'auth.connect.antigravity',
    scope: 'manage',
    repeat: 'never',
    errors: ['busy', 'unsupported'],
    summary: 'Signs in for Gemini CLI, in the same way.',
    params: noParams,
    result: z.strictObject({ provider: z.literal('antigravity'), profile: wire.profile.nullable() }),
    handler: (_, context) => connect(context, 'antigravity', 'browser'),
  }),
  method({
    name: 'auth.cancel',
    extension: true,
    scope: 'manage',
    repeat: 'never',
    errors: ['flow_not_found'],
    summary: 'Ends a sign-in that waits for the user. Not in the original.',
    params: params({ flow_id: text.describe('from `auth.flow.started`') }),
    result: z.strictObject({ flow_id: z.string(), cancelled: z.literal(true) }),
    async handler({ flow_id }, { signIn }) {
      if (await signIn.cancel(flow_id)) return { flow_id, cancelled: true as const }
      throw failure(`unknown flow: ${flow_id}`, 'flow_not_found')
    },
  }),
]

const keyMethods = [
  method({
    name: 'auth.set.openrouter_key',
    scope: 'manage',
    repeat: 'idempotent',
    errors: ['unsupported'],
    summary: 'Stores a key for OpenRouter without testing it.',
    params: withKey,
    result: z.strictObject({
      configured: z.literal(true),
      model_count: z.number(),
      source: z.enum(['cache', 'fallback']).describe('`cache` if OpenCode has reported its models'),
    }),
    async handler({ api_key }, context) {
      await context.signIn.setKey('openrouter', api_key)
      await stateChanged(context, 'openrouter_key_updated')
      const { models, told } = await context.choices.models('openrouter')
      const source = told ? ('cache' as const) : ('fallback' as const)
      return { configured: true as const, model_count: models.length, source }
    },
  }),
  method({
    name: 'auth.set.exa_key',
    scope: 'manage',
    repeat: 'idempotent',
    errors: ['unsupported'],
    summary: 'Stores a key for Exa. The word `skip` stores nothing.',
    params: withKey,
    result: z.strictObject({ configured: z.boolean(), skipped: z.boolean() }),
    async handler({ api_key }, context) {
      const skipped = api_key.toLowerCase() === 'skip'
      if (!skipped) await context.signIn.setKey('exa', api_key)
      await stateChanged(context, skipped ? 'exa_key_skipped' : 'exa_key_updated')
      return { configured: !skipped, skipped }
    },
  }),
  method({
    name: 'auth.set.anthropic_key',
    extension: true,
    scope: 'manage',
    repeat: 'idempotent',
    errors: ['unsupported'],
    summary: 'Stores an Anthropic key for Claude. Not in the original.',
    params: withKey,
    result: z.strictObject({ configured: z.literal(true) }),
    async handler({ api_key }, context) {
      await context.signIn.setKey('anthropic', api_key)
      await stateChanged(context, 'anthropic_key_updated')
      return { configured: true as const }
    },
  }),
]

const onboarding = z.strictObject({ completed: z.boolean() })

export const authMethods = [
  ...connectMethods,
  ...keyMethods,
  method({
    name: 'limits.get',
    scope: 'read',
    repeat: 'read',
    errors: ['not_signed_in'],
    summary: 'Returns what agents have last reported about their accounts; `null` if nobody is signed in.',
    params: noParams,
    result: wire.limits,
    handler: (_, context) => limits(context),
  }),
  method({
    name: 'onboarding.status',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Says whether the first steps are done.',
    params: noParams,
    result: onboarding,
    handler: (_, { memory }) => ({ completed: memory.onboarded() }),
  }),
  method({
    name: 'onboarding.complete',
    scope: 'manage',
    repeat: 'idempotent',
    errors: [],
    summary: 'Records that the first steps are done.',
    params: noParams,
    result: onboarding,
    async handler(_, context) {
      context.memory.setOnboarded(true)
      await stateChanged(context, 'onboarding_complete')
      return { completed: true }
    },
  }),
]
