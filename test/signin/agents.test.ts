import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { geminiSignedIn } from '../../src/agents/acp/signed-in-gemini.ts'
import { signedIn as codexSignedIn } from '../../src/agents/codex/signed-in.ts'
import { startSignIn, type TestSignIn } from './support.ts'

let at: TestSignIn
let ownAccount: boolean | null
let auth: string

beforeEach(async () => {
  ownAccount = false
  at = await startSignIn({ signedInItself: () => Promise.resolve(ownAccount) })
  auth = join(at.home, '.codex', 'auth.json')
})

afterEach(() => at.stop())

async function signIn(provider: 'openai' | 'antigravity' = 'openai'): Promise<void> {
  const { flowId } = at.signin.start({ provider, mode: 'device_code' })
  assert.equal((await at.end(flowId)).state, 'completed')
}

function theirs(path: string, text = '{"tokens":{"access_token":"mine"}}'): string {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return text
}

test('keys go to the agents that know them, and to no others', async () => {
  await at.signin.setKey('openrouter', ' sk-or-1\n')
  await at.signin.setKey('exa', 'exa-1')
  await at.signin.setKey('anthropic', 'sk-ant-1')
  await at.signin.setKey('gemini', 'AIza-1')
  const given = (agent: string) => at.signin.credentials(agent)
  assert.deepEqual(await given('opencode'), { OPENROUTER_API_KEY: 'sk-or-1', EXA_API_KEY: 'exa-1' })
  assert.deepEqual(await given('claude'), { ANTHROPIC_API_KEY: 'sk-ant-1' })
  assert.deepEqual(await given('gemini'), { GEMINI_API_KEY: 'AIza-1' })
  for (const agent of ['codex', 'demo', 'somebody']) assert.deepEqual(await given(agent), {})
  assert.deepEqual(at.signin.variables('claude'), ['ANTHROPIC_API_KEY'])
  assert.deepEqual(
    at.signin.status().keys.map(({ name }) => name),
    ['anthropic', 'exa', 'gemini', 'openrouter'],
  )
  assert.deepEqual(await at.signin.forget('exa'), { forgotten: true, keptFile: null })
  assert.deepEqual(await given('opencode'), { OPENROUTER_API_KEY: 'sk-or-1' })
  assert.deepEqual(await at.signin.forget('exa'), { forgotten: false, keptFile: null })
  assert.equal(at.changes(), 5)
})

test("a variable or an account of the user's own comes first", async () => {
  await at.signin.setKey('openrouter', 'sk-or-1')
  await at.signin.setKey('anthropic', 'sk-ant-1')
  at.env['OPENROUTER_API_KEY'] = 'own'
  assert.deepEqual(await at.signin.credentials('opencode'), {})
  ownAccount = true
  assert.deepEqual(await at.signin.credentials('claude'), {})
  ownAccount = null
  assert.deepEqual(await at.signin.credentials('claude'), { ANTHROPIC_API_KEY: 'sk-ant-1' })
})

test('an empty key is none', async () => {
  await assert.rejects(at.signin.setKey('exa', '  '), { code: 'invalid' })
  assert.deepEqual(at.signin.status().keys, [])
})

test('Codex gets its login file, for its owner only, and knows it as signed in', async () => {
  await signIn()
  const { tokens, OPENAI_API_KEY, last_refresh } = JSON.parse(readFileSync(auth, 'utf8')) as {
    tokens: Record<string, string>
    OPENAI_API_KEY: null
    last_refresh: string
  }
  assert.equal(OPENAI_API_KEY, null)
  assert.match(tokens['access_token']!, /^access-/)
  assert.match(tokens['refresh_token']!, /^refresh-/)
  assert.equal(tokens['id_token']!.split('.').length, 3)
  assert.equal(tokens['account_id'], 'account-1')
  assert.ok(Date.parse(last_refresh) > 0)
  assert.equal(statSync(auth).mode & 0o777, 0o600)
  assert.equal((await codexSignedIn({ HOME: at.home })).signedIn, true)
  assert.equal(at.signin.status().accounts[0]?.loginFile, auth)
})

test('Gemini gets its own, in its own form', async () => {
  await signIn('antigravity')
  const path = join(at.home, '.gemini', 'oauth_creds.json')
  const content = JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>
  assert.equal(content['token_type'], 'Bearer')
  assert.ok(Number(content['expiry_date']) > Date.now())
  theirs(join(at.home, '.gemini', 'settings.json'), '{"security":{"auth":{"selectedType":"oauth-personal"}}}')
  assert.equal((await geminiSignedIn({ HOME: at.home })).signedIn, true)
})

test('the directory that the agent was told is used', async () => {
  at.env['CODEX_HOME'] = join(at.home, 'elsewhere')
  await signIn()
  assert.ok(existsSync(join(at.home, 'elsewhere', 'auth.json')))
  assert.ok(!existsSync(auth))
})

test("a login file of the user's own stays, at sign-in, at each start and at sign-out", async () => {
  const text = theirs(auth)
  await signIn()
  await at.signin.credentials('codex')
  assert.deepEqual(await at.signin.forget('openai'), { forgotten: true, keptFile: null })
  assert.equal(readFileSync(auth, 'utf8'), text)
  assert.match(at.notices.join('\n'), /was left as it is/)
})

test('signed in again, its own file is replaced; one that the agent has renewed is not', async () => {
  await signIn()
  const first = readFileSync(auth, 'utf8')
  await signIn()
  assert.notEqual(readFileSync(auth, 'utf8'), first)
  const renewed = theirs(auth, first.replace('access-', 'renewed-'))
  await signIn()
  assert.equal(readFileSync(auth, 'utf8'), renewed)
  assert.deepEqual(await at.signin.forget('openai'), { forgotten: true, keptFile: auth })
  assert.equal(readFileSync(auth, 'utf8'), renewed)
})

test('signing out takes the file back', async () => {
  await signIn()
  assert.deepEqual(await at.signin.forget('openai'), { forgotten: true, keptFile: null })
  assert.ok(!existsSync(auth))
  assert.deepEqual(at.signin.status().accounts, [])
  for (const secret of at.issuer.secrets) assert.ok(!at.stored().includes(secret))
})

test('who signs out of the agent itself is not signed in again behind their back', async () => {
  await signIn()
  rmSync(auth)
  await at.signin.credentials('codex')
  assert.ok(!existsSync(auth))
})

test('an account that could not be handed over is when the agent starts, with tokens that hold', async () => {
  theirs(auth)
  at.issuer.lifetime = 60
  await signIn()
  rmSync(auth)
  at.issuer.lifetime = 3600
  await at.signin.credentials('codex')
  const { tokens } = JSON.parse(readFileSync(auth, 'utf8')) as { tokens: Record<string, string> }
  assert.ok(at.stored().includes(tokens['refresh_token']!))
  assert.equal(at.issuer.requests.filter((line) => line === 'POST /token').length, 2)
})

test('what cannot be read or written keeps no agent from starting', async () => {
  writeFileSync(join(at.home, '.codex'), 'in the way')
  await signIn()
  assert.deepEqual(await at.signin.credentials('codex'), {})
  assert.match(at.notices.join('\n'), /could not be given to its agent: (ENOTDIR|EEXIST)/)
  for (const secret of at.issuer.secrets) assert.ok(!at.notices.join('\n').includes(secret))
})
