import { createHash, randomBytes } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'

/** What the token endpoint says to one question of a device. */
export type DeviceAnswer = 'authorization_pending' | 'slow_down' | 'access_denied' | 'expired_token' | 'drop'

export interface OAuthIssuer {
  readonly url: string
  readonly clientId: string
  /** Requests so far, `METHOD /path`. */
  readonly requests: string[]
  /** What the device is told before it is let in, in order. */
  deviceAnswers: DeviceAnswer[]
  interval: number
  /** Of access tokens, in seconds. */
  lifetime: number
  /** Answers a path in its place; null: as it should be. */
  instead: ((path: string, response: ServerResponse) => boolean) | null
  /** Leaves endpoints out of the description. */
  hide: string[]
  /** Whether refresh tokens change with each use. */
  rotates: boolean
  /** Tokens that were ever given out, and codes: none of them may show up anywhere else. */
  readonly secrets: string[]
  /** Follows a sign-in page as a person who agrees would; resolves to the page that the browser ends on. */
  approve(url: string): Promise<Response>
  close(): Promise<void>
}

interface Code {
  challenge: string
  redirectUri: string
}

const CLIENT = 'corral-test'

/** A real issuer on loopback: discovery, authorization code with PKCE, device code, rotating refresh tokens, userinfo. */
export async function startIssuer(): Promise<OAuthIssuer> {
  const codes = new Map<string, Code>()
  const usedCodes = new Set<string>()
  const refreshTokens = new Set<string>()
  const usedRefreshTokens = new Set<string>()
  const accessTokens = new Set<string>()
  const devices = new Set<string>()

  const server = createServer((request, response) => {
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`

  const issuer: OAuthIssuer = {
    url,
    clientId: CLIENT,
    requests: [],
    deviceAnswers: [],
    interval: 0.01,
    lifetime: 3600,
    instead: null,
    hide: [],
    rotates: true,
    secrets: [],
    approve: (page) => fetch(page, { redirect: 'follow' }),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }

  function secret(kind: string): string {
    const value = `${kind}-${randomBytes(24).toString('base64url')}`
    issuer.secrets.push(value)
    return value
  }

  function description(): object {
    const all = {
      issuer: url,
      authorization_endpoint: `${url}/authorize`,
      token_endpoint: `${url}/token`,
      device_authorization_endpoint: `${url}/device`,
      userinfo_endpoint: `${url}/userinfo`,
    }
    return Object.fromEntries(Object.entries(all).filter(([name]) => !issuer.hide.includes(name)))
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url!, url)
    issuer.requests.push(`${request.method} ${pathname}`)
    if (issuer.instead?.(pathname, response)) return
    if (pathname === '/.well-known/openid-configuration') return send(response, 200, description())
    if (pathname === '/authorize') return authorize(searchParams, response)
    if (pathname === '/userinfo') return userInfo(request, response)
    const form = new URLSearchParams(await text(request))
    if (form.get('client_id') !== CLIENT) return send(response, 401, { error: 'invalid_client' })
    if (pathname === '/token') return token(form, response)
    if (pathname === '/device') return device(response)
    send(response, 404, {})
  }

  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const redirect = URL.parse(query.get('redirect_uri') ?? '')
    const proper =
      query.get('client_id') === CLIENT &&
      query.get('response_type') === 'code' &&
      query.get('code_challenge_method') === 'S256' &&
      redirect?.protocol === 'http:' &&
      ['127.0.0.1', 'localhost'].includes(redirect.hostname)
    if (!proper) return send(response, 400, { error: 'invalid_request' })
    const code = secret('code')
    codes.set(code, { challenge: query.get('code_challenge')!, redirectUri: redirect.href })
    redirect.searchParams.set('code', code)
    redirect.searchParams.set('state', query.get('state') ?? '')
    response.writeHead(302, { location: redirect.href }).end()
  }

  function token(form: URLSearchParams, response: ServerResponse): void {
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return byCode(form, response)
      case 'refresh_token':
        return byRefresh(form.get('refresh_token')!, response)
      case 'urn:ietf:params:oauth:grant-type:device_code':
        return byDevice(form.get('device_code')!, response)
      default:
        send(response, 400, { error: 'unsupported_grant_type' })
    }
  }

  function byCode(form: URLSearchParams, response: ServerResponse): void {
    const given = form.get('code')!
    const code = codes.get(given)
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    const valid = code?.challenge === challenge && code.redirectUri === form.get('redirect_uri')
    if (!valid || usedCodes.has(given)) return refuse(response, given)
    usedCodes.add(given)
    grant(response)
  }

  function byRefresh(given: string, response: ServerResponse): void {
    // Somebody has stolen it: nobody gets anything any more.
    if (usedRefreshTokens.has(given)) refreshTokens.clear()
    if (!refreshTokens.has(given)) return refuse(response, given)
    if (issuer.rotates) {
      refreshTokens.delete(given)
      usedRefreshTokens.add(given)
    }
    grant(response, issuer.rotates)
  }

  function device(response: ServerResponse): void {
    const code = secret('device')
    devices.add(code)
    send(response, 200, {
      device_code: code,
      user_code: 'ABCD-EFGH',
      verification_uri: `${url}/activate`,
      verification_uri_complete: `${url}/activate?user_code=ABCD-EFGH`,
      expires_in: 900,
      interval: issuer.interval,
    })
  }

  function byDevice(code: string, response: ServerResponse): void {
    if (!devices.has(code)) return refuse(response, code)
    const answer = issuer.deviceAnswers.shift()
    if (answer === 'drop') return void response.destroy()
    if (answer) return send(response, 400, { error: answer, error_description: `about ${code}` })
    devices.delete(code)
    grant(response)
  }

  /** Some issuers quote what they refuse. */
  function refuse(response: ServerResponse, given: string): void {
    send(response, 400, { error: 'invalid_grant', error_description: `${given} is not valid` })
  }

  function grant(response: ServerResponse, withRefresh = true): void {
    const [access, refresh] = [secret('access'), secret('refresh')]
    accessTokens.add(access)
    if (withRefresh) refreshTokens.add(refresh)
    send(response, 200, {
      access_token: access,
      token_type: 'Bearer',
      expires_in: issuer.lifetime,
      scope: 'openid profile email offline_access',
      id_token: idToken(url),
      ...(withRefresh && { refresh_token: refresh }),
    })
  }

  function userInfo(request: IncomingMessage, response: ServerResponse): void {
    const token = request.headers.authorization?.replace(/^Bearer /, '') ?? ''
    if (!accessTokens.has(token)) return send(response, 401, { error: 'invalid_token' })
    send(response, 200, { sub: 'user-1', email: 'pat@example.com', name: 'Pat', picture: `${url}/pat.png` })
  }

  return issuer
}

/** Nobody checks its signature: it comes straight from the issuer. */
function idToken(issuer: string): string {
  const now = Math.floor(Date.now() / 1000)
  const claims = {
    iss: issuer,
    sub: 'user-1',
    aud: CLIENT,
    iat: now,
    exp: now + 3600,
    'https://api.openai.com/auth': { chatgpt_account_id: 'account-1' },
  }
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  return `${part({ alg: 'RS256', typ: 'JWT' })}.${part(claims)}.${randomBytes(32).toString('base64url')}`
}

function send(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { 'content-type': 'application/json', 'cache-control': 'no-store' })
  response.end(JSON.stringify(body))
}
