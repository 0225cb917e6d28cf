import { z } from 'zod'
import { HumanLayerError, method } from '../method.ts'
import { done } from '../shapes.ts'
import * as wire from '../wire.ts'

export const subscriptionMethods = [
  method({
    name: 'Subscribe',
    scope: 'read',
    repeat: 'read',
    errors: ['too_many_subscriptions'],
    summary:
      'Tells what happens from now on, or from `since` on, on this connection, which still answers requests. Wrong parameters close it.',
    streaming: true,
    params: wire.subscribeParams,
    result: z.object({
      subscription_id: z.string(),
      message: z.string(),
      seq: z.number().describe('events come after this one'),
    }),
    handler: (params, { subscriptions }) => subscriptions.open(params),
  }),
  method({
    name: 'Unsubscribe',
    scope: 'read',
    repeat: 'idempotent',
    errors: ['subscription_not_found'],
    summary: 'Ends a subscription of this connection.',
    params: wire.unsubscribeParams,
    result: done,
    handler({ subscription_id: id }, { subscriptions }) {
      if (subscriptions.close(id)) return { success: true as const }
      throw new HumanLayerError(`subscription not found: ${id.slice(0, 100)}`, {
        code: 'subscription_not_found',
        field: 'subscription_id',
      })
    },
  }),
]
