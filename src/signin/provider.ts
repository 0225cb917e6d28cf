import { CorralError } from '../core/error.ts'
import type { Provider } from '../core/signin.ts'

/** How to sign in to a provider; from the configuration, and what is known about it. */
export interface ProviderSettings {
  provider: Provider
  issuer: string
  /** Null: nobody has told. */
  clientId: string | null
  /** Programs on people's machines keep no secrets, but some issuers want this one nevertheless. */
  clientSecret: string | null
  /** As in the request, separated by spaces. */
  scopes: string
  /** Of the redirect: this port if it is free, else any; 0 is any. */
  port: number
  redirectHost: 'localhost' | '127.0.0.1'
  redirectPath: string
  /** What else this issuer wants to be told. */
  extra: Record<string, string>
  /** Null: as the issuer's own description has them. */
  endpoints: Endpoints | null
}

export interface Endpoints {
  authorization_endpoint: string
  token_endpoint: string
}

/** What can be configured. */
export interface SignInSettings {
  openaiIssuer: string
  openaiClientId: string
  openaiScopes: string
  openaiPort: number
  antigravityIssuer: string
  antigravityClientId: string | null
  antigravityClientSecret: string | null
  antigravityScopes: string
  antigravityPort: number
}

const OPENAI = 'https://auth.openai.com'

export function providerOf(provider: Provider, settings: SignInSettings): ProviderSettings {
  return provider === 'openai' ? openai(settings) : antigravity(settings)
}

function openai(settings: SignInSettings): ProviderSettings {
  const vendor = settings.openaiIssuer.replace(/\/$/, '') === OPENAI
  return {
    provider: 'openai',
    issuer: settings.openaiIssuer,
    clientId: settings.openaiClientId,
    clientSecret: null,
    scopes: settings.openaiScopes,
    port: settings.openaiPort,
    // The name and not the address is what Codex has registered.
    redirectHost: 'localhost',
    redirectPath: '/auth/callback',
    extra: vendor ? { id_token_add_organizations: 'true', codex_cli_simplified_flow: 'true' } : {},
    // Codex is not served at the endpoints that the issuer describes.
    endpoints: vendor
      ? { authorization_endpoint: `${OPENAI}/oauth/authorize`, token_endpoint: `${OPENAI}/oauth/token` }
      : null,
  }
}

function antigravity(settings: SignInSettings): ProviderSettings {
  return {
    provider: 'antigravity',
    issuer: settings.antigravityIssuer,
    clientId: settings.antigravityClientId,
    clientSecret: settings.antigravityClientSecret,
    scopes: settings.antigravityScopes,
    port: settings.antigravityPort,
    redirectHost: '127.0.0.1',
    redirectPath: '/oauth-callback',
    extra: { access_type: 'offline', prompt: 'consent' },
    endpoints: null,
  }
}

/** The issuer's address; plain HTTP is for this machine only. Throws when it will not do. */
export function issuerUrl({ provider, issuer }: ProviderSettings): { url: URL; insecure: boolean } {
  const url = URL.parse(issuer)
  const setting = `signin.${provider}Issuer`
  if (!url) throw new CorralError('invalid', `${setting} is not an address`, { field: setting })
  const loopback = ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && loopback)) {
    return { url, insecure: url.protocol === 'http:' }
  }
  throw new CorralError('invalid', `${setting} must begin with https:, unless it is on this machine`, {
    field: setting,
  })
}
