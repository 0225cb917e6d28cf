import assert from 'node:assert/strict'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, beforeEach, test } from 'node:test'
import { startSignIn, type TestSignIn } from './support.ts'

let at: TestSignIn

beforeEach(async () => {
  at = await startSignIn()
})

afterEach(() => at.stop())

async function begin(): Promise<{ flowId: string; url: string; redirect: URL }> {
  const { flowId } = at.signin.start({ provider: 'openai', mode: 'browser' })
  const { url } = await at.step(flowId, 'url')
  return { flowId, url, redirect: new URL(new URL(url).searchParams.get('redirect_uri')!) }
}

async function failure(flowId: string): Promise<{ message: string; cancelled: boolean }> {
  await at.end(flowId)
  return at.step(flowId, 'failed')
}

/** A redirect as the issuer would make it, with other words in it. */
async function redirected(url: string, changes: Record<string, string>): Promise<URL> {
  const response = await fetch(url, { redirect: 'manual' })
  const target = new URL(response.headers.get('location')!)
  for (const [name, value] of Object.entries(changes)) target.searchParams.set(name, value)
  return target
}

/** With fetch a Host header cannot be chosen. */
function statusFor(url: URL, options: { host?: string; method?: string }): Promise<number> {
  return new Promise((resolve, reject) => {
    const { hostname, port, pathname, search } = url
    const headers = options.host === undefined ? {} : { host: options.host }
    const asked = request(
      { hostname, port, path: pathname + search, method: options.method ?? 'GET', headers },
      (response) => {
        response.resume()
        resolve(response.statusCode!)
      },
    )
    asked.once('error', reject)
    asked.end()
  })
}

test('a person signs in: events in order, the page says so, the tokens are kept', async () => {
  const { flowId, url } = await begin()
  const page = await at.issuer.approve(url)
  assert.equal(page.status, 200)
  assert.match(await page.text(), /Signed in/)
  const { state, events } = await at.end(flowId)
  assert.equal(state, 'completed')
  assert.deepEqual(
    events.map(({ type, index }) => `${index} ${type}`),
    ['1 started', '2 url', '3 completed'],
  )
  assert.ok(events.every((event) => event.flowId === flowId && event.provider === 'openai'))
  const profile = { email: 'pat@example.com', name: 'Pat', picture: `${at.issuer.url}/pat.png` }
  const { loginMethod, accountId, profile: told } = await at.step(flowId, 'completed')
  assert.deepEqual(
    { loginMethod, accountId, told },
    { loginMethod: 'browser', accountId: 'account-1', told: profile },
  )
  assert.match(at.stored(), /refresh-/)
  const [account] = at.again().status().accounts
  assert.deepEqual(
    [account?.provider, account?.accountId, account?.profile],
    ['openai', 'account-1', profile],
  )
  for (const secret of at.issuer.secrets) {
    assert.ok(!JSON.stringify([events, at.signin.status(), at.notices]).includes(secret))
  }
  assert.equal(at.changes(), 1)
})

test('the request has PKCE, a state, and a redirect to this machine', async () => {
  const { url, redirect } = await begin()
  const query = new URL(url).searchParams
  assert.equal(query.get('code_challenge_method'), 'S256')
  assert.match(query.get('code_challenge')!, /^[\w-]{43}$/)
  assert.ok(query.get('state')!.length >= 32)
  assert.equal(redirect.pathname, '/auth/callback')
  assert.equal(redirect.hostname, 'localhost')
})

test('a wrong state gets 400 and ends the flow; the code is not redeemed', async () => {
  const { flowId, url } = await begin()
  const page = await fetch(await redirected(url, { state: 'another' }))
  assert.equal(page.status, 400)
  assert.match(await page.text(), /Not signed in/)
  const { message, cancelled } = await failure(flowId)
  assert.match(message, /cannot be used/)
  assert.equal(cancelled, false)
  assert.ok(!at.issuer.requests.includes('POST /token'))
})

test('a code of another request does not pass: the issuer compares the verifier', async () => {
  const first = await begin()
  const stolen = (await redirected(first.url, {})).searchParams.get('code')!
  at.signin.cancel(first.flowId)
  await at.end(first.flowId)
  const { flowId, url } = await begin()
  const page = await fetch(await redirected(url, { code: stolen }))
  assert.equal(page.status, 400)
  const { message } = await failure(flowId)
  assert.match(message, /invalid_grant/)
  assert.ok(!message.includes(stolen))
})

test('a redirect is good for one use', async () => {
  const { flowId, url } = await begin()
  const target = await redirected(url, {})
  const [one, two] = await Promise.all([fetch(target), fetch(target)])
  assert.deepEqual(new Set([one.status, two.status]), new Set([200, 410]))
  assert.equal((await at.end(flowId)).state, 'completed')
  assert.equal(at.issuer.requests.filter((line) => line === 'POST /token').length, 1)
})

test('an error of the issuer is told, in a known word only', async () => {
  const { flowId, url } = await begin()
  const target = await redirected(url, { error: 'access_denied', error_description: '<b>no</b>' })
  const page = await (await fetch(target)).text()
  assert.match(page, /Access was denied/)
  assert.doesNotMatch(page, /<b>/)
  assert.equal((await failure(flowId)).message, 'access was denied')
})

test('foreign names, other paths and other methods are refused, and the flow goes on', async () => {
  const { flowId, url } = await begin()
  const target = await redirected(url, {})
  assert.equal(await statusFor(target, { host: 'evil.example' }), 403)
  assert.equal(await statusFor(target, { method: 'POST' }), 405)
  assert.equal(await statusFor(new URL('/', target), {}), 404)
  assert.equal((await fetch(target)).status, 200)
  assert.equal((await at.end(flowId)).state, 'completed')
})

test('a port that is taken leaves any other one', async () => {
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  const { port } = other.address() as AddressInfo
  await at.stop()
  at = await startSignIn({ settings: { openaiPort: port } })
  const taken = await begin()
  assert.notEqual(taken.redirect.port, String(port))
  at.signin.cancel(taken.flowId)
  await at.end(taken.flowId)
  await new Promise<void>((resolve) => other.close(() => resolve()))
  assert.equal((await begin()).redirect.port, String(port))
})

test('cancelled, it ends at once, gives back its port, and keeps nothing', async () => {
  const { flowId, url, redirect } = await begin()
  const target = await redirected(url, {})
  assert.equal(at.signin.cancel(flowId), true)
  assert.deepEqual((({ message, cancelled }) => ({ message, cancelled }))(await failure(flowId)), {
    message: 'it was cancelled',
    cancelled: true,
  })
  assert.equal(at.signin.cancel(flowId), false)
  await assert.rejects(fetch(target))
  assert.deepEqual(at.signin.status(), { accounts: [], keys: [], flows: [] })
  assert.ok(redirect.port)
})

test('nobody comes in time', async () => {
  await at.stop()
  at = await startSignIn({ settings: { timeoutMs: 300 } })
  const { flowId } = await begin()
  const { message, cancelled } = await failure(flowId)
  assert.deepEqual([message, cancelled], ['nobody has signed in in time', false])
})

test('a second start joins the first; with another way it takes its place', async () => {
  const { flowId } = await begin()
  assert.deepEqual(at.signin.start({ provider: 'openai', mode: 'browser' }), { flowId, joined: true })
  assert.deepEqual(at.signin.start({ provider: 'openai' }), { flowId, joined: true })
  const other = at.signin.start({ provider: 'antigravity', mode: 'browser' })
  assert.equal(other.joined, false)
  const second = at.signin.start({ provider: 'openai', mode: 'device_code' })
  assert.equal(second.joined, false)
  const { message, cancelled } = await failure(flowId)
  assert.deepEqual([message, cancelled], ['another sign-in took its place', true])
  assert.equal((await at.end(second.flowId)).state, 'completed')
  await at.issuer.approve((await at.step(other.flowId, 'url')).url)
  assert.equal((await at.end(other.flowId)).state, 'completed')
  assert.deepEqual(
    at.signin.status().accounts.map(({ provider, loginMethod }) => `${provider} ${loginMethod}`),
    ['openai device_code', 'antigravity browser'],
  )
})

test('an issuer that is down, or talks nonsense, is named as the reason', async () => {
  const nonsense: [string, string, RegExp][] = [
    ['/.well-known/openid-configuration', 'not json', /OAUTH_/],
    ['/.well-known/openid-configuration', '{"issuer":"https://other.example"}', /OAUTH_/],
    ['/token', '{"token_type":"Bearer"}', /OAUTH_INVALID_RESPONSE/],
    ['/token', '{"access_token":"access-leak","token_type":"mystery"}', /OAUTH_/],
    ['/token', '{"access_token":"access-leak","token_type":"Bearer","id_token":"x.y.z"}', /OAUTH_/],
  ]
  for (const [path, body, expected] of nonsense) {
    at.issuer.instead = (asked, response) => {
      if (asked !== path) return false
      response.writeHead(200, { 'content-type': 'application/json' }).end(body)
      return true
    }
    const { flowId } = at.signin.start({ provider: 'openai', mode: 'browser' })
    if (path === '/token') await at.issuer.approve((await at.step(flowId, 'url')).url)
    const { message } = await failure(flowId)
    assert.match(message, expected)
    assert.doesNotMatch(message, /leak/)
  }
  await at.issuer.close()
  const { flowId } = at.signin.start({ provider: 'openai', mode: 'browser' })
  assert.match((await failure(flowId)).message, /cannot be reached \((ECONNREFUSED|UND_ERR_SOCKET)\)/)
})

test('plain HTTP is for issuers of this machine only, and who has no client id signs nobody in', async () => {
  await at.stop()
  at = await startSignIn({
    settings: { openaiIssuer: 'http://issuer.example', antigravityClientId: null },
  })
  const plain = at.signin.start({ provider: 'openai' })
  assert.match((await failure(plain.flowId)).message, /signin\.openaiIssuer must begin with https:/)
  const nobody = at.signin.start({ provider: 'antigravity' })
  assert.match((await failure(nobody.flowId)).message, /set signin\.antigravityClientId/)
  assert.deepEqual(at.issuer.requests, [])
})

test('when the daemon stops, so does the flow', async () => {
  const { flowId } = await begin()
  await at.signin.close()
  assert.equal((await at.signin.flow(flowId)).state, 'failed')
})
