import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { keychainOf } from '../../src/signin/keychain.ts'
import { openSecrets } from '../../src/signin/secrets.ts'
import { until } from '../support/wait.ts'
import { fakeKeychain } from './fake-keychain.ts'
import { filesBelow, startSignIn, type TestSignIn } from './support.ts'

let at: TestSignIn
let auth: string
let waits: number[]

beforeEach(async () => {
  waits = []
  at = await startSignIn({
    async sleep(ms, signal) {
      waits.push(ms)
      await new Promise((resolve) => setImmediate(resolve))
      signal.throwIfAborted()
    },
  })
  auth = join(at.home, '.codex', 'auth.json')
})

afterEach(() => at.stop())

async function begin(): Promise<{ flowId: string; url: string; redirect: URL; state: string }> {
  const { flowId } = at.signin.start({ provider: 'openai', mode: 'browser' })
  const { url } = await at.step(flowId, 'url')
  const query = new URL(url).searchParams
  return { flowId, url, redirect: new URL(query.get('redirect_uri')!), state: query.get('state')! }
}

async function failure(flowId: string): Promise<string> {
  await at.end(flowId)
  return (await at.step(flowId, 'failed')).message
}

/** Answers a path with this, as JSON. */
function answers(path: string, body: object): void {
  at.issuer.instead = (asked, response) => {
    if (asked !== path) return false
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body))
    return true
  }
}

describe('a page in the same browser', () => {
  test('that loads the address of the callback as anything but a page changes nothing', async () => {
    const { flowId, url, redirect } = await begin()
    for (const dest of ['image', 'empty', 'iframe', 'script']) {
      const guessed = new URL(`${redirect.href}?code=x&state=guessed`)
      assert.equal((await fetch(guessed, { headers: { 'sec-fetch-dest': dest } })).status, 403)
    }
    assert.equal((await at.issuer.approve(url)).status, 200)
    assert.equal((await at.end(flowId)).state, 'completed')
  })

  for (const error of ['constructor', '__proto__', 'toString']) {
    test(`gets words for the error ${error}, too`, async () => {
      const { flowId, redirect, state } = await begin()
      const page = await fetch(`${redirect.href}?error=${error}&state=${state}`)
      assert.match(await page.text(), /The issuer refused/)
      assert.equal(await failure(flowId), `the issuer refused (${error})`)
    })
  }
})

describe('an issuer', () => {
  const DESCRIPTION = '/.well-known/openid-configuration'

  test('that never stops talking is not listened to for ever', async () => {
    let sent = 0
    at.issuer.instead = (path, response) => {
      if (path !== DESCRIPTION) return false
      response.writeHead(200, { 'content-type': 'application/json' })
      const more = (): void => {
        if (response.destroyed || sent > 200e6) return void response.end()
        sent += 1e6
        response.write('x'.repeat(1e6), more)
      }
      more()
      return true
    }
    assert.match(await failure(at.signin.start({ provider: 'openai' }).flowId), /OAUTH_PARSE_ERROR/)
    assert.ok(sent < 50e6, `${sent} bytes`)
  })

  test('sends nobody to what is no page of the web', async () => {
    const endpoints = { token_endpoint: `${at.issuer.url}/token` }
    answers(DESCRIPTION, {
      issuer: at.issuer.url,
      authorization_endpoint: 'javascript:alert(1)//',
      ...endpoints,
    })
    const browser = at.signin.start({ provider: 'openai', mode: 'browser' })
    assert.match(await failure(browser.flowId), /none of the web/)
    answers('/device', {
      device_code: 'd',
      user_code: 'U',
      verification_uri: 'file:///etc/passwd',
      expires_in: 900,
    })
    const device = at.signin.start({ provider: 'openai', mode: 'device_code' })
    assert.match(await failure(device.flowId), /none of the web/)
  })

  test('that wants to be asked once in a thousand years is not asked all the time instead', async () => {
    at.issuer.interval = 1e11
    const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
    assert.equal((await at.end(flowId)).state, 'completed')
    assert.deepEqual(waits, [3_600_000])
  })
})

describe('a login file', () => {
  test('is not written into what somebody has left in its way', async () => {
    const draft = `${auth}.${process.pid}.corral`
    const elsewhere = join(at.home, 'elsewhere')
    mkdirSync(dirname(auth))
    writeFileSync(elsewhere, 'untouched')
    symlinkSync(elsewhere, draft)
    const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
    assert.equal((await at.end(flowId)).state, 'completed')
    assert.equal(readFileSync(elsewhere, 'utf8'), 'untouched')
    assert.equal(statSync(auth).mode & 0o777, 0o600)
  })

  test('that is no file holds up nobody', async () => {
    mkdirSync(dirname(auth))
    execFileSync('mkfifo', [auth])
    const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
    assert.equal((await at.end(flowId)).state, 'completed')
    assert.match(at.notices.join('\n'), /was left as it is/)
  })

  test('that cannot be taken back is not forgotten: signing out fails, and can be tried again', async (t) => {
    if (process.getuid?.() === 0) return t.skip('root may do anything')
    const { flowId } = at.signin.start({ provider: 'openai', mode: 'device_code' })
    await at.end(flowId)
    chmodSync(dirname(auth), 0o500)
    await assert.rejects(at.signin.forget('openai'), { code: 'EACCES' })
    chmodSync(dirname(auth), 0o700)
    assert.deepEqual(await at.signin.forget('openai'), { forgotten: true, keptFile: null })
    assert.ok(!existsSync(auth))
  })

  test('is not left by who signs out while the account is being kept; and that is too late to cancel', async (t) => {
    const fake = fakeKeychain(at.home)
    const slow = await startSignIn({ env: fake.env, settings: { keychain: true } })
    t.after(slow.stop)
    const { flowId } = slow.signin.start({ provider: 'openai', mode: 'device_code' })
    await until(() => fake.argv().includes('store'))
    assert.equal(slow.signin.cancel(flowId), false)
    assert.equal((await slow.signin.forget('openai')).forgotten, true)
    assert.equal((await slow.end(flowId)).state, 'completed')
    assert.deepEqual(fake.items(), [])
    assert.deepEqual(
      filesBelow(slow.home).filter((file) => file.endsWith('auth.json')),
      [],
    )
    assert.deepEqual(slow.signin.status().accounts, [])
  })
})

test('a key with characters that would break a line or an environment is refused', async () => {
  for (const key of ['sk-a\u0000b', 'sk-a\nEVIL=1', 'sk-\u001b[2J']) {
    await assert.rejects(at.signin.setKey('openrouter', key), { code: 'invalid' })
  }
  assert.deepEqual(await at.signin.credentials('opencode'), {})
})

test('a keychain that hangs, with what it has started, is not waited for', async () => {
  const bin = join(at.home, 'bin')
  const pid = join(at.home, 'pid')
  mkdirSync(bin)
  const program = `#!/bin/sh\n/bin/sleep 30 &\necho $! > ${pid}\nwait\n`
  writeFileSync(join(bin, 'secret-tool'), program, { mode: 0o755 })
  const keychain = keychainOf({ platform: 'linux', env: { PATH: bin }, home: at.home, patienceMs: 1000 })
  const path = join(at.home, 'other.json')
  const secrets = openSecrets({ path, keychain, useKeychain: true, notice: () => {} })
  const kept = await secrets.set('exa', 'key')
  // On a busy machine it may not even have got to that.
  if (existsSync(pid)) process.kill(Number(readFileSync(pid, 'utf8')))
  assert.equal(kept.place, 'file')
  assert.match(kept.why!, /took too long/)
})
