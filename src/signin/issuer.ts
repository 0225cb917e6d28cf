import type * as oauth from 'oauth4webapi'
import { CorralError } from '../core/error.ts'
import type { Profile } from '../core/signin.ts'
import { issuerUrl, type ProviderSettings } from './provider.ts'

/** What an issuer gives out. */
export interface Tokens {
  accessToken: string
  refreshToken: string | null
  idToken: string | null
  scope: string | null
  /** Null: nobody knows. */
  expiresAt: number | null
}

/** Tokens, and whose they are. */
export interface Grant {
  tokens: Tokens
  accountId: string | null
  profile: Profile | null
}

/** What binds a redirect to the request that led to it. */
export interface Attempt {
  redirectUri: string
  state: string
  verifier: string
}

export interface DeviceCode {
  deviceCode: string
  userCode: string
  verificationUrl: string
  /** With the code in it, if the issuer has such a one. */
  url: string
  intervalSeconds: number
  expiresInSeconds: number
}

const REQUEST_MS = 30_000
/** Whoever has more to say than this is no issuer. */
const MAX_ANSWER = 1024 ** 2
/** RFC 8628, 3.2. */
const DEFAULT_INTERVAL = 5

/** Asks the issuer how it wants to be asked. Nobody is contacted before. */
export async function openIssuer(settings: ProviderSettings, signal: AbortSignal): Promise<Issuer> {
  const { provider, clientId, clientSecret } = settings
  const { url, insecure } = issuerUrl(settings)
  if (clientId === null) {
    const field = `signin.${provider}ClientId`
    throw new CorralError('unsupported', `Nobody has said who Corral is to ${provider}: set ${field}`, {
      field,
    })
  }
  const lib = await import('oauth4webapi')
  const around = () => requestOptions(lib, signal, insecure)
  const server = await describe(lib, settings, url, around)
  const client: oauth.Client = { client_id: clientId }
  const auth = clientSecret === null ? lib.None() : lib.ClientSecretPost(clientSecret)
  return new Issuer({ lib, around, server, client, auth, settings, insecure })
}

function requestOptions(lib: Lib, signal: AbortSignal, insecure: boolean) {
  return {
    signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_MS)]),
    [lib.allowInsecureRequests]: insecure,
    [lib.customFetch]: fetchLittle,
  }
}

interface IssuerParts {
  lib: Lib
  /** The options of one request. */
  around: () => ReturnType<typeof requestOptions>
  server: oauth.AuthorizationServer
  client: oauth.Client
  auth: oauth.ClientAuth
  settings: ProviderSettings
  insecure: boolean
}

/** An OAuth issuer, as one of its clients sees it. Whoever waits for it may stop waiting with `signal`. */
export class Issuer {
  readonly #parts: IssuerParts

  constructor(parts: IssuerParts) {
    this.#parts = parts
  }

  get hasDeviceFlow(): boolean {
    return this.#parts.server.device_authorization_endpoint !== undefined
  }

  async attempt(redirectUri: string): Promise<Attempt & { url: string }> {
    const { lib, server, client, settings, insecure } = this.#parts
    const state = lib.generateRandomState()
    const verifier = lib.generateRandomCodeVerifier()
    if (!server.authorization_endpoint) throw new CorralError('unsupported', 'The issuer has no browser flow')
    const page = pageAt(server.authorization_endpoint, insecure)
    const query = {
      ...settings.extra,
      response_type: 'code',
      client_id: client.client_id,
      redirect_uri: redirectUri,
      scope: settings.scopes,
      state,
      code_challenge: await lib.calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
    }
    for (const [name, value] of Object.entries(query)) page.searchParams.set(name, value)
    return { redirectUri, state, verifier, url: page.href }
  }

  async exchange(callback: URL, { redirectUri, state, verifier }: Attempt): Promise<Grant> {
    const { lib, server, client, auth, around } = this.#parts
    const answer = lib.validateAuthResponse(server, client, callback, state)
    const response = await lib.authorizationCodeGrantRequest(
      server,
      client,
      auth,
      answer,
      redirectUri,
      verifier,
      around(),
    )
    return this.#grantOf(await lib.processAuthorizationCodeResponse(server, client, response))
  }

  async deviceCode(): Promise<DeviceCode> {
    const { lib, server, client, auth, around, settings, insecure } = this.#parts
    const scope = { scope: settings.scopes }
    const response = await lib.deviceAuthorizationRequest(server, client, auth, scope, around())
    const given = await lib.processDeviceAuthorizationResponse(server, client, response)
    return {
      deviceCode: given.device_code,
      userCode: given.user_code,
      verificationUrl: pageAt(given.verification_uri, insecure).href,
      url: pageAt(given.verification_uri_complete ?? given.verification_uri, insecure).href,
      intervalSeconds: given.interval ?? DEFAULT_INTERVAL,
      expiresInSeconds: given.expires_in,
    }
  }

  async poll({ deviceCode }: DeviceCode): Promise<Grant | 'pending' | 'slow_down' | 'unreachable'> {
    const { lib, server, client, auth, around } = this.#parts
    const response = await lib.deviceCodeGrantRequest(server, client, auth, deviceCode, around())
    if (response.status === 429 || response.status >= 500) {
      await response.body?.cancel()
      return 'unreachable'
    }
    try {
      return await this.#grantOf(await lib.processDeviceCodeResponse(server, client, response))
    } catch (error) {
      if (!(error instanceof lib.ResponseBodyError)) throw error
      if (error.error === 'authorization_pending') return 'pending'
      if (error.error === 'slow_down') return 'slow_down'
      throw error
    }
  }

  async refresh(refreshToken: string): Promise<Tokens> {
    const { lib, server, client, auth, around } = this.#parts
    const response = await lib.refreshTokenGrantRequest(server, client, auth, refreshToken, around())
    const given = tokensOf(await lib.processRefreshTokenResponse(server, client, response))
    // An issuer that does not give a new one leaves the old one valid.
    return { ...given, refreshToken: given.refreshToken ?? refreshToken }
  }

  async #grantOf(response: oauth.TokenEndpointResponse): Promise<Grant> {
    const claims = this.#parts.lib.getValidatedIdTokenClaims(response)
    const about =
      claims && hasPerson(claims) ? claims : { ...claims, ...(await this.#userInfo(response, claims?.sub)) }
    return { tokens: tokensOf(response), accountId: accountOf(claims ?? about), profile: profileOf(about) }
  }

  /** Nice to have: that it cannot be had ends nothing. */
  async #userInfo(
    { access_token: token }: oauth.TokenEndpointResponse,
    subject: string | undefined,
  ): Promise<Record<string, unknown>> {
    const { lib, server, client, around, settings } = this.#parts
    if (!server.userinfo_endpoint || !settings.scopes.split(' ').includes('openid')) return {}
    try {
      const response = await lib.userInfoRequest(server, client, token, around())
      return await lib.processUserInfoResponse(server, client, subject ?? lib.skipSubjectCheck, response)
    } catch {
      return {}
    }
  }
}

/** A page that people are sent to: whoever shows its address may open it as it is. */
function pageAt(address: string, insecure: boolean): URL {
  const page = URL.parse(address)
  if (page?.protocol === 'https:' || (insecure && page?.protocol === 'http:')) return page
  throw new CorralError('invalid', 'the issuer names a page that is none of the web')
}

async function fetchLittle(url: string, options: object): Promise<Response> {
  const response = await fetch(url, options)
  let left = MAX_ANSWER
  const counted = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      left -= chunk.length
      if (left < 0) controller.error(new Error('the answer is too long'))
      else controller.enqueue(chunk)
    },
  })
  return new Response(response.body?.pipeThrough(counted) ?? null, response)
}

type Lib = typeof oauth

/** OpenID's description, or the one of RFC 8414. */
async function describe(
  lib: Lib,
  { endpoints }: ProviderSettings,
  url: URL,
  around: () => oauth.HttpRequestOptions<'GET'>,
): Promise<oauth.AuthorizationServer> {
  if (endpoints) return { issuer: url.origin, ...endpoints }
  const found = await lib.discoveryRequest(url, { algorithm: 'oidc', ...around() })
  if (found.status !== 404) return lib.processDiscoveryResponse(url, found)
  await found.body?.cancel()
  const other = await lib.discoveryRequest(url, { algorithm: 'oauth2', ...around() })
  return lib.processDiscoveryResponse(url, other)
}

function tokensOf(response: oauth.TokenEndpointResponse): Tokens {
  const { expires_in: seconds } = response
  return {
    accessToken: response.access_token,
    refreshToken: response.refresh_token ?? null,
    idToken: response.id_token ?? null,
    scope: response.scope ?? null,
    expiresAt: seconds === undefined ? null : Date.now() + seconds * 1000,
  }
}

type Claims = Readonly<Record<string, unknown>>

/** What OpenAI calls the account is in a claim of its own. */
function accountOf(claims: Claims): string | null {
  const own = claims['https://api.openai.com/auth'] as Claims | null | undefined
  return text(own?.['chatgpt_account_id']) ?? text(claims['sub'])
}

function hasPerson(claims: Claims): boolean {
  return text(claims['email']) !== null || text(claims['name']) !== null
}

function profileOf(claims: Claims): Profile | null {
  if (!hasPerson(claims)) return null
  const picture = text(claims['picture'])
  return {
    email: text(claims['email']),
    name: text(claims['name']),
    ...(picture !== null && { picture }),
  }
}

function text(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}
