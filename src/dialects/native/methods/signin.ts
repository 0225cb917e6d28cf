import { z } from 'zod'
import { method } from '../method.ts'
import * as wire from '../wire.ts'

/* What a device could put in the place of the owner's account, or take away, is not for every device: scope `manage`. */

export const signinMethods = [
  method({
    name: 'signin.status',
    scope: 'read',
    repeat: 'read',
    errors: [],
    summary: 'Who has signed in, which keys there are, and what is under way. No keychain is opened for it.',
    params: z.strictObject({}),
    result: wire.signInStatus,
    handler: (_, { signin }) => signin.status(),
  }),
  method({
    name: 'signin.start',
    scope: 'manage',
    repeat: 'never',
    errors: ['unsupported'],
    summary:
      'Begins to sign in; `signin.flow` tells how it goes. A provider has one flow at a time: a second start joins the first, ' +
      'unless it asks for another way, and then takes its place.',
    params: z.strictObject({
      provider: wire.provider,
      mode: wire.signInMode.default('auto'),
      headless: z
        .boolean()
        .exactOptional()
        .describe(
          "whether the person has no browser on this machine; by default as the daemon's environment has it",
        ),
      attended: z
        .boolean()
        .default(false)
        .describe('the sign-in ends with this connection, however that ends, if it has begun here'),
    }),
    result: z.object({ flowId: z.string(), joined: z.boolean() }),
    handler({ attended, ...wish }, { signin, whenClosed }) {
      const started = signin.start(wish)
      if (attended && !started.joined) whenClosed(() => void signin.cancel(started.flowId))
      return started
    },
  }),
  method({
    name: 'signin.flow',
    scope: 'manage',
    repeat: 'read',
    errors: [],
    summary: 'The events of a sign-in after `after`. Waits for the next one if there is none yet.',
    params: z.strictObject({
      flowId: wire.flowId,
      after: z.int().min(0).default(0).describe('the index of an event'),
      waitMs: z.int().min(0).max(60_000).default(0).describe('how long to wait at the most'),
    }),
    result: wire.flowView,
    handler({ flowId, ...options }, { signin }) {
      return signin.flow(flowId, options)
    },
  }),
  method({
    name: 'signin.cancel',
    scope: 'manage',
    repeat: 'idempotent',
    errors: [],
    summary: 'Ends a sign-in that is under way.',
    params: z.strictObject({ flowId: wire.flowId }),
    result: z.object({ cancelled: z.boolean().describe('false: it was over') }),
    handler({ flowId }, { signin }) {
      return { cancelled: signin.cancel(flowId) }
    },
  }),
  method({
    name: 'signin.setKey',
    scope: 'manage',
    repeat: 'idempotent',
    errors: ['unsupported'],
    summary: 'Keeps a key for the agents that use it. It is never shown again.',
    params: z.strictObject({ name: wire.keyName, key: z.string().min(1).max(10_000) }),
    result: z.object({
      place: wire.place,
      why: z.string().nullable().describe('why it is not in the keychain'),
    }),
    handler({ name, key }, { signin }) {
      return signin.setKey(name, key)
    },
  }),
  method({
    name: 'signin.forget',
    scope: 'manage',
    repeat: 'idempotent',
    errors: [],
    summary: 'Signs out of a provider, or forgets a key; a sign-in that is under way ends.',
    params: z.strictObject({ name: z.union([wire.provider, wire.keyName]) }),
    result: z.object({
      forgotten: z.boolean().describe('false: there was nothing'),
      keptFile: z
        .string()
        .nullable()
        .describe("the agent's login file that was left, since it is not as Corral wrote it"),
    }),
    handler({ name }, { signin }) {
      return signin.forget(name)
    },
  }),
]
