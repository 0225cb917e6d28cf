import type { Context, Methods } from '../context.ts'
import { failure } from '../errors.ts'
import { optionalParams, paramsOf } from '../params.ts'
import { stateChanged } from '../snapshot.ts'
import { limits } from './limits.ts'

async function connect(context: Context, provider: 'openai' | 'antigravity', mode: string) {
  const result = await flow(context, provider, mode)
  await stateChanged(context, `auth_${provider}_connected`)
  return { ...result, provider }
}

/** Whoever waits for somebody to sign in must not keep other requests from being read. */
const MAX_WAITING = 20

async function flow({ signIn, output, waits }: Context, provider: 'openai' | 'antigravity', mode: string) {
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

export async function authStatus({ choices }: Context) {
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

export const authMethods: Methods = {
  'auth.status': (_, context) => authStatus(context),
  'auth.connect.openai'(params, context) {
    const given = optionalParams('auth.connect.openai', params)
    given.optionalText('originator') // who Corral is to the issuer is a setting
    return connect(context, 'openai', given.optionalText('mode') ?? 'auto')
  },
  'auth.connect.antigravity': (_, context) => connect(context, 'antigravity', 'browser'),
  async 'auth.set.openrouter_key'(params, context) {
    const key = paramsOf('auth.set.openrouter_key', params).text('api_key')
    await context.signIn.setKey('openrouter', key)
    await stateChanged(context, 'openrouter_key_updated')
    const { models, told } = await context.choices.models('openrouter')
    return { configured: true, model_count: models.length, source: told ? 'cache' : 'fallback' }
  },
  async 'auth.set.exa_key'(params, context) {
    const key = paramsOf('auth.set.exa_key', params).text('api_key')
    const skipped = key.toLowerCase() === 'skip'
    if (!skipped) await context.signIn.setKey('exa', key)
    await stateChanged(context, skipped ? 'exa_key_skipped' : 'exa_key_updated')
    return { configured: !skipped, skipped }
  },
  'limits.get': (_, context) => limits(context),
  'onboarding.status': (_, { memory }) => ({ completed: memory.onboarded() }),
  async 'onboarding.complete'(_, context) {
    context.memory.setOnboarded(true)
    await stateChanged(context, 'onboarding_complete')
    return { completed: true }
  },
}

/** Beyond the original. */
export const moreAuthMethods: Methods = {
  async 'auth.set.anthropic_key'(params, context) {
    await context.signIn.setKey('anthropic', paramsOf('auth.set.anthropic_key', params).text('api_key'))
    await stateChanged(context, 'anthropic_key_updated')
    return { configured: true }
  },
  async 'auth.cancel'(params, { signIn }) {
    const flowId = paramsOf('auth.cancel', params).text('flow_id')
    if (await signIn.cancel(flowId)) return { flow_id: flowId, cancelled: true }
    throw failure(`unknown flow: ${flowId}`, 'flow_not_found')
  },
}
