import { KEY_NAMES, PROVIDERS, SIGN_IN_MODES } from '../../core/signin.ts'
import type { FlowEvent, FlowListener, SignIn } from '../../dialects/loaf/ports.ts'
import type { Profile } from '../../dialects/loaf/wire.ts'
import type { Api, NativeClient } from '../../client/client.ts'

type NativeEvent = Api['signin.flow']['result']['events'][number]

const WAIT_MS = 25_000

/** Signing in with the daemon, as the loaf dialect wants it. */
export function signInWith(calls: NativeClient, headless: boolean): SignIn {
  return { ...accountsOf(calls), ...flowsOf(calls, headless) }
}

function accountsOf(calls: NativeClient): Pick<SignIn, 'status' | 'setKey' | 'forgetAll'> {
  return {
    async status() {
      const { accounts, keys } = await calls.call('signin.status')
      const account = (name: string) => accounts.find(({ provider }) => provider === name)
      const hasKey = (wanted: string): boolean => keys.some(({ name }) => name === wanted)
      return {
        openai: account('openai') !== undefined,
        antigravity: account('antigravity') !== undefined,
        openrouter: hasKey('openrouter'),
        anthropic: hasKey('anthropic'),
        profile: profileOf(account('antigravity')?.profile ?? null),
      }
    },
    async setKey(name, key) {
      await calls.call('signin.setKey', { name, key })
    },
    async forgetAll() {
      const all = [...PROVIDERS, ...KEY_NAMES].map((name) => calls.call('signin.forget', { name }))
      return (await Promise.all(all)).flatMap(({ keptFile }) => keptFile ?? [])
    },
  }
}

function flowsOf(calls: NativeClient, headless: boolean): Pick<SignIn, 'connect' | 'cancel' | 'leave'> {
  /** The flows that were begun here. */
  const begun = new Set<string>()
  const leaving = Promise.withResolvers<never>()
  leaving.promise.catch(() => {}) // often nobody waits
  let left = false

  async function cancel(flowId: string): Promise<boolean> {
    return (await calls.call('signin.cancel', { flowId })).cancelled
  }

  return {
    async connect(provider, wanted, tell) {
      const mode = SIGN_IN_MODES.find((one) => one === wanted) ?? 'auto'
      const { flowId, joined } = await calls.call('signin.start', { provider, mode, headless })
      if (!joined) begun.add(flowId)
      // The client may have left while the flow was on its way.
      if (!joined && left) await cancel(flowId)
      try {
        return await follow(calls, flowId, joined ? leaving.promise : null, tell)
      } finally {
        begun.delete(flowId)
      }
    },
    async cancel(flowId) {
      try {
        return await cancel(flowId)
      } catch (error) {
        if ((error as { code?: unknown }).code === 'invalid') return false
        throw error
      }
    },
    async leave() {
      left = true
      leaving.reject(new Error('the client left before the sign-in was complete'))
      await Promise.allSettled([...begun].map(cancel))
    },
  }
}

/** Reports every event of the flow. Resolves with what completes it; a failure is reported and thrown. */
async function follow(
  calls: NativeClient,
  flowId: string,
  ended: Promise<never> | null,
  tell: FlowListener,
): Promise<Record<string, unknown>> {
  let failure: Error | null = null
  try {
    for (let after = 0; ;) {
      const next = calls.call('signin.flow', { flowId, after, waitMs: WAIT_MS })
      const { events } = await (ended ? Promise.race([next, ended]) : next)
      for (const event of events) {
        const [type, payload] = spelled(event)
        if (event.type === 'failed') failure = new Error(event.message)
        tell(type, { flow_id: flowId, ...payload })
        if (event.type === 'completed') return payload
        if (failure) throw failure
      }
      after += events.length
    }
  } catch (error) {
    if (!failure) tell('auth.flow.failed', { flow_id: flowId, message: (error as Error).message })
    throw error
  }
}

/** An event as the protocol spells it; the one that completes a sign-in is also the answer to the request. */
function spelled(event: NativeEvent): [FlowEvent, Record<string, unknown>] {
  switch (event.type) {
    case 'started':
      return ['auth.flow.started', {}]
    case 'url':
      return ['auth.flow.url', { url: event.url }]
    case 'device_code': {
      const { verificationUrl, userCode, intervalSeconds, expiresInSeconds } = event
      return [
        'auth.flow.device_code',
        {
          verification_url: verificationUrl,
          user_code: userCode,
          interval_seconds: intervalSeconds,
          expires_in_seconds: expiresInSeconds,
        },
      ]
    }
    case 'completed': {
      const { provider, loginMethod, accountId, profile } = event
      const openai = { login_method: loginMethod, account_id: accountId }
      return ['auth.flow.completed', provider === 'openai' ? openai : { profile: profileOf(profile) }]
    }
    case 'failed':
      return ['auth.flow.failed', { message: event.message }]
  }
}

/** The original protocol has no account without a name. */
function profileOf(
  profile: { email: string | null; name: string | null; picture?: string } | null,
): Profile | null {
  return profile && { ...profile, email: profile.email ?? '', name: profile.name ?? '' }
}
