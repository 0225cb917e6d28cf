import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { signedText } from '../../../src/system/release.ts'
import { watchForUpdates } from '../../../src/dialects/clawde/update-watch.ts'
import { createUpdates, type UpdateSettings } from '../../../src/system/update.ts'
import { startDaemon } from '../../support/daemon.ts'
import { dial, rigFor, type Rig } from './support.ts'

const PACKAGE = Buffer.alloc(50_000, 'package ')
const KEYS = generateKeyPairSync('ed25519')
const PUBLIC = KEYS.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')

interface Feed {
  settings: UpdateSettings
  /** What it has signed last. */
  version: string
  /** What it hands out for it. */
  body: Buffer
  directory: string
}

/** A release server on loopback whose releases are really signed. */
async function feedFor(t: TestContext): Promise<Feed> {
  const server = createServer((request, response) => {
    if (request.url !== '/feed.json') return void response.end(feed.body)
    const sha256 = createHash('sha256').update(PACKAGE).digest('hex')
    const facts = { version: feed.version, url: 'corral.tgz', sha256, notes: 'Faster.' }
    const signature = sign(null, Buffer.from(signedText(facts)), KEYS.privateKey).toString('base64')
    response.end(JSON.stringify({ ...facts, signature }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const directory = mkdtempSync(join(tmpdir(), 'corral-feed-'))
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    rmSync(directory, { recursive: true, force: true })
  })
  const feed: Feed = {
    settings: {
      feed: `http://127.0.0.1:${(server.address() as AddressInfo).port}/feed.json`,
      publicKey: PUBLIC,
    },
    version: '10.0.0',
    body: PACKAGE,
    directory,
  }
  return feed
}

const rigOf = (t: TestContext, { settings, directory }: Feed): Promise<Rig> =>
  rigFor(t, { parts: { updates: createUpdates({ settings, current: '9.9.9', directory }) } })

test('a newer release in the feed is told to everybody, once', async (t) => {
  const feed = await feedFor(t)
  const { settings, directory } = feed
  const rig = await rigOf(t, feed)
  const clients = [await rig.client(), await rig.client()]
  const updates = createUpdates({ settings, current: '9.9.9', directory })
  const { updateAvailable } = rig.dialect
  t.after(watchForUpdates(updates, updateAvailable, () => {}, { firstMs: 1, everyMs: 20 }))
  for (const client of clients) {
    const told = await client.push('daemon.updateAvailable')
    const { current, latest, notes, policy, releaseNotesUrl } = told
    assert.deepEqual(
      { current, latest, notes, policy, releaseNotesUrl },
      { current: '9.9.9', latest: '10.0.0', notes: 'Faster.', policy: 'manual', releaseNotesUrl: '' },
    )
    assert.equal(told['release_notes_url'], '')
    assert.equal(typeof told['seq'], 'number')
  }
  feed.version = '10.1.0'
  await clients[0]!.push('daemon.updateAvailable', ({ latest }) => latest === '10.1.0')
  assert.equal(clients[0]!.pushes.length, 2)
})

test('applying one tells everybody that it is fetched, keeps what was signed, and says how to install it', async (t) => {
  const feed = await feedFor(t)
  const rig = await rigOf(t, feed)
  const [client, other] = [await rig.client(), await rig.client()]
  const check = await client.call('daemon.checkUpdate')
  assert.deepEqual(
    [check['current'], check['latest'], check['available'], check['update_available']],
    ['9.9.9', '10.0.0', true, true],
  )
  assert.equal((await client.call('daemon.status'))['pendingUpdate'], null)
  const answer = await client.call('daemon.applyUpdate')
  assert.deepEqual([answer['applied'], answer['staged'], answer['version']], [false, true, '10.0.0'])
  const path = join(feed.directory, 'corral-10.0.0.tgz')
  assert.ok(String(answer['command']).includes(path))
  assert.deepEqual(readFileSync(path), PACKAGE)
  for (const one of [client, other]) assert.equal((await one.push('daemon.updating'))['version'], '10.0.0')
  assert.equal((await client.call('daemon.status'))['pending_update'], '10.0.0')

  feed.version = '9.9.9'
  assert.equal((await client.call('daemon.checkUpdate'))['available'], false)
  assert.match(String((await client.call('daemon.applyUpdate'))['message']), /is the latest/)
})

test('a package that is not the signed one, and a release that nobody signed, are refused', async (t) => {
  const feed = await feedFor(t)
  feed.body = Buffer.from('something else')
  const rig = await rigOf(t, feed)
  const [client, other] = [await rig.client(), await rig.client()]
  const refusal = await client.refusal('daemon.applyUpdate')
  assert.deepEqual([refusal.code, refusal.data['reason']], [-32603, 'update_failed'])
  for (const one of [client, other]) {
    const { version, error } = await one.push('daemon.updateFailed')
    assert.equal(version, '10.0.0')
    assert.match(String(error), /not the one that was signed/)
  }
  assert.equal((await client.call('daemon.status'))['pendingUpdate'], null)

  const stranger = generateKeyPairSync('ed25519').publicKey.export({ type: 'spki', format: 'pem' }).toString()
  const wary = await rigOf(t, { ...feed, settings: { ...feed.settings, publicKey: stranger } })
  const third = await wary.client()
  for (const method of ['daemon.checkUpdate', 'daemon.applyUpdate']) {
    const { code, message } = await third.refusal(method)
    assert.equal(code, -32603)
    assert.match(message, /signature/)
  }
  assert.deepEqual(third.pushes, [])
})

test('the whole daemon asks the feed that it was given', async (t) => {
  const { settings } = await feedFor(t)
  const daemon = await startDaemon({
    env: { CORRAL_UPDATES_FEED: settings.feed!, CORRAL_UPDATES_PUBLIC_KEY: settings.publicKey! },
  })
  t.after(() => daemon.stop())
  const client = await dial(t, daemon.listeners['clawde']!)
  const token = readFileSync(join(daemon.home, '.local/share/clawd/auth_token'), 'utf8')
  await client.call('daemon.auth', { token })
  assert.equal((await client.call('daemon.checkUpdate'))['latest'], '10.0.0')
  assert.equal((await client.call('daemon.applyUpdate'))['staged'], true)
  assert.equal((await client.push('daemon.updating'))['version'], '10.0.0')
  assert.deepEqual(readFileSync(join(daemon.corralHome, 'updates', 'corral-10.0.0.tgz')), PACKAGE)
})
