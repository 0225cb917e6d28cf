import { z } from 'zod'
import { method, type HumanLayerMethod } from './method.ts'
import { approvalMethods } from './methods/approval.ts'
import { conversationMethods } from './methods/conversation.ts'
import { sessionMethods } from './methods/session.ts'
import { subscriptionMethods } from './methods/subscription.ts'
import { noParams } from './wire.ts'

const health = method({
  name: 'health',
  scope: 'read',
  repeat: 'read',
  errors: [],
  summary: 'Says that the daemon is there, and its version.',
  params: noParams,
  result: z.object({ status: z.literal('ok'), version: z.string() }),
  handler: (_, { options }) => ({ status: 'ok' as const, version: options.version }),
})

export const METHODS = [
  health,
  ...sessionMethods,
  ...conversationMethods,
  ...approvalMethods,
  ...subscriptionMethods,
] as unknown as readonly HumanLayerMethod[]
