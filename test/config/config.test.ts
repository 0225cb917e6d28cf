import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { ConfigError, loadConfig } from '../../src/config/config.ts'
import { SETTINGS } from '../../src/config/schema.ts'

function homeWith(t: TestContext, yaml?: string): string {
  const home = mkdtempSync(join(tmpdir(), 'corral-config-'))
  t.after(() => rmSync(home, { recursive: true }))
  if (yaml !== undefined) writeFileSync(join(home, 'config.yaml'), yaml)
  return home
}

async function problemWith(env: NodeJS.ProcessEnv, flags: Record<string, unknown> = {}): Promise<string> {
  try {
    await loadConfig({ env, flags, homedir: '/nowhere/me' })
  } catch (error) {
    assert.ok(error instanceof ConfigError)
    return error.message
  }
  assert.fail('expected a ConfigError')
}

test('without any source the defaults hold and everything is under ~/.corral', async () => {
  const config = await loadConfig({ env: {}, homedir: '/nowhere/me' })
  assert.equal(config.home, '/nowhere/me/.corral')
  assert.equal(config.socket, '/nowhere/me/.corral/corral.sock')
  assert.deepEqual(config.codecast, { enabled: true, port: null, bind: null })
  assert.equal(config.http.bodyLimit, 32 * 1024 * 1024)
  assert.equal(config.agents.maxWarm, 8)
  assert.deepEqual(config.retention, { days: null, destroyedDays: 30 })
})

test('the environment wins over the file and a flag wins over both', async (t) => {
  const home = homeWith(t, 'agents:\n  maxWarm: 1\n  idleMs: 2\n  spare: true\nqueue: { max: 3 }\n')
  const env = { CORRAL_HOME: home, CORRAL_AGENTS_IDLE_MS: '20', CORRAL_QUEUE_MAX: '30' }
  const config = await loadConfig({ env, flags: { 'queue.max': '300' } })
  assert.equal(config.agents.maxWarm, 1)
  assert.equal(config.agents.idleMs, 20)
  assert.equal(config.agents.spare, true)
  assert.equal(config.queue.max, 300)
})

test('a flag for the home directory wins over CORRAL_HOME, and a tilde is the user', async () => {
  const config = await loadConfig({ env: { CORRAL_HOME: '/a' }, flags: { home: '~/b' }, homedir: '/me' })
  assert.equal(config.home, '/me/b')
  assert.equal(config.paths.db, '/me/b/corral.db')
})

test('the socket can be moved where the home directory has too long a path', async () => {
  const config = await loadConfig({ env: { CORRAL_HOME: '/a', CORRAL_SOCKET: '/run/c.sock' } })
  assert.equal(config.socket, '/run/c.sock')
  assert.equal(config.paths.socket, '/run/c.sock')
})

test('an empty variable counts as not set', async () => {
  const config = await loadConfig({ env: { CORRAL_CODECAST_PORT: '' }, homedir: '/nowhere/me' })
  assert.equal(config.codecast.port, null)
})

test('every setting can be set by its variable', async () => {
  for (const { env, schema, path, initial } of SETTINGS) {
    const samples: unknown[] = [false, true, 12, 2048, 'warn', 'plan', '::1', 'http://127.0.0.1:1', null]
    const sample = samples.find((value) => value !== initial && schema.safeParse(value).success)
    const config = await loadConfig({ env: { [env]: String(sample) }, homedir: '/nowhere' })
    const [section, key] = path
    assert.deepEqual(
      (config as unknown as Record<string, Record<string, unknown>>)[section]![key],
      sample,
      env,
    )
  }
})

test('the configuration cannot be changed afterwards', async () => {
  const config = await loadConfig({ env: {} })
  assert.throws(() => Object.assign(config.agents, { maxWarm: 99 }), TypeError)
})

const wrongFiles: [yaml: string, key: string, says: RegExp][] = [
  [
    'agents:\n  maxwarm: 2\n',
    'agents.maxwarm',
    /config\.yaml: agents\.maxwarm is not a setting; agents has maxWarm, idleMs/,
  ],
  ['agent:\n  maxWarm: 2\n', 'agent', /agent is not a section; there are http, codecast, humanlayer/],
  ['agents:\n  maxWarm: many\n', 'agents.maxWarm', /must be a whole number from 0 to 1000, not "many"/],
  ['log:\n  level: loud\n', 'log.level', /must be one of info, warn, error, silent, not "loud"/],
  ['codecast:\n  port: 70000\n', 'codecast.port', /a whole number from 0 to 65535 or null, not 70000/],
  ['agents: 3\n', 'agents', /must hold settings/],
  ['- a\n', '', /must hold settings by section/],
  ['home: /x\n', 'home', /is set by CORRAL_HOME or --home, not in the file/],
  ['agents: {\n', '', /cannot be read/],
]

for (const [yaml, key, says] of wrongFiles) {
  test(`a file with ${JSON.stringify(yaml)} is refused, naming file and key`, async (t) => {
    const home = homeWith(t, yaml)
    await assert.rejects(loadConfig({ env: { CORRAL_HOME: home } }), (error: unknown) => {
      assert.ok(error instanceof ConfigError)
      assert.equal(error.source, join(home, 'config.yaml'))
      assert.equal(error.key, key)
      assert.match(error.message, says)
      return true
    })
  })
}

test('an empty file and an empty section are fine', async (t) => {
  for (const yaml of ['', 'agents:\n', '# nothing\n']) {
    const config = await loadConfig({ env: { CORRAL_HOME: homeWith(t, yaml) } })
    assert.equal(config.agents.maxWarm, 8)
  }
})

test('a wrong variable is named', async () => {
  const message = await problemWith({ CORRAL_CODECAST_PORT: 'http' })
  assert.equal(message, 'CORRAL_CODECAST_PORT: must be a whole number from 0 to 65535 or null, not "http"')
})

test('a wrong flag is named', async () => {
  assert.match(await problemWith({}, { 'codecast.port': '-1' }), /^--codecast-port: must be a whole number/)
})

test('what in the section agents has a command is an agent; the rest are settings', async (t) => {
  const yaml = 'agents:\n  maxWarm: 3\n  goose:\n    command: goose\n    args: [acp]\n    env: { A: b }\n'
  const config = await loadConfig({ env: { CORRAL_HOME: homeWith(t, yaml) } })
  assert.equal(config.agents.maxWarm, 3)
  assert.deepEqual(config.customAgents, { goose: { command: 'goose', args: ['acp'], env: { A: 'b' } } })
})

test('an agent that cannot be one is named, with what is wrong', async (t) => {
  const wrong: [yaml: string, message: RegExp][] = [
    ['agents: { goose: { args: [acp] } }', /agents\.goose\.command /],
    ['agents: { goose: { command: goose, mode: x } }', /agents\.goose .*mode/],
    ['agents: { claude: { command: x } }', /agents\.claude is built in/],
    ['agents: { Goose: { command: x } }', /agents\.Goose is no name for an agent/],
  ]
  for (const [yaml, message] of wrong) {
    assert.match(await problemWith({ CORRAL_HOME: homeWith(t, yaml) }), message)
  }
})
