import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'
import { keychainOf } from '../../src/signin/keychain.ts'
import { openSecrets, type Secrets } from '../../src/signin/secrets.ts'
import { fakeKeychain, type FakeKeychain } from './fake-keychain.ts'

let dir: string
let path: string
let notices: string[]

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'corral-secrets-'))
  path = join(dir, 'signin.json')
  notices = []
})

afterEach(() => rmSync(dir, { recursive: true, force: true }))

const notice = (message: string): void => void notices.push(message)

function inFile(): Secrets {
  return openSecrets({ path, keychain: null, useKeychain: false, notice })
}

function withKeychain(fake: FakeKeychain, platform: NodeJS.Platform, useKeychain = true): Secrets {
  const keychain = keychainOf({ platform, env: fake.env, home: dir })
  return openSecrets({ path, keychain, useKeychain, notice })
}

const SECRET = 'sk-or-"quoted" $(rm) \\ ünï\nsecond line'

test('without a keychain secrets are in a file for its owner only, and come back after a restart', async () => {
  const secrets = inFile()
  assert.deepEqual(await secrets.set('openrouter', SECRET, { note: 1 }), { place: 'file', why: null })
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(await inFile().get('openrouter'), SECRET)
  assert.deepEqual(inFile().about('openrouter'), { note: 1 })
  assert.equal(await secrets.remove('openrouter'), true)
  assert.equal(await secrets.remove('openrouter'), false)
  assert.equal(await inFile().get('openrouter'), null)
  assert.deepEqual(readdirSync(dir), ['signin.json'])
})

test('many writes at once all hold', async () => {
  const secrets = inFile()
  const names = Array.from({ length: 20 }, (_, index) => `key${index}`)
  await Promise.all(names.map((name) => secrets.set(name, `value of ${name}`)))
  const again = inFile()
  for (const name of names) assert.equal(await again.get(name), `value of ${name}`)
})

test('rights that are too wide are tightened, and that is said', async () => {
  await inFile().set('exa', 'key')
  chmodSync(path, 0o644)
  assert.equal(await inFile().get('exa'), 'key')
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.match(notices[0]!, /open to others/)
})

test('a file that cannot be understood is put aside, and no word of it is said', async () => {
  writeFileSync(path, '{"version":1,"entries":{"exa":{"place":"file","value":"sk-leak"', { mode: 0o600 })
  const secrets = inFile()
  assert.equal(secrets.has('exa'), false)
  assert.match(notices[0]!, /put aside/)
  assert.doesNotMatch(notices[0]!, /sk-leak/)
  await secrets.set('exa', 'new')
  const aside = readdirSync(dir).find((name) => name.includes('broken'))!
  assert.match(readFileSync(join(dir, aside), 'utf8'), /sk-leak/)
})

test('what cannot be written is not kept, and is an error', async () => {
  const secrets = openSecrets({
    path: join(dir, 'gone', 'signin.json'),
    keychain: null,
    useKeychain: false,
    notice,
  })
  await assert.rejects(secrets.set('exa', 'key'), { code: 'storage' })
  assert.equal(secrets.has('exa'), false)
})

for (const platform of ['linux', 'darwin'] as const) {
  test(`${platform}: the keychain has the secret, no argument and no file does`, async () => {
    const fake = fakeKeychain(dir)
    const secrets = withKeychain(fake, platform)
    assert.deepEqual(await secrets.set('openrouter', SECRET), { place: 'keychain', why: null })
    assert.equal(await withKeychain(fake, platform).get('openrouter'), SECRET)
    const encoded = Buffer.from(SECRET).toString('base64url')
    for (const text of [fake.argv(), readFileSync(path, 'utf8')]) {
      assert.ok(!text.includes('sk-or-') && !text.includes(encoded), text)
    }
    assert.ok(fake.stdin().includes(encoded))
    assert.equal(await secrets.remove('openrouter'), true)
    assert.deepEqual(fake.items(), [])
    assert.equal(await withKeychain(fake, platform).get('openrouter'), null)
  })

  test(`${platform}: a secret of many kilobytes comes back whole, and leaves nothing when a short one replaces it`, async () => {
    const fake = fakeKeychain(dir)
    const secrets = withKeychain(fake, platform)
    const long = 'x'.repeat(10_000) + 'ü'
    await secrets.set('oauth.openai', long)
    assert.equal(await withKeychain(fake, platform).get('oauth.openai'), long)
    await secrets.set('oauth.openai', 'short')
    assert.equal(await withKeychain(fake, platform).get('oauth.openai'), 'short')
    assert.equal(fake.items().length, 1)
  })

  test(`${platform}: a keychain that is locked leaves the secret to the file, with a notice that does not tell it`, async () => {
    const fake = fakeKeychain(dir)
    fake.lock()
    const secrets = withKeychain(fake, platform)
    const kept = await secrets.set('exa', 'sk-exa-1')
    assert.equal(kept.place, 'file')
    assert.match(kept.why!, /keychain cannot be used/)
    assert.match(notices.join('\n'), /exa is in .*signin\.json instead/)
    assert.doesNotMatch(notices.join('\n'), /sk-exa-1/)
    assert.equal(await withKeychain(fake, platform).get('exa'), 'sk-exa-1')
    fake.unlock()
    assert.equal((await secrets.set('exa', 'sk-exa-2')).place, 'keychain')
    assert.doesNotMatch(readFileSync(path, 'utf8'), /sk-exa/)
  })

  test(`${platform}: what is in a keychain that is locked now cannot be read, and is not lost`, async () => {
    const fake = fakeKeychain(dir)
    await withKeychain(fake, platform).set('exa', 'key')
    fake.lock()
    const secrets = withKeychain(fake, platform)
    await assert.rejects(secrets.get('exa'), { code: 'storage' })
    await assert.rejects(secrets.remove('exa'), { code: 'storage' })
    fake.unlock()
    assert.equal(await secrets.get('exa'), 'key')
  })
}

test('what a locked keychain did not let go of goes when the secret is forgotten', async () => {
  const fake = fakeKeychain(dir)
  await withKeychain(fake, 'linux').set('exa', 'old')
  fake.lock()
  assert.equal((await withKeychain(fake, 'linux').set('exa', 'new')).place, 'file')
  await assert.rejects(withKeychain(fake, 'linux').remove('exa'), { code: 'storage' })
  fake.unlock()
  assert.equal(fake.items().length, 1)
  const secrets = withKeychain(fake, 'linux')
  assert.equal(await secrets.get('exa'), 'new')
  assert.equal(await secrets.remove('exa'), true)
  assert.deepEqual(fake.items(), [])
})

test('without the program there is no keychain', async () => {
  const env = { PATH: dir }
  const keychain = keychainOf({ platform: 'linux', env, home: dir })
  const kept = await openSecrets({ path, keychain, useKeychain: true, notice }).set('exa', 'key')
  assert.deepEqual(kept, {
    place: 'file',
    why: 'the keychain cannot be used: secret-tool is not installed',
  })
})

test('who wants no keychain keeps what is in it readable; what is new goes to the file', async () => {
  const fake = fakeKeychain(dir)
  await withKeychain(fake, 'linux').set('exa', 'old')
  const secrets = withKeychain(fake, 'linux', false)
  assert.equal(await secrets.get('exa'), 'old')
  assert.deepEqual(await secrets.set('exa', 'new'), { place: 'file', why: null })
  assert.equal(await secrets.get('exa'), 'new')
  assert.deepEqual(fake.items(), [])
})

test('nothing is asked of the keychain while there is nothing in it', async () => {
  const fake = fakeKeychain(dir)
  assert.equal(await withKeychain(fake, 'linux').get('exa'), null)
  assert.equal(fake.argv(), '')
})
