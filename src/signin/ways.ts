import { CorralError } from '../core/error.ts'
import type { FlowStep } from '../core/signin.ts'
import { listenForCallback } from './callback.ts'
import type { Grant, Issuer } from './issuer.ts'
import type { ProviderSettings } from './provider.ts'
import { isNetworkTrouble } from './reason.ts'

/** What both ways of signing in have at hand. */
export interface FlowContext {
  issuer: Issuer
  settings: ProviderSettings
  signal: AbortSignal
  tell(step: FlowStep): void
  /** Keeps what was granted; the person is told that all is well only after it. */
  keep(grant: Grant): Promise<void>
  sleep(ms: number, signal: AbortSignal): Promise<void>
}

/** Authorization code with PKCE (RFC 7636); the browser comes back to this machine (RFC 8252). */
export async function byBrowser({ issuer, settings, signal, tell, keep }: FlowContext): Promise<void> {
  const { redirectHost: host, redirectPath: path, port } = settings
  const outcome = Promise.withResolvers<void>()
  let exchange: ((callback: URL) => Promise<Grant>) | null = null
  outcome.promise.catch(() => {}) // it may be over before anybody waits for it
  const stop = (): void => outcome.reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })

  async function take(callback: URL): Promise<void> {
    try {
      signal.throwIfAborted()
      if (!exchange) throw new CorralError('invalid', 'Nobody has been sent to sign in yet')
      const grant = await exchange(callback)
      signal.throwIfAborted()
      signal.removeEventListener('abort', stop) // what is being kept is kept
      await keep(grant)
      outcome.resolve()
    } catch (error) {
      outcome.reject(error as Error)
      throw error
    }
  }

  const callback = await listenForCallback({ host, port, path, take })
  try {
    signal.throwIfAborted()
    const { url, ...attempt } = await issuer.attempt(callback.redirectUri)
    exchange = (redirect) => issuer.exchange(redirect, attempt)
    tell({ type: 'url', url })
    await outcome.promise
  } finally {
    signal.removeEventListener('abort', stop)
    callback.close()
  }
}

/** RFC 8628, 3.5. */
const SLOWER_SECONDS = 5
const SLOWEST_SECONDS = 60
/** No flow lasts longer, and timers do not take just any number. */
const LONGEST_SECONDS = 3600

/** Device authorization (RFC 8628): the person types a code on a page, with whatever device; we ask until that is done. */
export async function byDevice({ issuer, signal, tell, keep, sleep }: FlowContext): Promise<void> {
  const code = await issuer.deviceCode()
  const { url, verificationUrl, userCode, intervalSeconds, expiresInSeconds } = code
  const until = Date.now() + expiresInSeconds * 1000
  tell({ type: 'url', url })
  tell({ type: 'device_code', verificationUrl, userCode, intervalSeconds, expiresInSeconds })
  for (let interval = intervalSeconds; ;) {
    await sleep(Math.min(interval, LONGEST_SECONDS) * 1000, signal)
    if (Date.now() >= until) throw new CorralError('invalid', 'the code has expired; start again')
    const answer = await askOnce(issuer, code, signal)
    if (answer === 'slow_down') interval += SLOWER_SECONDS
    else if (answer === 'unreachable') interval = Math.min(interval * 2, Math.max(interval, SLOWEST_SECONDS))
    else if (answer !== 'pending') return keep(answer)
  }
}

async function askOnce(issuer: Issuer, code: Parameters<Issuer['poll']>[0], signal: AbortSignal) {
  try {
    return await issuer.poll(code)
  } catch (error) {
    signal.throwIfAborted()
    if (isNetworkTrouble(error)) return 'unreachable' as const
    throw error
  }
}
