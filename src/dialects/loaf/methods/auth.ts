import type { Context, Methods } from '../context.ts'
import { failure } from '../errors.ts'
import { modelsOf } from '../models.ts'
import { optionalParams, paramsOf } from '../params.ts'
import type { FlowOptions } from '../ports.ts'
import { stateChanged } from '../snapshot.ts'

async function connect(context: Context, provider: 'openai' | 'antigravity', options: FlowOptions) {
  const { signIn, output, flows } = context
  const mine = new Set<string>()
  let toldOfFailure = false
  try {
    const result = await signIn.connect(provider, options, (type, payload) => {
      mine.add(payload.flow_id)
      flows.add(payload.flow_id)
      toldOfFailure ||= type === 'auth.flow.failed'
      output.event(type, { provider, ...payload })
    })
    await stateChanged(context, `auth_${provider}_connected`)
    return { ...result, provider }
  } catch (error) {
    const message = (error as Error).message
    if (!toldOfFailure) output.event('auth.flow.failed', { provider, message })
    throw error
  } finally {
    for (const flow of mine) flows.delete(flow)
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
    const mode = given.optionalText('mode') ?? 'auto'
    return connect(context, 'openai', { mode, originator: given.optionalText('originator') ?? null })
  },
  'auth.connect.antigravity': (_, context) =>
    connect(context, 'antigravity', { mode: 'browser', originator: null }),
  async 'auth.set.openrouter_key'(params, context) {
    const key = paramsOf('auth.set.openrouter_key', params).text('api_key')
    await context.signIn.setKey('openrouter', key)
    await stateChanged(context, 'openrouter_key_updated')
    return { configured: true, model_count: modelsOf('openrouter', []).length, source: 'fallback' }
  },
  async 'auth.set.exa_key'(params, context) {
    const key = paramsOf('auth.set.exa_key', params).text('api_key')
    const skipped = key.toLowerCase() === 'skip'
    if (!skipped) await context.signIn.setKey('exa', key)
    await stateChanged(context, skipped ? 'exa_key_skipped' : 'exa_key_updated')
    return { configured: !skipped, skipped }
  },
  'onboarding.status': (_, { memory }) => ({ completed: memory.onboarded() }),
  async 'onboarding.complete'(_, context) {
    context.memory.setOnboarded(true)
    await stateChanged(context, 'onboarding_complete')
    return { completed: true }
  },
}

/** Beyond the original. */
export const moreAuthMethods: Methods = {
  async 'auth.cancel'(params, { signIn }) {
    const flowId = paramsOf('auth.cancel', params).text('flow_id')
    if (await signIn.cancel(flowId)) return { flow_id: flowId, cancelled: true }
    throw failure(`unknown flow: ${flowId}`, 'flow_not_found')
  },
}
