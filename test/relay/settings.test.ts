import assert from 'node:assert/strict'
import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { RelayFailure } from '../../src/relay/failure.ts'
import { openSettings, type SettingsStore } from '../../src/relay/settings/settings.ts'
import { scratch } from './servers.ts'

const LICENSE = 'ir_live_0123456789abcdWXYZ'
const API_KEY = 'sk-upstream-0123456789'
const BULLETS = '•'.repeat(8)
const UPSTREAM = { name: 'local', kind: 'openai', baseUrl: 'http://127.0.0.1:11434/v1', apiKey: API_KEY }

function open(directory = scratch(), env: NodeJS.ProcessEnv = {}) {
  const problems: string[] = []
  const path = join(directory, 'relay.json')
  const settings = openSettings({ path, env, onProblem: (problem) => problems.push(problem) })
  return { settings, path, problems, directory }
}

function refused(settings: SettingsStore, body: unknown): { field: string | null; message: string } {
  try {
    settings.patch(body)
  } catch (error) {
    assert.ok(error instanceof RelayFailure, String(error))
    assert.equal(error.status, 400)
    return { field: error.field, message: error.message }
  }
  assert.fail(`taken: ${JSON.stringify(body)}`)
}

test('without a file there are defaults, and none is made', () => {
  const { settings, path } = open()
  const { agent, licenseKey, builtinToolsEnabled, storePrompts, poolSize, upstreams } = settings.current()
  assert.deepEqual(
    [agent, licenseKey, builtinToolsEnabled, storePrompts, poolSize, upstreams],
    ['claude', null, false, false, 2, []],
  )
  assert.equal(existsSync(path), false)
})

test('a change is kept, for its owner only, and changes nothing else', () => {
  const { settings, path, directory } = open()
  settings.patch({ licenseKey: LICENSE, poolSize: 5 })
  settings.patch({ storePrompts: true, workingDir: directory })
  const again = open(directory).settings.current()
  assert.equal(again.licenseKey, LICENSE)
  assert.equal(again.poolSize, 5)
  assert.equal(again.workingDir, directory)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.deepEqual(readdirSync(directory), ['relay.json'])
})

test('keys are shown by their last four, and may be sent back like that', () => {
  const { settings } = open()
  settings.patch({ licenseKey: LICENSE, upstreams: [UPSTREAM] })
  const view = settings.view()
  assert.equal(view.licenseKey, `${BULLETS}WXYZ`)
  assert.equal(view.upstreams[0]?.apiKey, `${BULLETS}6789`)
  assert.ok(!JSON.stringify(view).includes(API_KEY))
  settings.patch(view)
  assert.equal(settings.current().licenseKey, LICENSE)
  assert.equal(settings.current().upstreams[0]?.apiKey, API_KEY)
  assert.deepEqual(settings.secrets(), [LICENSE, API_KEY])
  settings.patch({ licenseKey: null, upstreams: [{ ...UPSTREAM, apiKey: 'short-key' }] })
  assert.equal(settings.view().licenseKey, null)
  assert.equal(settings.view().upstreams[0]?.apiKey, BULLETS)
})

test('a key that is sent back redacted goes to no other server', () => {
  const { settings } = open()
  settings.patch({ upstreams: [UPSTREAM] })
  const shown = settings.view().upstreams[0]!
  const elsewhere = { ...shown, baseUrl: 'http://127.0.0.1:4711/v1' }
  assert.equal(refused(settings, { upstreams: [elsewhere] }).field, 'upstreams.0.apiKey')
  assert.equal(settings.current().upstreams[0]?.baseUrl, UPSTREAM.baseUrl)
  settings.patch({ upstreams: [{ ...shown, baseUrl: 'http://127.0.0.1:11434/v2' }] })
  assert.equal(settings.current().upstreams[0]?.apiKey, API_KEY)
})

test('what is wrong is refused by its name, and nothing is changed', () => {
  const { settings, path } = open()
  for (const [body, field, words] of [
    [{ poolSize: 'two' }, 'poolSize', /poolSize: /],
    [{ poolSize: -1 }, 'poolSize', /poolSize: /],
    [{ builtinToolsEnabled: 'yes' }, 'builtinToolsEnabled', /builtinToolsEnabled: /],
    [{ agent: '../x' }, 'agent', /name of an agent/],
    [{ mode: 'wild' }, 'mode', /mode: /],
    [{ workingDir: 'relative' }, 'workingDir', /absolute/],
    [{ workingDir: '/no/such/directory' }, 'workingDir', /no such directory/],
    [{ licenseKey: 'with\nnewline' }, 'licenseKey', /printable/],
    [{ licenseUrl: 'http://example.com/check' }, 'licenseUrl', /https/],
    [{ licenseUrl: 'file:///etc' }, 'licenseUrl', /http/],
    [{ prices: { x: { input: -1, output: 0 } } }, 'prices.x.input', /prices\.x\.input/],
    [{ upstreams: [{ ...UPSTREAM, kind: 'other' }] }, 'upstreams.0.kind', /upstreams\.0\.kind/],
    [{ upstreams: [{ ...UPSTREAM, baseUrl: 'http://me:pw@host' }] }, 'upstreams.0.baseUrl', /user name/],
    [{ upstreams: [UPSTREAM, UPSTREAM] }, 'upstreams', /different names/],
    [{ surprise: 1 }, 'surprise', /unknown field `surprise`/],
    [{ __proto__: null, constructor: 1 }, 'constructor', /unknown field/],
    [[], '', /object/],
    [null, '', /object/],
    ['text', '', /object/],
  ] as const) {
    const { field: got, message } = refused(settings, body)
    assert.equal(got, field, message)
    assert.match(message, words)
  }
  assert.equal(existsSync(path), false)
})

test('addresses on this machine need no https', () => {
  const { settings } = open()
  for (const licenseUrl of [
    'http://localhost:1/x',
    'http://127.0.0.1/x',
    'http://[::1]:9/x',
    'https://example.com/x',
  ]) {
    assert.equal(settings.patch({ licenseUrl }).licenseUrl, licenseUrl)
  }
})

test('the environment decides about the agent', () => {
  const { settings, directory } = open(scratch(), { CORRAL_RELAY_AGENT: 'demo' })
  assert.equal(settings.patch({ agent: 'codex' }).agent, 'demo')
  assert.equal(settings.view().agent, 'demo')
  assert.equal(open(directory).settings.current().agent, 'codex')
})

test('a file that others could read is tightened, with a warning', () => {
  const { settings, path, directory } = open()
  settings.patch({ poolSize: 3 })
  chmodSync(path, 0o644)
  const again = open(directory)
  assert.equal(again.settings.current().poolSize, 3)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.match(again.problems.join(), /open to others/)
})

test('a broken file is put aside, with a warning that quotes nothing of it', () => {
  for (const content of [
    '{"licenseKey":"secret-secret',
    '{"poolSize":"secret-secret"}',
    '[]',
    '{"nobody":1}',
  ]) {
    const directory = scratch()
    writeFileSync(join(directory, 'relay.json'), content, { mode: 0o600 })
    const { settings, problems } = open(directory)
    assert.equal(settings.current().poolSize, 2)
    assert.equal(problems.length, 1)
    assert.ok(!problems[0]!.includes('secret-secret'), problems[0])
    const [aside] = readdirSync(directory)
    assert.match(aside!, /^relay\.json\.broken-/)
    assert.equal(readFileSync(join(directory, aside!), 'utf8'), content)
  }
})
