import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test, type TestContext } from 'node:test'
import { connect } from '../../../src/client/client.ts'
import { fakeKeychain, type FakeKeychain } from '../../signin/fake-keychain.ts'
import { startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { startIssuer, type OAuthIssuer } from '../../support/oauth-issuer.ts'
import { until } from '../../support/wait.ts'
import { clientFor, demoSession, startClient, type Client, type Line } from './support.ts'

let issuer: OAuthIssuer
let daemon: TestDaemon
let keychain: FakeKeychain
let keychainDir: string
let client: Client

before(async () => {
  issuer = await startIssuer()
  keychainDir = mkdtempSync(join(tmpdir(), 'corral-keychain-'))
  keychain = fakeKeychain(keychainDir)
  daemon = await startDaemon({ env: { ...settingsFor(issuer), ...withKeychain(keychain), CI: '1' } })
  client = startClient(daemon)
})

after(async () => {
  await client.close()
  await daemon.stop()
  await issuer.close()
  rmSync(keychainDir, { recursive: true, force: true })
})

afterEach(async () => {
  issuer.instead = null
  issuer.deviceAnswers = []
  const native = await connect(daemon.socket)
  for (const name of ['openai', 'antigravity', 'openrouter', 'exa', 'anthropic'] as const) {
    await native.call('signin.forget', { name })
  }
  native.close()
})

function settingsFor({ url, clientId }: OAuthIssuer): NodeJS.ProcessEnv {
  return {
    CORRAL_SIGNIN_OPENAI_ISSUER: url,
    CORRAL_SIGNIN_OPENAI_CLIENT_ID: clientId,
    CORRAL_SIGNIN_OPENAI_PORT: '0',
    CORRAL_SIGNIN_ANTIGRAVITY_ISSUER: url,
    CORRAL_SIGNIN_ANTIGRAVITY_CLIENT_ID: clientId,
    CORRAL_SIGNIN_ANTIGRAVITY_SCOPES: 'openid email profile',
  }
}

function withKeychain({ env }: FakeKeychain): NodeJS.ProcessEnv {
  return { ...env, PATH: `${env['PATH']}:${process.env['PATH']}` }
}

interface Begun {
  /** The lines since. */
  lines(): Line[]
  flowId(): Promise<string>
  url(): Promise<string>
  answer: Promise<Line>
}

function begin(who: Client, method: string, params?: object): Begun {
  const from = who.lines.length
  const answer = who.ask(method, params)
  const told = async (type: string) => (await who.event(`auth.flow.${type}`, undefined, from)).payload
  return {
    lines: () => who.lines.slice(from),
    flowId: async () => (await told('started'))['flow_id'] as string,
    url: async () => (await told('url'))['url'] as string,
    answer,
  }
}

/** Lines in short: types of events, `=` for an answer, `!` for an error. */
function order(lines: readonly Line[]): string[] {
  return lines.map(({ params, error }) => params?.type.replace('auth.flow.', '') ?? (error ? '!' : '='))
}

/** Every text that the user's files have, but for those that agents are given. */
function written(home: string): { path: string; text: string; mode: number }[] {
  return readdirSync(home, { recursive: true, encoding: 'utf8' })
    .filter((path) => !path.startsWith('.codex') && !path.startsWith('.gemini'))
    .map((path) => join(home, path))
    .filter((path) => existsSync(path) && statSync(path).isFile())
    .map((path) => ({ path, text: readFileSync(path, 'latin1'), mode: statSync(path).mode & 0o777 }))
}

/** No line, log or file has anything secret; only `allowed`, which nobody else may read. */
function assertNothingLeaked(who: Client, home: string, secrets: string[], allowed?: string): void {
  const said = [JSON.stringify(who.lines), who.stderr(), daemon.output()].join('\n')
  for (const secret of secrets) {
    assert.ok(!said.includes(secret))
    for (const { path, text, mode } of written(home)) {
      if (!text.includes(secret)) continue
      assert.deepEqual([path, mode], [allowed, 0o600])
    }
  }
}

describe('in the browser', () => {
  test('somebody signs in, and all is told in order', async () => {
    const { url, answer, lines, flowId } = begin(client, 'auth.connect.openai', { mode: 'browser' })
    const page = await issuer.approve(await url())
    assert.equal(page.status, 200)
    const { result } = await answer
    const outcome = { provider: 'openai', login_method: 'browser', account_id: 'account-1' }
    assert.deepEqual(result, outcome)
    assert.deepEqual(order(lines()), ['started', 'url', 'completed', 'state.changed', '='])
    const [started, shown, completed, changed] = lines().map(({ params }) => params?.payload)
    const flow = { provider: 'openai', flow_id: await flowId() }
    assert.deepEqual(started, flow)
    assert.deepEqual(shown, { ...flow, url: await url() })
    assert.deepEqual(completed, { ...flow, ...outcome })
    assert.equal(changed!.reason, 'auth_openai_connected')
    assert.equal((changed!['snapshot'] as { auth: { hasOpenAiToken: boolean } }).auth.hasOpenAiToken, true)
    assert.equal((await client.call('auth.status'))['has_openai_token'], true)
    assert.ok(keychain.items().length > 0)
    assertNothingLeaked(client, daemon.home, issuer.secrets)
  })

  test('Google has a profile, and limits are honest about what nobody tells', async () => {
    assert.equal((await client.fails('limits.get')).message, 'limits requires at least one oauth provider')
    const { url, answer, lines } = begin(client, 'auth.connect.antigravity')
    await issuer.approve(await url())
    const profile = { email: 'pat@example.com', name: 'Pat', picture: `${issuer.url}/pat.png` }
    assert.deepEqual((await answer).result, { provider: 'antigravity', profile })
    assert.deepEqual(order(lines()), ['started', 'url', 'completed', 'state.changed', '='])
    assert.equal(lines()[3]!.params!.payload.reason, 'auth_antigravity_connected')
    const status = await client.call('auth.status')
    assert.deepEqual([status['has_antigravity_token'], status['antigravity_profile']], [true, profile])
    const { openai, antigravity } = await client.call('limits.get')
    assert.deepEqual([openai, (antigravity as { ok: boolean }).ok], [null, false])
  })

  test('a wrong state is refused in the browser and here', async () => {
    const { url, answer, lines } = begin(client, 'auth.connect.openai', { mode: 'browser' })
    const redirect = new URL(new URL(await url()).searchParams.get('redirect_uri')!)
    redirect.search = new URLSearchParams({ code: 'stolen', state: 'forged' }).toString()
    assert.equal((await fetch(redirect)).status, 400)
    const { error } = await answer
    assert.deepEqual([error!.code, error!.data.reason], [-32603, 'internal_error'])
    assert.deepEqual(order(lines()), ['started', 'url', 'failed', '!'])
    assert.equal(lines()[2]!.params!.payload.message, error!.message)
  })

  test('an issuer that is not there is a failure with words', async () => {
    issuer.instead = (_, response) => {
      response.destroy()
      return true
    }
    const { answer, lines } = begin(client, 'auth.connect.openai', { mode: 'browser' })
    assert.match((await answer).error!.message, /the issuer cannot be reached/)
    assert.deepEqual(order(lines()), ['started', 'failed', '!'])
  })
})

describe('with a code', () => {
  test('it is shown, and asked about until somebody has typed it', async () => {
    issuer.deviceAnswers = ['authorization_pending', 'authorization_pending']
    const { answer, lines } = begin(client, 'auth.connect.openai', { mode: 'device_code' })
    const { result } = await answer
    assert.deepEqual([result!['login_method'], result!['account_id']], ['device_code', 'account-1'])
    const all = ['started', 'url', 'device_code', 'completed', 'state.changed', '=']
    assert.deepEqual(order(lines()), all)
    const { flow_id, ...code } = lines()[2]!.params!.payload
    assert.equal(flow_id, lines()[0]!.params!.payload['flow_id'])
    assert.deepEqual(code, {
      provider: 'openai',
      verification_url: `${issuer.url}/activate`,
      user_code: 'ABCD-EFGH',
      interval_seconds: 0.01,
      expires_in_seconds: 900,
    })
    assertNothingLeaked(client, daemon.home, issuer.secrets)
  })

  test('auto takes it where there is no screen; a mode that nobody knows is auto', async () => {
    for (const params of [undefined, { mode: 'pigeon', originator: 'test' }]) {
      const { result } = await begin(client, 'auth.connect.openai', params).answer
      assert.equal(result!['login_method'], 'device_code')
    }
  })

  for (const [answered, words] of [
    ['access_denied', /access was denied/],
    ['expired_token', /the code has expired/],
  ] as const) {
    test(`${answered} ends it`, async () => {
      issuer.deviceAnswers = ['authorization_pending', answered]
      const { answer, lines } = begin(client, 'auth.connect.openai', { mode: 'device_code' })
      assert.match((await answer).error!.message, words)
      assert.deepEqual(order(lines()), ['started', 'url', 'device_code', 'failed', '!'])
      assertNothingLeaked(client, daemon.home, issuer.secrets)
    })
  }

  test('is asked after as often as the issuer wants, with an engine of its own and no keychain', async (t) => {
    const home = mkdtempSync(join(tmpdir(), 'corral-loaf-'))
    t.after(() => rmSync(home, { recursive: true, force: true }))
    const env = { ...daemon.env, HOME: home, CORRAL_HOME: join(home, '.corral') }
    const own = clientFor(t, { project: home, env: { ...env, PATH: join(home, 'nothing') } }, [
      '--standalone',
    ])
    issuer.deviceAnswers = ['authorization_pending']
    const { interval } = issuer
    t.after(() => (issuer.interval = interval))
    issuer.interval = 0.3
    const begun = Date.now()
    const { answer } = begin(own, 'auth.connect.openai', { mode: 'device_code' })
    assert.equal((await answer).result!['login_method'], 'device_code')
    assert.ok(Date.now() - begun > 590)
    assertNothingLeaked(own, home, issuer.secrets, join(home, '.corral', 'signin.json'))
  })
})

describe('a flow', () => {
  test('can be cancelled by its id, once', async () => {
    const { flowId, url, answer, lines } = begin(client, 'auth.connect.openai', { mode: 'browser' })
    await url()
    const id = await flowId()
    assert.deepEqual(await client.call('auth.cancel', { flow_id: id }), { flow_id: id, cancelled: true })
    assert.match((await answer).error!.message, /cancelled/)
    assert.deepEqual(
      order(lines()).filter((one) => one === 'failed'),
      ['failed'],
    )
    for (const wrong of [id, 'nobody']) {
      assert.equal((await client.fails('auth.cancel', { flow_id: wrong })).data.kind, 'flow_not_found')
    }
  })

  test('is joined by as many as may wait, and everything else is still answered', async () => {
    const from = client.lines.length
    const asked = Array.from({ length: 300 }, () => client.ask('auth.connect.openai', { mode: 'browser' }))
    const { payload } = await client.event('auth.flow.url', undefined, from)
    await client.call('auth.cancel', { flow_id: payload['flow_id'] })
    const kinds = (await Promise.all(asked)).map(({ error }) => error!.data.kind)
    assert.equal(kinds.filter((kind) => kind !== 'busy').length, 20)
  })

  test('of each of two providers at once is told apart', async () => {
    const from = client.lines.length
    const openai = begin(client, 'auth.connect.openai', { mode: 'browser' })
    const google = begin(client, 'auth.connect.antigravity')
    const shown = (name: string) => client.event('auth.flow.url', (it) => it['provider'] === name, from)
    const [first, second] = await Promise.all([shown('openai'), shown('antigravity')])
    assert.notEqual(first.payload['flow_id'], second.payload['flow_id'])
    await Promise.all([first, second].map(({ payload }) => issuer.approve(payload['url'] as string)))
    assert.equal((await openai.answer).result!['provider'], 'openai')
    assert.equal((await google.answer).result!['provider'], 'antigravity')
  })

  test('of another process is joined, and goes on when that one leaves who only joined', async (t) => {
    const other = clientFor(t, daemon)
    const mine = begin(client, 'auth.connect.openai', { mode: 'browser' })
    const url = await mine.url()
    const theirs = begin(other, 'auth.connect.openai', { mode: 'browser' })
    assert.equal(await theirs.flowId(), await mine.flowId())
    assert.equal(await theirs.url(), url)
    other.child.stdin!.end()
    assert.equal(await other.exited, 0)
    assert.ok((await theirs.answer).error)
    await issuer.approve(url)
    assert.equal((await mine.answer).result!['provider'], 'openai')
  })

  for (const end of ['stdin', 'SIGTERM'] as const) {
    test(`ends with the process that began it: ${end}`, async (t) => {
      const other = clientFor(t, daemon)
      const { url, answer, lines } = begin(other, 'auth.connect.openai', { mode: 'browser' })
      const page = await url()
      if (end === 'stdin') other.child.stdin!.end()
      else other.child.kill(end)
      assert.equal(await other.exited, 0)
      assert.match((await answer).error!.message, /cancelled/)
      assert.ok(order(lines()).includes('failed'))
      await until(() => isGone(page), 'nobody at the address')
    })
  }

  test('does not outlive its daemon, and the process says so and goes on', async (t) => {
    const own = await startDaemon({ env: { ...settingsFor(issuer), CORRAL_SIGNIN_KEYCHAIN: 'false' } })
    t.after(() => own.stop())
    const other = clientFor(t, own)
    const { url, answer, lines, flowId } = begin(other, 'auth.connect.openai', { mode: 'browser' })
    await url()
    await own.kill9()
    await own.restart()
    assert.ok((await answer).error)
    const failed = lines().find(({ params }) => params?.type === 'auth.flow.failed')!.params!.payload
    assert.equal(failed['flow_id'], await flowId())
    assert.equal((await other.call('auth.status'))['has_openai_token'], false)
  })
})

async function isGone(page: string): Promise<true | null> {
  const redirect = new URL(page).searchParams.get('redirect_uri')!
  return fetch(redirect).then(
    () => null,
    () => true,
  )
}

describe('keys', () => {
  test('are kept and shown as what they are, never themselves', async () => {
    const from = client.lines.length
    const answer = await client.call('auth.set.openrouter_key', { api_key: ' sk-or-secret ' })
    assert.deepEqual([answer['configured'], answer['source']], [true, 'fallback'])
    assert.deepEqual(await client.call('auth.set.exa_key', { api_key: 'exa-secret' }), {
      configured: true,
      skipped: false,
    })
    assert.deepEqual(await client.call('auth.set.exa_key', { api_key: 'SKIP' }), {
      configured: false,
      skipped: true,
    })
    assert.deepEqual(await client.call('auth.set.anthropic_key', { api_key: 'sk-ant-secret' }), {
      configured: true,
    })
    const reasons = client.lines.slice(from).flatMap(({ params }) => params?.payload.reason ?? [])
    assert.deepEqual(reasons, [
      'openrouter_key_updated',
      'exa_key_updated',
      'exa_key_skipped',
      'anthropic_key_updated',
    ])
    const status = await client.call('auth.status')
    assert.deepEqual([status['has_openrouter_key'], status['has_anthropic_key']], [true, true])
    assert.equal(keychain.items().length, 3)
    assertNothingLeaked(client, daemon.home, ['sk-or-secret', 'exa-secret', 'sk-ant-secret'])
  })

  test('without which nothing is kept: empty, too long', async () => {
    assert.equal((await client.fails('auth.set.openrouter_key', { api_key: ' ' })).code, -32602)
    const long = await client.fails('auth.set.openrouter_key', { api_key: 'k'.repeat(20_000) })
    assert.equal(long.code, -32603)
    assert.ok(!JSON.stringify(long).includes('kkk'))
    assert.equal((await client.call('auth.status'))['has_openrouter_key'], false)
  })
})

test('/forgeteverything signs out of all that Corral keeps', async (t: TestContext) => {
  const other = clientFor(t, daemon)
  const sessionId = await demoSession(other)
  await begin(other, 'auth.connect.openai', { mode: 'device_code' }).answer
  await other.call('auth.set.anthropic_key', { api_key: 'sk-ant-secret' })
  const login = join(daemon.home, '.codex', 'auth.json')
  assert.ok(existsSync(login))
  const raw_command = '/forgeteverything'
  const { output } = await other.call('command.execute', { session_id: sessionId, raw_command })
  assert.deepEqual(output, { cleared: true })
  assert.deepEqual([existsSync(login), keychain.items()], [false, []])
  const { payload } = await other.event('state.changed', (it) => it.reason === 'forgeteverything')
  const { auth } = payload['snapshot'] as { auth: Record<string, unknown> }
  assert.deepEqual([auth['hasOpenAiToken'], auth['hasAnthropicKey']], [false, false])
})
