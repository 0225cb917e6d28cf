import { choiceFields, providerParam } from '../choices.ts'
import type { Context, Methods } from '../context.ts'
import { failure } from '../errors.ts'
import { optionalParams, paramsOf } from '../params.ts'
import type { Provider } from '../models.ts'
import { stateChanged } from '../snapshot.ts'
import { compressInTurn, type Compressed } from './compress.ts'

/** Agents sum up for the model that they have: there is no reason beside that it was asked for. */
function compressionOf({ compressed, hint, error, ...numbers }: Compressed, window: number | null) {
  const message = error ?? hint
  return {
    requested: true,
    applied: compressed,
    reason: compressed ? 'auto' : 'none',
    ...numbers,
    model_context_window: numbers.model_context_window ?? window,
    ...(message !== undefined && { message }),
  }
}

export async function listModels({ choices }: Context, provider?: Provider) {
  const providers = provider === undefined ? (await choices.accounts()).enabled : [provider]
  const models = (await Promise.all(providers.map(choices.models))).flatMap(({ models }) => models)
  return { providers, models, ...choiceFields(choices.selected()) }
}

export const modelMethods: Methods = {
  'model.list'(params, context) {
    const name = optionalParams('model.list', params).optionalText('provider')
    return listModels(context, name === undefined ? undefined : providerParam('model.list', name))
  },
  async 'model.select'(params, context) {
    const given = paramsOf('model.select', params)
    const wish = {
      model: given.text('model_id'),
      provider: providerParam('model.select', given.text('provider')),
      thinking: given.text('thinking_level'),
      routing: given.optionalText('openrouter_provider'),
    }
    const sessionId = given.optionalText('session_id')
    const isToCompress = given.optionalFlag('compress_immediately') ?? false
    if (isToCompress && sessionId === undefined) {
      throw failure('session_id is required when compress_immediately is true', 'invalid')
    }
    if (sessionId !== undefined) await context.rooms.find(sessionId)
    // With `compress_immediately` the original means everybody, and the session only says what to compress.
    const forWhom = isToCompress ? [undefined, sessionId] : [sessionId]
    const choice = await context.choices.select(wish, forWhom)
    await stateChanged(context, 'model_selected')
    const { models } = await context.choices.models(wish.provider)
    const window = models.find(({ id }) => id === wish.model)?.contextWindowTokens ?? null
    const compressed = isToCompress ? await compressInTurn(sessionId!, context) : null
    return {
      ...choiceFields(choice),
      ...(compressed && { compression: compressionOf(compressed, window) }),
    }
  },
  'model.openrouter.providers'(params) {
    // OpenCode does not tell who serves a model.
    return { model_id: paramsOf('model.openrouter.providers', params).text('model_id'), providers: [] }
  },
}
