import assert from 'node:assert/strict'
import { createHash, generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import {
  appendFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test, type TestContext } from 'node:test'
import { downloadText } from '../../src/system/download.ts'
import { readPublicKey, type Release, signedText } from '../../src/system/release.ts'
import { watchForUpdates } from '../../src/dialects/clawde/update-watch.ts'
import { createUpdates, type UpdateCheck, type Updates } from '../../src/system/update.ts'
import { compareVersions } from '../../src/system/version.ts'

const PACKAGE = Buffer.alloc(300_000, 'package ')
const SHA256 = createHash('sha256').update(PACKAGE).digest('hex')
const KEYS = generateKeyPairSync('ed25519')
const PEM = KEYS.publicKey.export({ type: 'spki', format: 'pem' })
const RAW = KEYS.publicKey.export({ type: 'spki', format: 'der' }).subarray(-32).toString('base64')

function release(given: Partial<Release> = {}, key = KEYS.privateKey): Release {
  const facts = { version: '1.2.0', url: 'corral.tgz', sha256: SHA256, notes: 'Faster.\nNicer.', ...given }
  const signature = sign(null, Buffer.from(signedText(facts)), key).toString('base64')
  return { ...facts, signature, ...given }
}

interface Rig extends Updates {
  directory: string
  base: string
  /** What was asked for. */
  asked: string[]
}

interface RigOptions {
  routes?: Record<string, RequestListener>
  feed?: string | null
  publicKey?: string | null
  current?: string
  maxBytes?: number
  timeoutMs?: number
}

/** A release server on loopback and a daemon's directory. */
async function rigFor(t: TestContext, document: object | string, given: RigOptions = {}): Promise<Rig> {
  const asked: string[] = []
  const routes: Record<string, RequestListener> = {
    '/feed.json': (_, response) =>
      void response.end(typeof document === 'string' ? document : JSON.stringify(document)),
    '/corral.tgz': (_, response) => void response.end(PACKAGE),
    ...given.routes,
  }
  const server = createServer((request, response) => {
    asked.push(request.url!)
    const route = routes[request.url!]
    if (route) route(request, response)
    else response.writeHead(404).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const home = mkdtempSync(join(tmpdir(), 'corral-update-'))
  t.after(async () => {
    server.closeAllConnections()
    server.close()
    await once(server, 'close')
    rmSync(home, { recursive: true, force: true })
  })
  const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const directory = join(home, 'updates')
  const updates = createUpdates({
    settings: {
      feed: given.feed === undefined ? `${base}/feed.json` : given.feed,
      publicKey: given.publicKey === undefined ? RAW : given.publicKey,
    },
    current: given.current ?? '1.1.9',
    directory,
    ...(given.maxBytes ? { maxBytes: given.maxBytes } : {}),
    ...(given.timeoutMs ? { timeoutMs: given.timeoutMs } : {}),
  })
  return { ...updates, directory, base, asked }
}

/** Nothing that could be taken for a package is left. */
const nothingStaged = ({ directory }: Rig): void =>
  assert.deepEqual(existsSync(directory) ? readdirSync(directory) : [], [])

test('versions in their order', () => {
  const order = ['0.9.0', '1.0.0-alpha', '1.0.0-alpha.1', '1.0.0-alpha.beta', '1.0.0-beta.2', '1.0.0-beta.11']
  order.push('1.0.0-rc.1', '1.0.0', '1.0.10', '1.2.0', '10.0.0')
  for (const [index, version] of order.entries()) {
    assert.equal(compareVersions(version, version), 0)
    for (const newer of order.slice(index + 1)) {
      assert.ok(compareVersions(version, newer) < 0, `${version} < ${newer}`)
      assert.ok(compareVersions(newer, version) > 0, `${newer} > ${version}`)
    }
  }
  assert.equal(compareVersions('1.0.0+one', '1.0.0+two'), 0)
  for (const wrong of ['1.0', 'v1.0.0', '1.0.0/../..', '', '1.0.0-']) {
    assert.throws(() => compareVersions(wrong, '1.0.0'), /not a version/)
  }
})

test('a key is taken as PEM or as bytes, and must be one for Ed25519', () => {
  assert.ok(readPublicKey(PEM.toString()).equals(readPublicKey(RAW)))
  assert.throws(() => readPublicKey('c2hvcnQ='), /32 bytes/)
  const { publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const other = publicKey.export({ type: 'spki', format: 'pem' }).toString()
  assert.throws(() => readPublicKey(other), /not an Ed25519 key/)
})

test('without a feed, or without a key, nobody is asked, and the answer says why', async (t) => {
  const none = await rigFor(t, release(), { feed: null })
  const answer = await none.check()
  assert.equal(answer.state, 'unconfigured')
  assert.match((answer as { message: string }).message, /updates\.feed/)
  await assert.rejects(none.stage(), /updates\.feed/)
  assert.equal(await none.staged(), null)
  const keyless = await rigFor(t, release(), { publicKey: null })
  assert.match(((await keyless.check()) as { message: string }).message, /updates\.publicKey/)
  assert.deepEqual(keyless.asked, [])
})

test('a good release is found, fetched, verified and kept, and what to do with it is said', async (t) => {
  const rig = await rigFor(t, release())
  assert.deepEqual(await rig.check(), {
    state: 'available',
    current: '1.1.9',
    latest: '1.2.0',
    notes: 'Faster.\nNicer.',
  })
  assert.equal(await rig.staged(), null)
  const [staged, same] = await Promise.all([rig.stage(), rig.stage()])
  assert.equal(staged, same)
  const path = join(rig.directory, 'corral-1.2.0.tgz')
  assert.deepEqual(staged, {
    version: '1.2.0',
    notes: 'Faster.\nNicer.',
    path,
    command: `npm install --global '${path}' && corral restart`,
  })
  assert.deepEqual(readFileSync(path), PACKAGE)
  assert.equal(statSync(path).mode & 0o777, 0o600)
  assert.equal(statSync(rig.directory).mode & 0o777, 0o700)
  assert.deepEqual(await rig.staged(), staged)

  await rig.stage()
  assert.equal(
    rig.asked.filter((url) => url === '/corral.tgz').length,
    1,
    'what is there is not fetched again',
  )
})

test('a package that was changed after it was fetched is refused, and fetched again when asked for', async (t) => {
  const rig = await rigFor(t, release())
  const { path } = await rig.stage()
  appendFileSync(path, 'x')
  await assert.rejects(rig.staged(), /not the package that was signed/)
  await rig.stage()
  assert.equal((await rig.staged())?.path, path)
  const description = join(rig.directory, 'release.json')
  writeFileSync(description, JSON.stringify({ ...release(), notes: 'Trust me.' }))
  await assert.rejects(rig.staged(), /signature/)
})

test('many who ask at the same time cost the feed one question', async (t) => {
  const rig = await rigFor(t, release())
  const answers = await Promise.all(Array.from({ length: 20 }, () => rig.check()))
  assert.deepEqual([...new Set(answers.map(({ state }) => state))], ['available'])
  assert.deepEqual(rig.asked, ['/feed.json'])
})

test('only the newest package is kept', async (t) => {
  const rig = await rigFor(t, release())
  writeFileSync(join((await rig.stage(), rig.directory), 'corral-1.1.0.tgz'), 'old')
  await rig.stage()
  assert.deepEqual(readdirSync(rig.directory).sort(), ['corral-1.2.0.tgz', 'release.json'])
})

test('a signature of somebody else, of something else, or none at all is refused', async (t) => {
  const stranger = generateKeyPairSync('ed25519').privateKey
  const documents = [
    release({}, stranger),
    { ...release(), version: '9.9.9' },
    { ...release(), url: 'evil.tgz' },
    { ...release(), sha256: '0'.repeat(64) },
    { ...release(), notes: 'Trust me.' },
    { ...release(), signature: undefined },
    { ...release(), signature: Buffer.alloc(64).toString('base64') },
  ]
  for (const document of documents) {
    const rig = await rigFor(t, document)
    const answer = await rig.check()
    assert.equal(answer.state, 'failed', JSON.stringify(document))
    await assert.rejects(rig.stage(), /signature/)
    assert.ok(!rig.asked.includes('/corral.tgz'), 'nothing is fetched for it')
    nothingStaged(rig)
  }
})

test('a feed that is none is refused', async (t) => {
  const documents = ['', 'null', '[]', '<html>', JSON.stringify(release({ version: '../../1.0.0' })), '{}']
  for (const document of documents) {
    const answer = await (await rigFor(t, document)).check()
    assert.equal(answer.state, 'failed', document)
  }
  const missing = await rigFor(t, release(), {
    routes: { '/feed.json': (_, r) => void r.writeHead(500).end() },
  })
  assert.match(((await missing.check()) as { message: string }).message, /status 500/)
  const absent = await rigFor(t, release(), { feed: 'http://127.0.0.1:1/feed.json' })
  assert.match(((await absent.check()) as { message: string }).message, /cannot be reached/)
})

test('Corral does not go back: an older release is no update, and is not fetched', async (t) => {
  for (const current of ['1.2.0', '1.2.1', '2.0.0-rc.1']) {
    const rig = await rigFor(t, release(), { current })
    assert.deepEqual(await rig.check(), { state: 'current', current, latest: '1.2.0' })
    await assert.rejects(rig.stage(), /what runs already|does not go back/)
    nothingStaged(rig)
  }
})

test('a package is no longer waiting once that version runs', async (t) => {
  const rig = await rigFor(t, release())
  await rig.stage()
  const settings = { feed: `${rig.base}/feed.json`, publicKey: RAW }
  const later = createUpdates({ settings, current: '1.2.0', directory: rig.directory })
  assert.equal(await later.staged(), null)
})

test('a package that is cut off, changed, too large or never ends is not kept', async (t) => {
  const routes: [route: RequestListener, problem: RegExp, timeoutMs?: number][] = [
    [(_, response) => void response.end(PACKAGE.subarray(1)), /not the one that was signed/],
    [
      (_, response) => {
        response.writeHead(200, { 'content-length': PACKAGE.length })
        response.write(PACKAGE.subarray(0, 1000), () => response.destroy())
      },
      /terminated|other side closed/,
    ],
    [(_, response) => response.writeHead(200, { 'content-length': 10 ** 9 }).flushHeaders(), /larger than/],
    [
      (_, response) => {
        const more = (): void => void (response.destroyed || response.write(PACKAGE, more))
        more()
      },
      /larger than/,
    ],
    [(_, response) => void response.write('a'), /no complete answer within/, 1500],
  ]
  for (const [route, problem, timeoutMs] of routes) {
    const options = {
      routes: { '/corral.tgz': route },
      maxBytes: 1_000_000,
      ...(timeoutMs !== undefined && { timeoutMs }),
    }
    const rig = await rigFor(t, release(), options)
    await assert.rejects(rig.stage(), problem)
    nothingStaged(rig)
  }
})

test('a feed that is too large is not read to its end', async (t) => {
  const rig = await rigFor(t, release({ notes: 'x'.repeat(100_000) }))
  assert.match(((await rig.check()) as { message: string }).message, /larger than 65536/)
})

test('redirects are followed, a few of them', async (t) => {
  const to = (location: string): RequestListener => {
    return (_, response) => void response.writeHead(302, { location }).end()
  }
  const rig = await rigFor(t, release({ url: 'moved' }), {
    routes: { '/moved': to('/again'), '/again': to('corral.tgz') },
  })
  assert.equal((await rig.stage()).version, '1.2.0')
  const circle = await rigFor(t, release(), { routes: { '/feed.json': to('/feed.json') } })
  assert.match(((await circle.check()) as { message: string }).message, /more than 5 times/)
  assert.equal(circle.asked.length, 6)
})

test('nothing is asked for in plain text, but on this very machine', async (t) => {
  const away = 'http://updates.example.com/corral.tgz'
  const plain = await rigFor(t, release(), { feed: away })
  assert.match(((await plain.check()) as { message: string }).message, /updates\.example\.com is not https/)
  const elsewhere = await rigFor(t, release({ url: away }))
  await assert.rejects(elsewhere.stage(), /is not https/)
  const sent = await rigFor(t, release(), {
    routes: { '/corral.tgz': (_, response) => void response.writeHead(307, { location: away }).end() },
  })
  await assert.rejects(sent.stage(), /is not https/)
  const feed = new URL('https://updates.example.com/feed.json')
  const inward = downloadText(new URL(`${sent.base}/feed.json`), { maxBytes: 100, timeoutMs: 1000 }, feed)
  await assert.rejects(inward, /is not https/, 'a feed elsewhere does not lead to servers on this machine')
  const file = await rigFor(t, release({ url: 'file:///etc/passwd' }))
  await assert.rejects(file.stage(), /is not https/)
})

test('a password in the address of the feed is told to nobody', async (t) => {
  const rig = await rigFor(t, release(), { feed: 'https://some:secret@127.0.0.1/feed.json' })
  const { message } = (await rig.check()) as { message: string }
  assert.match(message, /password/)
  assert.doesNotMatch(message, /secret/)
})

test('each newer version is told of once', async () => {
  const available = (latest: string): UpdateCheck => ({
    state: 'available',
    current: '1.0.0',
    latest,
    notes: '',
  })
  const answers: UpdateCheck[] = [
    { state: 'failed', current: '1.0.0', message: 'offline' },
    available('1.1.0'),
    available('1.1.0'),
    { state: 'current', current: '1.0.0', latest: '1.0.0' },
    available('1.2.0'),
  ]
  const heard: string[] = []
  const alive = setInterval(() => undefined, 1000)
  await new Promise<void>((resolve) => {
    const check = async (): Promise<UpdateCheck> => answers.shift() ?? available('1.2.0')
    const stop = watchForUpdates(
      { check },
      ({ latest }) => {
        heard.push(latest)
        if (latest !== '1.2.0') return
        stop()
        resolve()
      },
      (message, error) => void heard.push(`${message}: ${String(error)}`),
      { firstMs: 1, everyMs: 3 },
    )
  })
  clearInterval(alive)
  assert.deepEqual(heard, ['looking for updates: offline', '1.1.0', '1.2.0'])
})
