import { choiceFields, providerParam } from '../choices.ts'
import type { Context, Methods } from '../context.ts'
import { failure } from '../errors.ts'
import { optionalParams, paramsOf } from '../params.ts'
import type { Provider } from '../models.ts'
import type { Room } from '../room.ts'
import { stateChanged } from '../snapshot.ts'

/** Agents sum up their conversations by themselves when it is time: nothing is done here, and the numbers say so. */
export function compressionOf(room: Room, window: number | null) {
  const { tokens } = room.conversation.record
  return {
    requested: true,
    applied: false,
    reason: 'none',
    estimated_tokens_before: tokens,
    estimated_tokens_after: tokens,
    model_context_window: window,
    target_limit: null,
    anchor_event_index_before: 0,
    anchor_event_index_after: 0,
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
    const compress = given.optionalFlag('compress_immediately') ?? false
    if (compress && sessionId === undefined) {
      throw failure('session_id is required when compress_immediately is true', 'invalid')
    }
    const room = sessionId === undefined ? null : await context.rooms.find(sessionId)
    // With `compress_immediately` the original means everybody, and the session only says what to compress.
    const forWhom = compress ? [undefined, sessionId] : [sessionId]
    const choice = await context.choices.select(wish, forWhom)
    await stateChanged(context, 'model_selected')
    const { models } = await context.choices.models(wish.provider)
    const window = models.find(({ id }) => id === wish.model)
    return {
      ...choiceFields(choice),
      ...(compress && room && { compression: compressionOf(room, window?.contextWindowTokens ?? null) }),
    }
  },
  'model.openrouter.providers'(params) {
    // OpenCode does not tell who serves a model.
    return { model_id: paramsOf('model.openrouter.providers', params).text('model_id'), providers: [] }
  },
}
