import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { signedIn as claude } from '../../src/agents/claude/signed-in.ts'
import { driversWith } from '../../src/agents/drivers.ts'
import type { SignedIn } from '../../src/agents/signed-in.ts'

const SECRET = 'sk-very-secret'

type Files = Record<string, string>

/** A home with these files, a directory that is removed at the end. */
function homeWith(t: TestContext, files: Files): string {
  const home = mkdtempSync(join(tmpdir(), 'corral-signed-in-'))
  t.after(() => rmSync(home, { recursive: true, force: true }))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, name)), { recursive: true })
    writeFileSync(join(home, name), text)
  }
  return home
}

const drivers = driversWith({ mine: { command: 'mine' } })

function look(agent: string, env: NodeJS.ProcessEnv): Promise<SignedIn> {
  return drivers.find(({ name }) => name === agent)!.signedIn(env)
}

const oauth = JSON.stringify({ claudeAiOauth: { accessToken: SECRET, refreshToken: SECRET } })
const codexProvider = (rest: string): string =>
  `model_provider = "mine" # ours\n\n[model_providers.mine]\nbase_url = "http://127.0.0.1:1/v1"\n${rest}`
const geminiSettings = (selectedType: string): string =>
  JSON.stringify({ security: { auth: { selectedType } } })

const cases: [
  agent: string,
  what: string,
  expected: boolean | null,
  files: Files,
  env?: NodeJS.ProcessEnv,
][] = [
  ['claude', 'nothing', false, {}],
  ['claude', 'an API key', true, {}, { ANTHROPIC_API_KEY: SECRET }],
  ['claude', 'an empty API key', false, {}, { ANTHROPIC_API_KEY: '' }],
  ['claude', 'a token', true, {}, { ANTHROPIC_AUTH_TOKEN: SECRET }],
  ['claude', 'a long-lived token', true, {}, { CLAUDE_CODE_OAUTH_TOKEN: SECRET }],
  ['claude', 'another cloud', null, {}, { CLAUDE_CODE_USE_BEDROCK: '1' }],
  ['claude', 'an account', true, { '.claude/.credentials.json': oauth }],
  ['claude', 'credentials without any', false, { '.claude/.credentials.json': '{"claudeAiOauth":{}}' }],
  ['claude', 'credentials cut short', null, { '.claude/.credentials.json': oauth.slice(0, 30) }],
  ['claude', 'a key of the console', true, { '.claude.json': `{"primaryApiKey":"${SECRET}"}` }],
  ['claude', 'a program for the key', true, { '.claude/settings.json': '{"apiKeyHelper":"/bin/key"}' }],
  ['claude', 'variables in settings', true, { '.claude/settings.json': '{"env":{"ANTHROPIC_API_KEY":"k"}}' }],
  ['codex', 'nothing', false, {}],
  ['codex', 'a variable that Codex does not use', false, {}, { OPENAI_API_KEY: SECRET }],
  ['codex', 'a stored key', true, { '.codex/auth.json': `{"OPENAI_API_KEY":"${SECRET}"}` }],
  ['codex', 'an account', true, { '.codex/auth.json': `{"tokens":{"access_token":"${SECRET}"}}` }],
  ['codex', 'a file without any', false, { '.codex/auth.json': '{"OPENAI_API_KEY":null,"tokens":null}' }],
  ['codex', 'another way in', null, { '.codex/auth.json': '{"agent_identity":{"id":"x"}}' }],
  ['codex', 'a keyring', null, { '.codex/config.toml': 'cli_auth_credentials_store = "keyring"\n' }],
  [
    'codex',
    'a provider whose key is set',
    true,
    { '.codex/config.toml': codexProvider('env_key = "MINE_KEY"\n') },
    { MINE_KEY: SECRET },
  ],
  [
    'codex',
    'a provider whose key is not',
    false,
    { '.codex/config.toml': codexProvider("env_key = 'MINE_KEY'") },
  ],
  ['codex', 'a provider without a key', null, { '.codex/config.toml': codexProvider('') }],
  ['gemini', 'nothing', false, {}],
  ['gemini', 'a key', true, {}, { GEMINI_API_KEY: SECRET }],
  ['gemini', 'a key in a file of variables', true, { '.gemini/.env': `export GEMINI_API_KEY="${SECRET}"\n` }],
  ['gemini', 'a gateway', null, {}, { GOOGLE_GEMINI_BASE_URL: 'http://127.0.0.1:1' }],
  [
    'gemini',
    'an account that was chosen and is not there',
    false,
    { '.gemini/settings.json': geminiSettings('oauth-personal') },
  ],
  [
    'gemini',
    'an account',
    true,
    {
      '.gemini/settings.json': geminiSettings('oauth-personal'),
      '.gemini/oauth_creds.json': `{"refresh_token":"${SECRET}"}`,
    },
  ],
  [
    'gemini',
    'an account that only Gemini can read',
    null,
    {
      '.gemini/settings.json': geminiSettings('oauth-personal'),
      '.gemini/gemini-credentials.json': 'sealed',
    },
  ],
  [
    'gemini',
    'a key that Gemini may keep itself',
    null,
    { '.gemini/settings.json': geminiSettings('gemini-api-key') },
  ],
  [
    'gemini',
    'settings with remarks',
    null,
    { '.gemini/settings.json': '{ // mine\n "selectedType": "gemini-api-key" }' },
  ],
  ['gemini', 'Vertex without a project', false, { '.gemini/settings.json': geminiSettings('vertex-ai') }],
  [
    'gemini',
    'Vertex with a key',
    true,
    { '.gemini/settings.json': geminiSettings('vertex-ai') },
    { GOOGLE_API_KEY: SECRET },
  ],
  [
    'gemini',
    'Vertex with a project',
    null,
    { '.gemini/settings.json': geminiSettings('vertex-ai') },
    { GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_CLOUD_LOCATION: 'l' },
  ],
  ['opencode', 'nothing', false, {}],
  ['opencode', 'a key', true, {}, { OPENROUTER_API_KEY: SECRET }],
  ['opencode', "somebody else's key", null, {}, { LINEAR_API_KEY: SECRET }],
  [
    'opencode',
    'an account',
    true,
    { '.local/share/opencode/auth.json': `{"x":{"type":"api","key":"${SECRET}"}}` },
  ],
  ['opencode', 'no accounts', false, { '.local/share/opencode/auth.json': '{}' }],
  [
    'opencode',
    'a provider of its own',
    null,
    { '.config/opencode/opencode.jsonc': '{ /* */ "provider": {} }' },
  ],
  ['mine', 'nothing', null, {}],
  ['demo', 'nothing', true, {}],
]

for (const [agent, what, expected, files, env] of cases) {
  test(`${agent} with ${what}: ${expected}`, async (t) => {
    const home = homeWith(t, files)
    const before = readdirSync(home, { recursive: true })
    const found = await look(agent, { HOME: home, ...env })
    assert.equal(found.signedIn, expected)
    assert.equal(found.hint === null, expected === true, String(found.hint))
    assert.ok(!JSON.stringify(found).includes(SECRET))
    assert.deepEqual(readdirSync(home, { recursive: true }), before)
  })
}

test('each agent has a directory of its own to be looked for in', async (t) => {
  const home = homeWith(t, {
    'c/.credentials.json': oauth,
    'x/auth.json': `{"OPENAI_API_KEY":"${SECRET}"}`,
    'g/.gemini/.env': 'GEMINI_API_KEY=k',
    'd/opencode/auth.json': '{"x":{"type":"api","key":"k"}}',
  })
  const env = { HOME: '/nowhere', XDG_DATA_HOME: join(home, 'd'), GEMINI_CLI_HOME: join(home, 'g') }
  const all = { ...env, CLAUDE_CONFIG_DIR: join(home, 'c'), CODEX_HOME: join(home, 'x') }
  for (const agent of ['claude', 'codex', 'gemini', 'opencode']) {
    assert.equal((await look(agent, all)).signedIn, true, agent)
  }
})

test('on a Mac what Claude has in the keychain is not known', async (t) => {
  const HOME = homeWith(t, {})
  assert.equal((await claude({ HOME }, 'darwin')).signedIn, null)
  assert.equal((await claude({ HOME, ANTHROPIC_API_KEY: 'k' }, 'darwin')).signedIn, true)
})

const asRoot = process.getuid?.() === 0 && 'root may read anything'
test('what must not be read is not taken for a no', { skip: asRoot }, async (t) => {
  const home = homeWith(t, { '.codex/auth.json': '{}' })
  chmodSync(join(home, '.codex/auth.json'), 0)
  assert.equal((await look('codex', { HOME: home })).signedIn, null)
})

test('a directory in the place of a credential is not taken for a no', async (t) => {
  const home = homeWith(t, { '.codex/auth.json/x': '' })
  assert.equal((await look('codex', { HOME: home })).signedIn, null)
})
