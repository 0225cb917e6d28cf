import assert from 'node:assert/strict'
import { afterEach, beforeEach, test } from 'node:test'
import { createAccounts, type Accounts } from '../../src/signin/accounts.ts'
import { providerOf } from '../../src/signin/provider.ts'
import { openSecrets, type Secrets } from '../../src/signin/secrets.ts'
import { startSignIn, type TestSignIn } from './support.ts'

let at: TestSignIn
let secrets: Secrets
let accounts: Accounts

beforeEach(async () => {
  at = await startSignIn()
})

afterEach(() => at.stop())

/** Somebody signs in; then the accounts are looked at as another start of Corral would. */
async function signIn(lifetime: number): Promise<void> {
  at.issuer.lifetime = lifetime
  const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
  assert.equal((await at.end(flowId)).state, 'completed')
  at.issuer.lifetime = 3600
  at.issuer.requests.length = 0
  const settings = { openaiIssuer: at.issuer.url, openaiClientId: at.issuer.clientId, openaiScopes: '' }
  const rest = { antigravityIssuer: '', antigravityClientId: null, antigravityClientSecret: null }
  const ports = { openaiPort: 0, antigravityPort: 0, antigravityScopes: '' }
  secrets = openSecrets({
    path: `${at.home}/signin.json`,
    keychain: null,
    useKeychain: false,
    notice: assert.fail,
  })
  accounts = createAccounts(secrets, (provider) => providerOf(provider, { ...settings, ...rest, ...ports }))
}

const renewals = (): number => at.issuer.requests.filter((line) => line === 'POST /token').length

test('a token that holds is given out as it is, and nobody is asked', async () => {
  await signIn(3600)
  assert.match((await accounts.fresh('openai'))!.accessToken, /^access-/)
  assert.deepEqual(at.issuer.requests, [])
})

test('one that ends soon is renewed: once, however many need it', async () => {
  await signIn(60)
  const before = JSON.parse((await secrets.get('oauth.openai'))!) as { refreshToken: string }
  const all = await Promise.all(Array.from({ length: 10 }, () => accounts.fresh('openai')))
  assert.equal(new Set(all.map((tokens) => tokens!.accessToken)).size, 1)
  assert.equal(renewals(), 1)
  const after = JSON.parse((await secrets.get('oauth.openai'))!) as { refreshToken: string }
  assert.equal(after.refreshToken, all[0]!.refreshToken)
  assert.notEqual(after.refreshToken, before.refreshToken)
  assert.equal(accounts.get('openai')?.accountId, 'account-1')
})

test('the rotated token is the one that is used next', async () => {
  await signIn(60)
  at.issuer.lifetime = 60
  const tokens = [
    await accounts.fresh('openai'),
    await accounts.fresh('openai'),
    await accounts.fresh('openai'),
  ]
  assert.equal(new Set(tokens.map((one) => one!.refreshToken)).size, 3)
})

test('an issuer that gives no new refresh token leaves the old one in use', async () => {
  await signIn(60)
  at.issuer.rotates = false
  at.issuer.lifetime = 60
  const [one, two] = [await accounts.fresh('openai'), await accounts.fresh('openai')]
  assert.equal(one!.refreshToken, two!.refreshToken)
  assert.notEqual(one!.accessToken, two!.accessToken)
})

test('a token that somebody else has used is refused; what is said has no token in it, and nothing is lost', async () => {
  await signIn(60)
  const { refreshToken } = JSON.parse((await secrets.get('oauth.openai'))!) as { refreshToken: string }
  const body = new URLSearchParams({
    grant_type: 'refresh_token',
    refresh_token: refreshToken,
    client_id: at.issuer.clientId,
  })
  assert.equal((await fetch(`${at.issuer.url}/token`, { method: 'POST', body })).status, 200)
  await assert.rejects(accounts.fresh('openai'), (error: Error) => {
    assert.match(error.message, /invalid_grant/)
    assert.ok(!error.message.includes(refreshToken))
    assert.equal(error.cause, undefined)
    return true
  })
  assert.ok(secrets.has('oauth.openai'))
})

test('an issuer that is down costs this try only', async () => {
  await signIn(60)
  at.issuer.instead = (_, response) => {
    response.destroy()
    return true
  }
  await assert.rejects(accounts.fresh('openai'), /cannot be reached/)
  at.issuer.instead = null
  assert.match((await accounts.fresh('openai'))!.accessToken, /^access-/)
})

test('who signs out while a token is renewed stays signed out', async () => {
  await signIn(60)
  at.issuer.instead = (path) => {
    if (path === '/token') void secrets.remove('oauth.openai')
    return false
  }
  await assert.rejects(accounts.fresh('openai'), /signed out/)
  assert.equal(secrets.has('oauth.openai'), false)
  assert.equal(await accounts.fresh('openai'), null)
})
