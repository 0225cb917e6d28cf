import { z } from 'zod'
import { KEY_NAMES, PROVIDERS, SIGN_IN_MODES } from '../../core/signin.ts'
import { id, time } from './wire-base.ts'

/** Signing in. No secret goes out here. */

export const provider = z.enum(PROVIDERS)
export const keyName = z.enum(KEY_NAMES)
export const signInMode = z
  .enum(SIGN_IN_MODES)
  .describe(
    '`auto`: a code to type where there is no browser and the issuer has such codes, else the browser',
  )
const loginMethod = z.enum(['browser', 'device_code'])
export const place = z.enum(['keychain', 'file']).describe('where the secret is')

export const flowId = id.describe('id of a sign-in')

const profile = z
  .object({
    email: z.string().nullable(),
    name: z.string().nullable(),
    picture: z.string().exactOptional(),
  })
  .nullable()

const each = {
  index: z.number().describe('counts the events of a flow from 1'),
  at: time,
  flowId: id,
  provider,
}

export const flowEvent = z.discriminatedUnion('type', [
  z.object({ type: z.literal('started'), ...each }),
  z.object({ type: z.literal('url'), ...each, url: z.string() }),
  z.object({
    type: z.literal('device_code'),
    ...each,
    verificationUrl: z.string(),
    userCode: z.string(),
    intervalSeconds: z.number(),
    expiresInSeconds: z.number(),
  }),
  z.object({ type: z.literal('completed'), ...each, loginMethod, accountId: z.string().nullable(), profile }),
  z.object({ type: z.literal('failed'), ...each, message: z.string(), cancelled: z.boolean() }),
])

export const flowView = z.object({
  flowId: id,
  provider,
  state: z.enum(['running', 'completed', 'failed']),
  events: z.array(flowEvent),
})

export const signInStatus = z.object({
  accounts: z.array(
    z.object({
      provider,
      accountId: z.string().nullable(),
      profile,
      loginMethod,
      signedInAt: time,
      place,
      loginFile: z.string().nullable().describe("the agent's own file that Corral has written"),
    }),
  ),
  keys: z.array(z.object({ name: keyName, place })),
  flows: z.array(z.object({ flowId: id, provider })).describe('under way'),
})
