import { method, type HumanLayerMethod } from './method.ts'
import { approvalMethods } from './methods/approval.ts'
import { conversationMethods } from './methods/conversation.ts'
import { sessionMethods } from './methods/session.ts'
import { noParams } from './wire.ts'

const health = method({
  name: 'health',
  params: noParams,
  handler: (_, { options }) => ({ status: 'ok', version: options.version }),
})

/** Everything but subscriptions, which belong to a connection. */
export const METHODS: readonly HumanLayerMethod[] = [
  health,
  ...sessionMethods,
  ...conversationMethods,
  ...approvalMethods,
]
