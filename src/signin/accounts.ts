import { z } from 'zod'
import { CorralError } from '../core/error.ts'
import type { Account, Kept, Provider } from '../core/signin.ts'
import { openIssuer, type Grant, type Tokens } from './issuer.ts'
import type { ProviderSettings } from './provider.ts'
import { reasonOf } from './reason.ts'
import type { Secrets } from './secrets.ts'

/** A token that ends within this time is not given out: what is begun with it should come to an end. */
const MARGIN_MS = 5 * 60_000

const stored = z.object({
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  idToken: z.string().nullable(),
  scope: z.string().nullable(),
  expiresAt: z.number().nullable(),
})

/** A login file of an agent's that Corral has written, as it was then. */
export interface HandedOver {
  path: string
  digest: string
}

/** What is said openly about the tokens of a provider. */
const about = z.object({
  accountId: z.string().nullable(),
  profile: z
    .object({
      email: z.string().nullable(),
      name: z.string().nullable(),
      picture: z.string().exactOptional(),
    })
    .nullable(),
  loginMethod: z.enum(['browser', 'device_code']),
  signedInAt: z.number(),
  handedOver: z.object({ path: z.string(), digest: z.string() }).nullable(),
})

/** The accounts that somebody has signed in with, and their tokens. */
export interface Accounts {
  /** Null: nobody has signed in. */
  get(provider: Provider): (Account & { handedOver: HandedOver | null }) | null
  keep(account: Account, grant: Grant): Promise<Kept>
  handedOver(provider: Provider, file: HandedOver): void
  /** Tokens that hold for a while: renewed if they have to be. Null: nobody has signed in. */
  fresh(provider: Provider): Promise<Tokens | null>
}

export function createAccounts(
  secrets: Secrets,
  settings: (provider: Provider) => ProviderSettings,
): Accounts {
  /** A refresh token is good for one use: all who need it wait for the same answer. */
  const renewing = new Map<Provider, Promise<Tokens>>()

  async function read(provider: Provider): Promise<Tokens | null> {
    const text = await secrets.get(secretOf(provider))
    return text === null ? null : stored.parse(JSON.parse(text))
  }

  async function renew(provider: Provider, refreshToken: string): Promise<Tokens> {
    const name = secretOf(provider)
    const issuer = await openIssuer(settings(provider), new AbortController().signal)
    const next = await issuer.refresh(refreshToken)
    const now = await read(provider)
    if (!now) throw new CorralError('invalid', 'somebody has signed out')
    if (now.refreshToken !== refreshToken) return now // somebody has signed in anew meanwhile
    const tokens = { ...next, idToken: next.idToken ?? now.idToken }
    await secrets.set(name, JSON.stringify(tokens), secrets.about(name))
    return tokens
  }

  /** Why it failed is said without anything of the issuer's answer. */
  function renewOnce(provider: Provider, refreshToken: string): Promise<Tokens> {
    const underWay =
      renewing.get(provider) ??
      renew(provider, refreshToken)
        .catch((error: unknown) => {
          throw new CorralError('storage', `Signing in to ${provider} again failed: ${reasonOf(error)}`)
        })
        .finally(() => renewing.delete(provider))
    renewing.set(provider, underWay)
    return underWay
  }

  return {
    get(provider) {
      const known = about.safeParse(secrets.about(secretOf(provider)))
      return known.success ? { provider, ...known.data } : null
    },
    keep({ provider, ...account }, { tokens }) {
      const name = secretOf(provider)
      const { handedOver = null } = secrets.about(name)
      return secrets.set(name, JSON.stringify(tokens), { ...account, handedOver })
    },
    handedOver(provider, file) {
      const name = secretOf(provider)
      secrets.annotate(name, { ...secrets.about(name), handedOver: file })
    },
    async fresh(provider) {
      const underWay = renewing.get(provider)
      if (underWay) return underWay
      const tokens = await read(provider)
      if (!tokens?.refreshToken || (tokens.expiresAt ?? Infinity) - MARGIN_MS > Date.now()) return tokens
      return renewOnce(provider, tokens.refreshToken)
    },
  }
}

export function secretOf(provider: Provider): string {
  return `oauth.${provider}`
}
