import { z } from 'zod'
import { choiceFields } from '../choices.ts'
import { failure } from '../errors.ts'
import { method, type Context } from '../method.ts'
import type { Provider } from '../models.ts'
import {
  optionalFlag,
  optionalParams,
  optionalProvider,
  optionalText,
  params,
  provider,
  text,
} from '../params.ts'
import { stateChanged } from '../snapshot.ts'
import * as wire from '../wire.ts'
import { compressInTurn, type Compressed } from './compress.ts'

const { compressed: _, error: __, ...numbers } = wire.compaction.shape

const compression = z.strictObject({
  requested: z.literal(true),
  applied: z.boolean(),
  reason: z.enum(['auto', 'none']),
  ...numbers,
  message: z.string().exactOptional().describe('why it was not applied'),
})

/** Agents sum up for the model that they have: there is no reason beside that it was asked for. */
function compressionOf(
  { compressed, hint, error, ...counts }: Compressed,
  window: number | null,
): z.output<typeof compression> {
  const message = error ?? hint
  return {
    requested: true,
    applied: compressed,
    reason: compressed ? 'auto' : 'none',
    ...counts,
    model_context_window: counts.model_context_window ?? window,
    ...(message !== undefined && { message }),
  }
}

export async function listModels(
  { choices }: Context,
  only?: Provider,
): Promise<z.output<typeof wire.modelList>> {
  const providers = only === undefined ? (await choices.accounts()).enabled : [only]
  const models = (await Promise.all(providers.map(choices.models))).flatMap(({ models }) => models)
  return { providers, models, ...choiceFields(choices.selected()) }
}

export const modelMethods = [
  method({
    name: 'model.list',
    scope: 'read',
    repeat: 'read',
    errors: ['agent_unknown'],
    summary: 'Lists models, and says which one is chosen.',
    params: optionalParams({
      provider: optionalProvider.describe('if not given, all that can be used now'),
    }),
    result: wire.modelList,
    handler: (wanted, context) => listModels(context, wanted.provider),
  }),
  method({
    name: 'model.select',
    scope: 'use',
    repeat: 'idempotent',
    errors: [
      'unknown_model',
      'session_not_found',
      'no_model',
      'queue_full',
      'unsupported',
      'agent_missing',
      'agent_unknown',
      'conversation_busy',
    ],
    summary: 'Chooses a model, for this process or for one session.',
    params: params({
      model_id: text,
      provider,
      thinking_level: text.describe('one that the model does not have becomes its default'),
      openrouter_provider: optionalText,
      session_id: optionalText,
      compress_immediately: optionalFlag.describe(
        'summarise this session now; the choice is then for the whole process, too',
      ),
    }),
    result: z.strictObject({ ...wire.choice.shape, compression: compression.exactOptional() }),
    async handler(wanted, context) {
      const { session_id: sessionId, compress_immediately: isToCompress = false } = wanted
      if (isToCompress && sessionId === undefined) {
        throw failure('session_id is required when compress_immediately is true', 'invalid')
      }
      if (sessionId !== undefined) await context.sessions.find(sessionId)
      // With `compress_immediately` the original means everybody, and the session only says what to compress.
      const choice = await context.choices.select(
        {
          model: wanted.model_id,
          provider: wanted.provider,
          thinking: wanted.thinking_level,
          routing: wanted.openrouter_provider,
        },
        isToCompress ? [undefined, sessionId] : [sessionId],
      )
      await stateChanged(context, 'model_selected')
      if (!isToCompress) return choiceFields(choice)
      const { models } = await context.choices.models(wanted.provider)
      const window = models.find(({ id }) => id === wanted.model_id)?.contextWindowTokens ?? null
      const compressed = await compressInTurn(sessionId!, context)
      return { ...choiceFields(choice), compression: compressionOf(compressed, window) }
    },
  }),
  method({
    name: 'model.openrouter.providers',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Always empty: OpenCode does not say who serves a model.',
    params: params({ model_id: text }),
    result: z.strictObject({ model_id: z.string(), providers: z.array(z.string()) }),
    handler: ({ model_id }) => ({ model_id, providers: [] }),
  }),
]
